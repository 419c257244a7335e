// Which chips machine code runs on.
//
// Models:  code of compute capability X.y runs on chips X.z with z >= y, and on no other major number; code for an architecture-specific
//          target ("sm_90a") runs on X.y alone, code for a family ("sm_120f") on the chips X.z with z >= y of its family, which among the
//          published ones are those of its major number.
// Ignores: PTX, which the driver compiles for the chip.
// Source:  NVIDIA, CUDA C++ Programming Guide, "Binary Compatibility", "Architecture-Specific" and "Family-Specific Features".
#pragma once

#include <cstdint>

namespace foretrace::isa {

enum class Target : std::uint8_t { plain, family, specific };  ///< sm_90, sm_120f, sm_90a

/// `code` and `chip`: compute capability times ten, as in sm_86.
constexpr bool runs_on(int code, Target target, int chip) {
  if (target == Target::specific) return code == chip;
  return code / 10 == chip / 10 && code <= chip;
}

}  // namespace foretrace::isa
