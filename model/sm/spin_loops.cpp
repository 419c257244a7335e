#include "model/sm/spin_loops.h"

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::sm {

namespace {
constexpr int kMostAhead = 256;  // steps that are looked at before a loop
}

/// Whether the warp's instruction is a write with a name of its own; if it counts instead, the counter's address.
bool SpinLoops::names_write(const Warp& warp, std::uint64_t& counter) const {
  const work::Shape& shape = context_.program.shapes.of[warp.step.index];
  if (!shape.tells || warp.step.executed == 0) return false;
  return !shape.counts || !warp.cursor.one_address(warp.step.executed, counter);
}

/// Its next instruction may be the first of a round.
void SpinLoops::begin(Warp& warp, std::uint16_t id) {
  const work::Shapes& shapes = context_.program.shapes;
  const std::uint16_t number = shapes.loop_of[warp.step.index];
  if (number == 0 || shapes.loops[number - 1u].first != warp.step.index) return;
  FORETRACE_ASSERT(blocks_[warp.block].record->rest == nullptr,
                   "blocks that wait for each other are recorded as a whole");
  Round& round = rounds_[id];
  round.loop = &shapes.loops[number - 1u];
  round.whole = true;
  round.again = false;
  round.cursor = warp.cursor;
  round.first = warp.step;
  round.signals_before = round.signals;
  round.awaited.clear();
  memory_.came_too_early(id);
}

/// The warp's next instruction, without the one that it stands at.
bool SpinLoops::skip(Warp& warp, Round& round) {
  std::uint64_t counter = 0;
  if (names_write(warp, counter)) ++round.signals;
  return sm::next_step(warp, blocks_);
}

/// After the issue of `done`: the warp's next instruction, in its record or of the round that it goes through again.
bool SpinLoops::next_step(Warp& warp, std::uint16_t id, const work::Step& done) {
  Round& round = rounds_[id];
  bool more = sm::next_step(warp, blocks_);
  if (round.loop == nullptr) {
    const work::Shapes& shapes = context_.program.shapes;
    const std::uint16_t number = shapes.loop_of[done.index];
    const isa::SpinLoop* loop = number ? &shapes.loops[number - 1u] : nullptr;
    if (loop && loop->early_exit == done.index && !round.awaited.empty()) {
      round.awaited.clear();
      const bool early = memory_.came_too_early(id);
      while (!early && more && loop->holds(warp.step.index)) { more = skip(warp, round); }
    }
  } else {
    const auto of_others = [&] { return more && (warp.step.active & round.first.active) == 0; };
    while (round.again && of_others()) { more = skip(warp, round); }
    if (of_others()) return true;
    if (more && round.loop->holds(warp.step.index) && warp.step.index != round.loop->first) {
      round.whole = round.whole && warp.step.active == round.first.active;
      return true;
    }
    if (memory_.came_too_early(id) && round.whole) {
      warp.cursor = round.cursor;
      warp.step = round.first;
      round.signals = round.signals_before;
      round.awaited.clear();
      round.again = true;
      return true;
    }
    round.loop = nullptr;
    round.awaited.clear();
  }
  if (more) begin(warp, id);
  return more;
}

/// What an access to memory has to do with other warps.
void SpinLoops::tell_and_wait(Warp& warp, std::uint16_t id, MemoryIssue& issued) {
  const work::Step& step = warp.step;
  if (step.executed == 0) return;
  const work::Shapes& shapes = context_.program.shapes;
  const work::Shape& shape = shapes.of[step.index];
  Round& round = rounds_[id];
  std::uint64_t counter = 0;
  if (shape.tells && !names_write(warp, counter)) {
    issued.tells = static_cast<std::uint8_t>(2 + counter % kLineBytes / 4);
  } else if (shape.tells) {
    issued.tells = round.signals <= work::Signal::kLast ? 1 : 0;
    issued.signal.block = static_cast<std::uint32_t>(blocks_[warp.block].record->block);
    issued.signal.warp = warp.in_block & (work::Signal::kWarps - 1);
    issued.signal.number = round.signals++ & work::Signal::kLast;
  }
  if (shape.waits) {
    const auto awaited = warp.cursor.awaited();
    round.awaited.insert(round.awaited.end(), awaited.begin(), awaited.end());
    issued.waits = !awaited.empty();
  } else if (const std::uint16_t number = shapes.loop_of[step.index];
             number && shapes.loops[number - 1u].early == step.index) {
    look_ahead(warp, shapes.loops[number - 1u], round.awaited);
    issued.waits = !round.awaited.empty();
    memory_.came_too_early(id);
  }
}

/// What the loop waits for whose early load the warp has come to, if it enters the loop on record.
void SpinLoops::look_ahead(const Warp& warp, const isa::SpinLoop& loop,
                           std::vector<work::Awaited>& awaited) const {
  awaited.clear();
  work::WarpCursor ahead = warp.cursor;
  work::Step step;
  for (int i = 0; i < kMostAhead && ahead.next(step); ++i) {
    if (step.index < std::min(loop.early, loop.first) || step.index > loop.last) return;
    if (!context_.program.shapes.of[step.index].waits || step.executed == 0) continue;
    awaited.assign(ahead.awaited().begin(), ahead.awaited().end());
    if (!awaited.empty()) return;
  }
}

}  // namespace foretrace::sm
