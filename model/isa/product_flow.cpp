#include "model/isa/product_flow.h"

#include <algorithm>
#include <bitset>
#include <vector>

#include "model/isa/any_of.h"
#include "model/isa/asynchronous.h"
#include "model/isa/operands.h"

namespace foretrace::isa {

namespace {

/// Registers 0 to 254, then predicates P0 to P6: whether what they hold comes from a product.
constexpr int kFirstPredicate = 256, kPlaces = kFirstPredicate + 8;
using Places = std::bitset<kPlaces>;

void set(Places& places, const RegisterRange& range, bool value = true) {
  for (int r = range.first; r < std::min(range.first + range.count, kRz); ++r)
    places.set(static_cast<std::size_t>(r), value);
}
bool any(const Places& places, int first, int count) {
  for (int r = first; r < std::min(first + count, kRz); ++r)
    if (places.test(static_cast<std::size_t>(r))) return true;
  return false;
}
std::size_t predicate(std::uint8_t index) { return static_cast<std::size_t>(kFirstPredicate) + index; }

/// What goes elsewhere, waits, or tells other units what to do; all its operands decide.
bool directs(Opcode opcode) {
  return any_of(opcode, {Opcode::BRA,         Opcode::BRX,          Opcode::BRXU,     Opcode::JMX,
                         Opcode::JMP,         Opcode::CALL,         Opcode::RET,      Opcode::EXIT,
                         Opcode::KILL,        Opcode::BAR,          Opcode::BMOV,     Opcode::BREAK,
                         Opcode::BSSY,        Opcode::BSYNC,        Opcode::WARPSYNC, Opcode::NANOSLEEP,
                         Opcode::YIELD,       Opcode::SYNCS,        Opcode::ARRIVES,  Opcode::CCTL,
                         Opcode::UCGABAR_ARV, Opcode::UCGABAR_WAIT, Opcode::DEPBAR,   Opcode::USETMAXREG,
                         Opcode::RPCMOV,      Opcode::UTMACCTL,     Opcode::B2R,      Opcode::TXQ});
}

/// Operands in front of the first source: the results, predicates among them.
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

class Flow {
 public:
  explicit Flow(const Program& program)
      : program_(program), before_(program.code.size()), seen_(before_.size()) {}

  bool decides() {
    for (const Instruction& in : program_.code) {
      if (in.opcode == Opcode::opaque || (in.opcode == Opcode::CALL && !in.has("REL")) ||
          any_of(in.opcode, {Opcode::BRX, Opcode::BRXU, Opcode::JMX, Opcode::JMP}))
        return true;
    }
    // What is not followed in order (memory, uniform registers) only grows: until nothing is added.
    do {
      grown_ = false;
      reach(0, {});
      while (!work_.empty()) {
        const std::size_t at = work_.back();
        work_.pop_back();
        if (!step(at)) return true;
      }
      std::fill(seen_.begin(), seen_.end(), false);
    } while (grown_);
    return false;
  }

 private:
  void reach(std::size_t at, const Places& places) {
    if (at >= before_.size()) return;
    const Places joined = before_[at] | places;
    if (seen_[at] && joined == before_[at]) return;
    seen_[at] = true;
    before_[at] = joined;
    work_.push_back(at);
  }
  void grow(bool& flag) {
    grown_ = grown_ || !flag;
    flag = true;
  }

  /// Whether operands from `first` on hold a product's result.
  bool reads(const Instruction& in, const Places& places, std::size_t first) const {
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
          if (uniform_ && o.index != kUrz) return true;
          break;
        case OperandKind::other:
          if ((o.text == "PR" && (places >> kFirstPredicate).any()) || (o.text == "UPR" && uniform_))
            return true;
          break;
        default: break;
      }
    }
    return false;
  }
  /// Whether an address holds one.
  bool addresses(const Instruction& in, const Places& places) const {
    for (std::size_t i = 0; i < in.operands.size(); ++i) {
      const Operand& o = in.operands[i];
      if (o.kind != OperandKind::memory && o.kind != OperandKind::constant) continue;
      if (o.base >= 0 && o.base != kRz && any(places, o.base, std::max(1, register_width(in, i))))
        return true;
      if (uniform_ && ((o.uniform_base >= 0 && o.uniform_base != kUrz) || o.descriptor >= 0)) return true;
    }
    return false;
  }

  bool& memory_of(Space space) {
    return space == Space::shared ? shared_ : space == Space::local ? local_ : global_;
  }
  /// Of what is loaded from there.
  bool in_memory(Space space) const {
    return space == Space::shared   ? shared_
           : space == Space::local  ? local_
           : space == Space::global ? global_
                                    : shared_ || local_ || global_;
  }
  void put_in_memory(Space space) {
    if (space != Space::generic) return grow(memory_of(space));
    grow(shared_);
    grow(local_);
    grow(global_);
  }

