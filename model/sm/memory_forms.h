// Short questions about the form of a memory instruction.
#pragma once

#include <cstdint>

#include "model/sm/static_program.h"

namespace foretrace::sm {

inline bool is_copy(const StaticInstruction& instruction) {
  return instruction.form.access == isa::Access::async_copy;
}
inline bool is_store(const StaticInstruction& instruction) {
  return instruction.form.access == isa::Access::store || instruction.form.access == isa::Access::reduction;
}

inline std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

}  // namespace foretrace::sm
