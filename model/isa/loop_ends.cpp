#include "model/isa/loop_ends.h"

#include <algorithm>
#include <vector>

#include "model/isa/any_of.h"
#include "model/isa/places.h"

namespace foretrace::isa {

std::optional<std::size_t> branch_target(const Instruction& in) {
  if (in.opcode != Opcode::BRA) return std::nullopt;
  for (const Operand& operand : in.operands)
    if (operand.kind == OperandKind::label)
      return static_cast<std::size_t>(operand.value / kInstructionBytes);
  return std::nullopt;
}

namespace {

/// The instructions from `first` to the branch back to it, `last`.
class Loop {
 public:
  Loop(const Program& program, std::size_t first, std::size_t last)
      : program_(program), first_(first), last_(last), before_(last - first + 1), seen_(before_.size()) {}

  bool ends_by(std::size_t asks) {
    do {
      grown_ = false;
      come_to(asks, {});
      while (!work_.empty()) {
        const std::size_t at = work_.back();
        work_.pop_back();
        if (!step(at, at == asks)) return true;
      }
      std::fill(seen_.begin(), seen_.end(), false);
    } while (grown_);
    return false;
  }

 private:
  bool inside(std::size_t at) const { return at >= first_ && at <= last_; }
  void come_to(std::size_t at, const Places& places) {
    if (!inside(at)) return;
    Places& before = before_[at - first_];
    const Places joined = before | places;
    if (seen_[at - first_] && joined == before) return;
    seen_[at - first_] = true;
    before = joined;
    work_.push_back(at);
  }
  void add_to(bool& flag) {
    grown_ = grown_ || !flag;
    flag = true;
  }

  /// Follows one instruction, the one that `asks` or another; false: it leaves the loop, or stays in it, by what that brings.
  bool step(std::size_t at, bool asks) {
    const Instruction& in = program_.code[at];
    Places after = before_[at - first_];
    const bool guarded = in.guard != kPt;
    const bool chosen = guarded && (in.guard_uniform ? uniform_ : after.test(predicate(in.guard)));
    const std::optional<std::size_t> target = branch_target(in);
    const bool leaves = any_of(in.opcode, {Opcode::EXIT, Opcode::RET});
    const bool told = reads(in, after, leaves || target ? 0 : results_of(in), uniform_);
    if (leaves || target) {
      if ((chosen || told) && (leaves || !inside(*target) || at == last_)) return false;
      if (target) come_to(*target, after);
      if (in.guarded() || (target && in.operands.size() > 1)) come_to(at + 1, after);
      return true;
    }
    bool result = asks || chosen || told;
    MemoryForm form;
    if (memory_form(in, form) && !asks) {
      const bool shared = form.space == Space::shared || form.space == Space::generic;
      if (form.access == Access::store && told && shared) add_to(shared_);
      // What is looked up by a count is the work; that there is none ends the loop.
      result =
          chosen || (form.access == Access::load && (addresses(in, after, uniform_) || (shared && shared_)));
    }
    if ((result || !guarded) && give(in, program_.sm, result, after)) add_to(uniform_);
    come_to(at + 1, after);
    return true;
  }

  const Program& program_;
  std::size_t first_, last_;
  std::vector<Places> before_;
  std::vector<bool> seen_;
  std::vector<std::size_t> work_;
  bool shared_ = false, uniform_ = false, grown_ = false;
};

}  // namespace

bool ends_by(const Program& program, std::size_t first, std::size_t last, std::size_t asks) {
  return Loop(program, first, last).ends_by(asks);
}

}  // namespace foretrace::isa
