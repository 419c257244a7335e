// Which loads of constants may find different words for their lanes.
//
// Source:  our own reading of nvcc's output: LDC with a general-purpose register in its address.
#pragma once

#include "model/isa/instruction.h"
#include "model/isa/operands.h"

namespace foretrace::isa {

/// An LDC whose address comes from a register: its lanes may go to different words of a bank of constants.
inline bool indexes_constants(const Instruction& instruction) {
  if (instruction.opcode != Opcode::LDC) return false;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == OperandKind::constant && operand.base >= 0 && operand.base != kRz) return true;
  }
  return false;
}

}  // namespace foretrace::isa
