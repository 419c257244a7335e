#include "model/isa/work_counters.h"

#include <algorithm>
#include <optional>

#include "model/isa/any_of.h"
#include "model/isa/places.h"

namespace foretrace::isa {

namespace {

bool tells_count(const Instruction& in) {
  MemoryForm form;
  if (!memory_form(in, form) || form.access != Access::atomic) return false;
  if (form.space != Space::global && form.space != Space::generic) return false;
  const bool floats =
      in.has("F32") || in.has("F64") || in.has("F16x2") || in.has("BF16x2") || in.has("BF16_V2");
  const int destination = destination_operand(in);
  return (in.has("ADD") || in.has("INC") || in.has("DEC")) && !floats && destination >= 0 &&
         in.operands[static_cast<std::size_t>(destination)].index != kRz;
}

std::optional<std::size_t> goes_to(const Instruction& in) {
  if (in.opcode != Opcode::BRA) return std::nullopt;
  for (const Operand& operand : in.operands)
    if (operand.kind == OperandKind::label)
      return static_cast<std::size_t>(operand.value / kInstructionBytes);
  return std::nullopt;
}

/// The instructions from `first` to the branch back to it, `last`.
class Loop {
 public:
  Loop(const Program& program, std::size_t first, std::size_t last)
      : program_(program), first_(first), last_(last), before_(last - first + 1), seen_(before_.size()) {}

  bool ends_by(std::size_t counter) {
    do {
      grown_ = false;
      come_to(counter, {});
      while (!work_.empty()) {
        const std::size_t at = work_.back();
        work_.pop_back();
        if (!step(at, at == counter)) return true;
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

  /// Follows one instruction; false: it leaves the loop, or stays in it, by the count.
  bool step(std::size_t at, bool counts) {
    const Instruction& in = program_.code[at];
    Places after = before_[at - first_];
    const bool guarded = in.guard != kPt;
    const bool chosen = guarded && (in.guard_uniform ? uniform_ : after.test(predicate(in.guard)));
    const std::optional<std::size_t> target = goes_to(in);
    const bool leaves = any_of(in.opcode, {Opcode::EXIT, Opcode::RET});
    const bool told = reads(in, after, leaves || target ? 0 : results_of(in), uniform_);
    if (leaves || target) {
      if ((chosen || told) && (leaves || !inside(*target) || at == last_)) return false;
      if (target) come_to(*target, after);
      if (in.guarded() || (target && in.operands.size() > 1)) come_to(at + 1, after);
      return true;
    }
    bool result = counts || chosen || told;
    MemoryForm form;
    if (memory_form(in, form) && !counts) {
      const bool shared = form.space == Space::shared || form.space == Space::generic;
      if (form.access == Access::store && told && shared) add_to(shared_);
      // What is looked up by the count is the work; that there is none ends the loop.
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

std::vector<std::uint32_t> work_counters(const Program& program) {
  std::vector<std::uint32_t> result;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    if (!tells_count(program.code[at])) continue;
    for (std::size_t last = at; last < program.code.size(); ++last) {
      const std::optional<std::size_t> first = goes_to(program.code[last]);
      if (!first || *first > at || !Loop(program, *first, last).ends_by(at)) continue;
      result.push_back(static_cast<std::uint32_t>(at));
      break;
    }
  }
  return result;
}

}  // namespace foretrace::isa
