#include "sim/emulate/execute/unread_words.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "model/isa/any_of.h"
#include "model/isa/loop_ends.h"
#include "model/isa/places.h"

namespace foretrace::emulate {

namespace {

/// Where the word is put; none: not in a register that is known.
std::optional<int> register_of(const isa::RegisterUse& use, std::uint32_t word) {
  if (word < use.destination.count) return use.destination.first + static_cast<int>(word);
  word -= use.destination.count;
  if (word < use.second_destination.count) return use.second_destination.first + static_cast<int>(word);
  return std::nullopt;
}

bool holds(const isa::RegisterRange& range, int place) {
  return place >= range.first && place < range.first + range.count;
}

bool reads_register(const isa::Instruction& in, const isa::RegisterUse& use, int place) {
  isa::Places looked_for;
  looked_for.set(static_cast<std::size_t>(place));
  return isa::reads(in, looked_for, isa::results_of(in), false) || isa::addresses(in, looked_for, false) ||
         std::any_of(use.sources.begin(), use.sources.end(),
                     [&](const isa::RegisterRange& source) { return holds(source, place); });
}

bool writes_register(const isa::RegisterUse& use, int place) {
  return holds(use.destination, place) || holds(use.second_destination, place);
}

/// Whether an instruction goes on where it does not say itself.
bool goes_anywhere(const isa::Instruction& in) {
  using isa::Opcode;
  return isa::any_of(in.opcode,
                     {Opcode::CALL, Opcode::RET, Opcode::BRX, Opcode::BRXU, Opcode::JMX, Opcode::JMP}) ||
         (in.opcode == Opcode::BRA && !isa::branch_target(in)) || in.opcode == Opcode::opaque;
}

}  // namespace

bool may_read_word(const isa::Program& program, std::size_t at, std::uint32_t word) {
  const std::optional<int> place = register_of(isa::register_use(program.code[at], program.sm), word);
  if (!place) return true;
  std::vector<bool> seen(program.code.size());
  std::vector<std::size_t> ways{at + 1};
  while (!ways.empty()) {
    const std::size_t next = ways.back();
    ways.pop_back();
    if (next >= program.code.size()) return true;
    if (seen[next]) continue;
    seen[next] = true;
    const isa::Instruction& in = program.code[next];
    const isa::RegisterUse use = isa::register_use(in, program.sm);
    if (goes_anywhere(in) || reads_register(in, use, *place)) return true;
    const bool ends = isa::any_of(in.opcode, {isa::Opcode::EXIT, isa::Opcode::KILL});
    if ((ends || writes_register(use, *place)) && !in.guarded()) continue;
    const std::optional<std::size_t> target = isa::branch_target(in);
    if (target) ways.push_back(*target);
    // A branch may also ask for a predicate of its own, beside its guard.
    if (!target || in.guarded() || in.operands.size() > 1) ways.push_back(next + 1);
  }
  return false;
}

bool UnreadWords::hold(const isa::Program& program, std::uint32_t load, std::uint32_t word,
                       std::uint32_t warp, int lane, FaultKind kind, const std::string& what) {
  const std::optional<int> place = register_of(isa::register_use(program.code[load], program.sm), word);
  if (!place) return false;
  const auto old = std::find_if(words_.begin(), words_.end(), [&](const Word& w) {
    return w.warp == warp && w.load == load && w.place == *place && w.kind == kind;
  });
  if (old == words_.end()) {
    words_.push_back({warp, load, *place, 1u << lane, kind, what});
  } else {
    old->lanes |= 1u << lane;
  }
  return true;
}

const UnreadWords::Word* UnreadWords::read_by(const isa::Program& program, std::uint32_t at,
                                              std::uint32_t warp, std::uint32_t lanes) {
  if (lanes == 0) return nullptr;
  const isa::Instruction& in = program.code[at];
  const isa::RegisterUse use = isa::register_use(in, program.sm);
  for (Word& w : words_) {
    if (w.warp != warp || (w.lanes & lanes) == 0) continue;
    if (reads_register(in, use, w.place)) {
      found_ = w;
      found_.lanes &= lanes;
      w.lanes &= ~lanes;
      return &found_;
    }
    if (writes_register(use, w.place)) w.lanes &= ~lanes;
  }
  std::erase_if(words_, [](const Word& w) { return w.lanes == 0; });
  return nullptr;
}

}  // namespace foretrace::emulate
