// Kernels of a CUDA source, compiled by nvcc, and a launch of one with buffers of words: no engine, no cycle model.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/emulate/emulator.h"
#include "sim/frontend/load.h"

namespace foretrace::emulate {

using Kernels = std::map<std::string, frontend::LoadedKernel>;

/// All kernels of a source beside the tests, by name; compiled once per process.
inline const Kernels& kernels_of(const std::string& file, int sm,
                                 const std::vector<std::string>& options = {}) {
  static std::map<std::pair<std::string, int>, Kernels> loaded;
  Kernels& of = loaded[{file, sm}];
  if (of.empty()) {
    frontend::LoadRequest request;
    request.file = std::string(FORETRACE_SOURCE_DIR) + "/tests/emulate/conformance/" + file;
    request.sm = sm;
    request.kernel = ".*";
    request.regex = true;
    request.options = options;
    for (auto& kernel : frontend::load_kernels(request, frontend::find_toolchain())) {
      of.emplace(kernel.program.kernel, kernel);
    }
  }
  return of;
}

/// A launch of a kernel whose parameters are pointers to buffers of words.
struct Loaded {
  std::unique_ptr<GlobalMemory> memory = std::make_unique<GlobalMemory>();
  LaunchContext context;
  std::vector<std::uint64_t> buffers;

  Loaded(const frontend::LoadedKernel& kernel, Dim3 grid, Dim3 block) {
    context.program = &kernel.program;
    context.memory = memory.get();
    context.grid = grid;
    context.block = block;
    context.shared_unit = 128;
    context.shared_reserved = 1024;
    context.parameters.resize(kernel.program.parameter_bytes);
    context.banks[2] = kernel.constant2;
    context.banks[3] = kernel.module->constant3;
    context.banks[4] = kernel.module->constant4;
    std::vector<std::byte> globals = kernel.module->globals;
    const std::uint64_t at = memory->allocate(globals.size() + 1, "device variables");
    const std::uint64_t constants = memory->allocate(context.banks[3].size() + 1, "constant variables");
    for (const frontend::Pointer& pointer : kernel.module->pointers) {
      std::uint64_t value = pointer.value;
      if (pointer.target == frontend::TargetKind::global) value += at;
      if (pointer.target == frontend::TargetKind::constant3) value += constants;
      if (pointer.target == frontend::TargetKind::external) value = driver_function_address(pointer.symbol);
      std::vector<std::byte>& image = pointer.image == frontend::Image::globals     ? globals
                                      : pointer.image == frontend::Image::constant3 ? context.banks[3]
                                                                                    : context.banks[4];
      std::memcpy(image.data() + pointer.offset, &value, sizeof value);
    }
    memory->write(at, globals);
    memory->write(constants, context.banks[3]);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  /// The next parameter: a buffer with these contents.
  std::uint64_t buffer(const std::vector<std::uint32_t>& contents, const std::string& name) {
    const std::uint64_t address = memory->allocate(contents.size() * 4, name);
    memory->write(address, std::as_bytes(std::span(contents)));
    std::memcpy(context.parameters.data() + 8 * buffers.size(), &address, 8);
    buffers.push_back(address);
    return address;
  }
  std::vector<std::uint32_t> read(std::size_t which, std::size_t words) {
    std::vector<std::uint32_t> out(words);
    memory->read(buffers.at(which), std::as_writable_bytes(std::span(out)));
    return out;
  }
  /// All blocks, `resident` at a time.
  BlockCount run(std::uint64_t resident = 16) {
    const Emulator emulator(context);
    BlockSequence blocks(emulator, resident, false);
    while (blocks.next() != nullptr) {}
    return blocks.count();
  }
};

}  // namespace foretrace::emulate
