// Which loads of constants go where a register says.
//
// Models:  LDC by a general-purpose register, whose lanes may find different words; LDC, ULDC and LDCU by a uniform register.
// Source:  our own reading of nvcc's output.
#pragma once

#include "model/isa/instruction.h"
#include "model/isa/operands.h"

namespace foretrace::isa {

/// The operand of a load of constants whose address comes from a register; null where it stands in the code.
inline const Operand* indexed_constant(const Instruction& instruction) {
  if (instruction.opcode != Opcode::LDC && instruction.opcode != Opcode::ULDC &&
      instruction.opcode != Opcode::LDCU)
    return nullptr;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind != OperandKind::constant) continue;
    if (operand.base >= 0 && operand.base != kRz) return &operand;
    if (operand.uniform_base >= 0 && operand.uniform_base != kUrz) return &operand;
  }
  return nullptr;
}

/// A load whose record says where in a bank of constants its lanes go.
inline bool indexes_constants(const Instruction& instruction) {
  return indexed_constant(instruction) != nullptr;
}

/// A load that reads what a uniform register says: records before version 7 do not have where.
inline bool indexes_constants_uniformly(const Instruction& instruction) {
  const Operand* operand = indexed_constant(instruction);
  return operand && (operand->base < 0 || operand->base == kRz);
}

}  // namespace foretrace::isa
