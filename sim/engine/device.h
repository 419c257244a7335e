// The memory of the emulated device over launches that share it, and how a launch is bound to it.
//
// Models:  buffers placed in the order of the arguments, with their contents made page by page as they are touched; module variables
//          and the pointers between them; the parameter area of constant bank 0.
// Ignores: freeing: a chain of launches keeps its buffers.
// Source:  our own cubins (parameters, constant banks, relocations).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/emulate/emulator.h"
#include "sim/emulate/memory/global_memory.h"
#include "sim/frontend/launch/launch.h"
#include "sim/frontend/load.h"
#include "sim/frontend/module.h"

namespace foretrace::engine {

class Device {
 public:
  /// Places the launch's buffers and the kernel's module and makes the context to run it. The kernel must outlive the context.
  /// Throws InputError naming kernel and argument when the arguments are not what the kernel takes.
  emulate::LaunchContext bind(const frontend::LaunchDescription& launch,
                              const frontend::LoadedKernel& kernel);

  /// Contents of a named buffer. Throws InputError when there is none of that name.
  std::vector<std::byte> read(const std::string& buffer);

  /// The same, to be what the buffer holds.
  void write(const std::string& buffer, std::span<const std::byte> bytes);

  emulate::GlobalMemory& memory() { return *memory_; }

 private:
  struct Buffer {
    std::uint64_t address = 0, size = 0;
  };

  const Buffer& named(const std::string& buffer) const;
  std::uint64_t place(const frontend::Argument& argument, const std::string& kernel);
  std::vector<std::byte> argument_bytes(const frontend::Argument& argument, const std::string& kernel);
  void set_symbols(const frontend::LaunchDescription& launch, const frontend::LoadedKernel& kernel,
                   std::uint64_t globals, std::vector<std::byte>& constant3);

  std::unique_ptr<emulate::GlobalMemory> memory_ = std::make_unique<emulate::GlobalMemory>();
  std::map<std::string, Buffer> named_;
};

/// What has to be loaded for the launch, for chips of this sm.
frontend::LoadRequest load_request(const frontend::LaunchDescription& launch, int sm);

/// Contents that an argument of kind buffer, value or bytes starts with.
std::vector<std::byte> initial_contents(const frontend::Argument& argument);

}  // namespace foretrace::engine
