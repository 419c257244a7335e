// What a kernel did wrong, as a sanitizer would report it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "model/units/error.h"
#include "model/units/units.h"

namespace foretrace::emulate {

enum class FaultKind : std::uint8_t {
  out_of_bounds,
  misaligned,
  divergent_barrier,   ///< a block barrier executed by part of a warp's live lanes
  impossible_barrier,  ///< a block barrier that can no longer complete
  never_ends,
  trap,
  assertion,           ///< assert() in device code
  stack_overflow,      ///< a thread's local memory is used up
  uninitialized_read,  ///< of memory that nobody has written (LaunchContext::checks)
  race,                ///< of two warps on shared memory (LaunchContext::checks)
  use_after_free,      ///< an access to, or a second free of, a freed block of device malloc or cudaFree
  illegal_instruction,
  unsupported,  ///< an instruction form that the emulator does not know
};

/// The name a launch file uses: "divergent_barrier".
const char* name_of(FaultKind kind);

/// Somebody asked for a launch's end before it was there (LaunchContext::stop). Nobody's fault.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// One line: what, kernel, block, thread, code offset, source line, and for memory the address and the nearest buffer.
class KernelFault : public InputError {
 public:
  KernelFault(FaultKind kind, const std::string& line, std::uint64_t block, std::uint32_t offset)
      : InputError(line), kind_(kind), block_(block), offset_(offset) {}
  FaultKind kind() const { return kind_; }
  std::uint64_t block() const { return block_; }    ///< linear index, x fastest
  std::uint32_t offset() const { return offset_; }  ///< bytes from the start of the kernel's code

 private:
  FaultKind kind_;
  std::uint64_t block_;
  std::uint32_t offset_;
};

}  // namespace foretrace::emulate
