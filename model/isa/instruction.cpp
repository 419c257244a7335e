#include "model/isa/instruction.h"

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::isa {

std::uint64_t Word::bits(int first, int count) const {
  FORETRACE_ASSERT(first >= 0 && count > 0 && count <= 64 && first + count <= 128,
                   "a bit field lies inside the 128-bit word");
  std::uint64_t value = 0;
  if (first >= 64) {
    value = hi >> (first - 64);
  } else {
    value = lo >> first;
    if (first > 0) value |= hi << (64 - first);
  }
  return count == 64 ? value : value & ((std::uint64_t{1} << count) - 1);
}

ControlBits control_bits(const Word& word) {
  ControlBits control;
  control.stall = static_cast<std::uint8_t>(word.bits(105, 4));
  control.yield = word.bits(109, 1) == 0;
  control.write_barrier = static_cast<std::uint8_t>(word.bits(110, 3));
  control.read_barrier = static_cast<std::uint8_t>(word.bits(113, 3));
  control.wait_mask = static_cast<std::uint8_t>(word.bits(116, 6));
  control.reuse = static_cast<std::uint8_t>(word.bits(122, 3));
  return control;
}

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

}  // namespace foretrace::isa
