#include "sim/emulate/translate/printed_form.h"

#include <fmt/format.h>

namespace foretrace::emulate {

using isa::Operand;
using isa::OperandKind;

PrintedForm::PrintedForm(const isa::Instruction& instruction)
    : instruction_(instruction), taken_(instruction.modifiers.size(), false) {}

bool PrintedForm::take(std::string_view modifier) {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (!taken_[i] && instruction_.modifiers[i] == modifier) {
      taken_[i] = true;
      return true;
    }
  }
  return false;
}

int PrintedForm::take_one(std::initializer_list<std::string_view> names, int otherwise) {
  int index = 0;
  for (const std::string_view name : names) {
    if (take(name)) return index;
    ++index;
  }
  return otherwise;
}

int PrintedForm::need_one(std::initializer_list<std::string_view> names) {
  const int index = take_one(names, -1);
  if (index < 0) {
    std::string list;
    for (const std::string_view name : names) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
    refuse("none of the modifiers " + list);
  }
  return index;
}

const Operand& PrintedForm::peek() const {
  if (!more()) refuse("too few operands");
  return instruction_.operands[next_];
}
const Operand& PrintedForm::next() {
  const Operand& operand = peek();
  ++next_;
  return operand;
}
bool PrintedForm::next_is(OperandKind kind) const { return more() && peek().kind == kind; }
bool PrintedForm::next_is_predicate() const {
  return next_is(OperandKind::predicate) || next_is(OperandKind::uniform_predicate);
}
bool PrintedForm::next_is_register() const {
  return next_is(OperandKind::register_) || next_is(OperandKind::uniform_register);
}

std::uint32_t PrintedForm::immediate() {
  const Operand& operand = next();
  if (operand.kind != OperandKind::immediate || operand.is_float)
    refuse(fmt::format("'{}' is no number", operand.text));
  return static_cast<std::uint32_t>(operand.value);
}

std::uint32_t PrintedForm::branch_target() {
  const Operand& operand = next();
  if (operand.kind != OperandKind::label) refuse(fmt::format("'{}' is no code address", operand.text));
  return static_cast<std::uint32_t>(operand.value / 16);
}

void PrintedForm::refuse_rest() const {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (!taken_[i]) refuse(fmt::format("modifier .{}", instruction_.modifiers[i]));
  }
  if (more()) refuse(fmt::format("operand '{}'", peek().text));
}

}  // namespace foretrace::emulate
