#include "model/isa/places.h"

#include "model/isa/any_of.h"

namespace foretrace::isa {

std::size_t results_of(const Instruction& in) {
  const bool votes = any_of(in.opcode, {Opcode::VOTE, Opcode::VOTEU});
  if (any_of(in.opcode, {Opcode::PLOP3, Opcode::UPLOP3})) return std::min<std::size_t>(2, in.operands.size());
  const int destination = destination_operand(in);
  std::size_t count = 0;
  bool uniform = false;
  for (const Operand& operand : in.operands) {
    const bool is_predicate =
        operand.kind == OperandKind::predicate || operand.kind == OperandKind::uniform_predicate;
    const bool first_uniform = operand.kind == OperandKind::uniform_register && !uniform && destination < 0;
    if (!is_predicate && !first_uniform && static_cast<int>(count) != destination) break;
    uniform = uniform || first_uniform;
    ++count;
  }
  // All that VOTE prints may be predicates; the last one is what is voted on.
  return votes && count == in.operands.size() && count > 0 ? count - 1 : count;
}

bool reads(const Instruction& in, const Places& places, std::size_t first, bool uniform) {
  for (std::size_t i = first; i < in.operands.size(); ++i) {
    const Operand& o = in.operands[i];
    switch (o.kind) {
      case OperandKind::register_:
        if (o.index != kRz && any(places, o.index, std::max(1, register_width(in, i)))) return true;
        break;
      case OperandKind::predicate:
        if (o.index != kPt && places.test(predicate(o.index))) return true;
        break;
      case OperandKind::uniform_register:
      case OperandKind::uniform_predicate:
        if (uniform && o.index != kUrz) return true;
        break;
      case OperandKind::other:
        if ((o.text == "PR" && (places >> kFirstPredicate).any()) || (o.text == "UPR" && uniform))
          return true;
        break;
      default: break;
    }
  }
  return false;
}

bool addresses(const Instruction& in, const Places& places, bool uniform) {
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    const Operand& o = in.operands[i];
    if (o.kind != OperandKind::memory && o.kind != OperandKind::constant) continue;
    if (o.base >= 0 && o.base != kRz && any(places, o.base, std::max(1, register_width(in, i)))) return true;
    if (uniform && ((o.uniform_base >= 0 && o.uniform_base != kUrz) || o.descriptor >= 0)) return true;
  }
  return false;
}

bool give(const Instruction& in, int sm, bool result, Places& after) {
  const RegisterUse use = register_use(in, sm);
  bool uniform = false;
  set(after, use.destination, result);
  set(after, use.second_destination, result);
  const std::size_t results = results_of(in);
  for (std::size_t i = 0; i < results; ++i) {
    const Operand& o = in.operands[i];
    if (o.kind == OperandKind::predicate && o.index != kPt) after.set(predicate(o.index), result);
    uniform =
        uniform || ((o.kind == OperandKind::uniform_register || o.kind == OperandKind::uniform_predicate) &&
                    o.index != kUrz);
  }
  if (result && in.opcode == Opcode::R2P)
    for (std::uint8_t p = 0; p < kPt; ++p) after.set(predicate(p));
  return result && uniform;
}

}  // namespace foretrace::isa
