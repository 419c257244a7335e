#include "model/isa/product_flow.h"

#include <algorithm>
#include <vector>

#include "model/isa/any_of.h"
#include "model/isa/asynchronous.h"
#include "model/isa/operands.h"
#include "model/isa/places.h"

namespace foretrace::isa {

namespace {

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

  bool reads(const Instruction& in, const Places& places, std::size_t first) const {
    return isa::reads(in, places, first, uniform_);
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
    if (addresses(in, places, uniform_)) return false;
    MemoryForm form;
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
    if ((result || !guarded) && give(in, program_.sm, result, after)) grow(uniform_);
    follow(at, in, after);
    return true;
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

bool multiplies_matrices(const Program& program) {
  return std::any_of(program.code.begin(), program.code.end(),
                     [](const Instruction& in) { return multiplies_matrices(in.opcode); });
}

bool products_decide(const Program& program) {
  return multiplies_matrices(program) && Flow(program).decides();
}

}  // namespace foretrace::isa