  /// What an access does; false: it decides. `result`: whether what it loads comes from a product.
  bool access(const Instruction& in, const MemoryForm& form, const Places& places, bool& result) {
    const std::size_t results = results_of(in);
    if (form.texture) {  // coordinates stand in registers
      result = in_memory(Space::global);
      if (form.access != Access::load && reads(in, places, 0)) return false;
      return form.access != Access::load || !reads(in, places, results);
    }
    const bool tells = reads(in, places, results);
    if (form.access == Access::load || form.access == Access::matrix_load) {
      result = in_memory(form.space);
      return !tells;  // a predicate of the access
    }
    if (form.access == Access::async_copy) {
      if (in_memory(Space::global)) grow(shared_);
      return !tells;
    }
    for (std::size_t i = results; i < in.operands.size(); ++i) {  // stores under a predicate
      if (in.operands[i].kind == OperandKind::predicate && in.operands[i].index != kPt &&
          places.test(predicate(in.operands[i].index)))
        return false;
    }
    if (tells) put_in_memory(form.space);
    result = tells || in_memory(form.space);
    return true;
  }

  /// Follows one instruction; false: a product decides what it does.
  bool step(std::size_t at) {
    const Instruction& in = program_.code[at];
    Places after = before_[at];
    const Places& places = before_[at];
    const bool guarded = in.guard != kPt;
    if (guarded && (in.guard_uniform ? uniform_ : places.test(predicate(in.guard)))) return false;
    if (addresses(in, places)) return false;
    MemoryForm form;
    const RegisterUse use = register_use(in, program_.sm);
    bool result = false;
    if (multiplies_matrices(in.opcode)) {
      result = true;
    } else if (directs(in.opcode) || starts_transfer(in)) {
      const bool answers = any_of(in.opcode, {Opcode::SYNCS, Opcode::BMOV, Opcode::B2R, Opcode::TXQ});
      if (reads(in, places, answers ? results_of(in) : 0)) return false;
      if (starts_transfer(in) && (shared_ || global_)) {
        grow(shared_);
        grow(global_);
      }
    } else if (memory_form(in, form)) {
      if (!access(in, form, places, result)) return false;
    } else {
      result = reads(in, places, results_of(in));
    }
    give(in, use, result, guarded, after);
    follow(at, in, after);
    return true;
  }

  /// The results of an instruction come from a product, or no longer.
  void give(const Instruction& in, const RegisterUse& use, bool result, bool guarded, Places& after) {
    if (!result && guarded) return;  // some lanes keep what they have
    set(after, use.destination, result);
    set(after, use.second_destination, result);
    const std::size_t results = results_of(in);
    for (std::size_t i = 0; i < results; ++i) {
      const Operand& o = in.operands[i];
      if (o.kind == OperandKind::predicate && o.index != kPt) after.set(predicate(o.index), result);
      if (result && (o.kind == OperandKind::uniform_register || o.kind == OperandKind::uniform_predicate) &&
          o.index != kUrz)
        grow(uniform_);
    }
    if (result && in.opcode == Opcode::R2P)
      for (std::uint8_t p = 0; p < kPt; ++p) after.set(predicate(p));
  }

  void follow(std::size_t at, const Instruction& in, const Places& after) {
    for (const Operand& o : in.operands) {
      if (o.kind == OperandKind::label && any_of(in.opcode, {Opcode::BRA, Opcode::CALL}))
        reach(o.value / kInstructionBytes, after);
    }
    if (in.opcode == Opcode::RET) {  // to behind any call
      for (std::size_t i = 0; i < program_.code.size(); ++i)
        if (program_.code[i].opcode == Opcode::CALL) reach(i + 1, after);
    }
    const bool leaves = any_of(in.opcode, {Opcode::EXIT, Opcode::RET, Opcode::KILL}) ||
                        (in.opcode == Opcode::BRA && in.operands.size() == 1);
    if (!leaves || in.guarded()) reach(at + 1, after);
  }

  const Program& program_;
  std::vector<Places> before_;
  std::vector<bool> seen_;
  std::vector<std::size_t> work_;
  bool shared_ = false, local_ = false, global_ = false, uniform_ = false, grown_ = false;
};

}  // namespace

bool multiplies_matrices(Opcode opcode) {
  return any_of(opcode, {Opcode::HMMA, Opcode::IMMA, Opcode::BMMA, Opcode::QMMA, Opcode::OMMA, Opcode::DMMA,
                         Opcode::HGMMA, Opcode::IGMMA, Opcode::BGMMA, Opcode::QGMMA});
}

bool products_decide(const Program& program) {
  const bool there = std::any_of(program.code.begin(), program.code.end(),
                                 [](const Instruction& in) { return multiplies_matrices(in.opcode); });
  return there && Flow(program).decides();
}

}  // namespace foretrace::isa
