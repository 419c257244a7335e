// Several kernels as one program, for SMs that hold blocks of all of them.
//
// Models:  their code lies in memory one after the other, the first instruction of each where `first` says; each has constants of its own.
// Ignores: that a chip keeps the code of kernels further apart.
#pragma once

#include <cstdint>
#include <vector>

#include "model/sm/static_program.h"

namespace foretrace::sm {

struct JoinedProgram {
  /// Throws InputError where a kernel's warps wait for those of other blocks or give registers back: such a kernel has the chip for itself.
  explicit JoinedProgram(const std::vector<const StaticProgram*>& kernels);

  StaticProgram program;
  std::vector<std::uint32_t> first;  ///< by kernel: where its instructions begin
};

}  // namespace foretrace::sm
