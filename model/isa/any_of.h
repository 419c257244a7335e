// Whether an opcode is one of a few.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "model/isa/instruction.h"

namespace foretrace::isa {

inline bool any_of(Opcode opcode, std::initializer_list<Opcode> list) {
  return std::find(list.begin(), list.end(), opcode) != list.end();
}

}  // namespace foretrace::isa
