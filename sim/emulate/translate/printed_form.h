// An instruction's modifiers and operands as they are asked for, one by one; what nobody asked for is refused.
//
// Models:  modifiers by name, in any order; operands in printed order.
// Ignores: what they mean: decoder.h makes registers, constants and predicates of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/isa/instruction.h"

namespace foretrace::emulate {

/// Thrown inside the translation only: the form is not known.
struct Unsupported {
  std::string why;
};

class PrintedForm {
 public:
  /// The instruction must outlive it.
  explicit PrintedForm(const isa::Instruction& instruction);

  const isa::Instruction& instruction() const { return instruction_; }
  isa::Opcode opcode() const { return instruction_.opcode; }

  // Modifiers.
  bool take(std::string_view modifier);
  /// Index of the first of `names` that stands there; `otherwise` when none does.
  int take_one(std::initializer_list<std::string_view> names, int otherwise);
  /// Index as above; refuses when none does.
  int need_one(std::initializer_list<std::string_view> names);

  // Operands, in printed order.
  bool more() const { return next_ < instruction_.operands.size(); }
  bool next_is(isa::OperandKind kind) const;
  bool next_is_predicate() const;
  bool next_is_register() const;  ///< general or uniform
  std::size_t left() const { return instruction_.operands.size() - next_; }
  const isa::Operand& next();
  const isa::Operand& peek() const;
  std::uint32_t immediate();      ///< a number, low 32 bits
  std::uint32_t branch_target();  ///< a label, as an instruction index

  /// Refuses a modifier that was not taken and an operand that was not asked for.
  void refuse_rest() const;
  [[noreturn]] static void refuse(std::string why) { throw Unsupported{std::move(why)}; }

 private:
  const isa::Instruction& instruction_;
  std::vector<bool> taken_;
  std::size_t next_ = 0;
};

}  // namespace foretrace::emulate
