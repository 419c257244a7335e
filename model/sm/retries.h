// Warps in loops that try a compare-and-swap until nobody came between (isa::RetryLoop).
//
// Models:  a record holds the rounds that a warp needs when it is alone: one for each of its lanes that go to one word. A round whose swap
//          failed in the model's time (memory::Tries) is gone through again from its first instruction, with the same lanes: that
//          is known when the warp leaves the loop or comes to its beginning, which needs the swap's answer.
// Ignores: which lanes failed: all of the round go again, and what had succeeded is not tried again. A round that goes on in another
//          part of its warp's record is not repeated, nor is one in a program that has spin loops (spin_loops.h) too.
#pragma once

#include <cstdint>
#include <vector>

#include "model/sm/memory_pipe.h"
#include "model/sm/warp_table.h"

namespace foretrace::sm {

class Retries {
 public:
  Retries(const work::Shapes& shapes, MemoryPipe& memory)
      : shapes_(shapes), memory_(memory),
        rounds_(shapes.retries.empty() || !shapes.loops.empty() ? 0 : kSubCores * kWarpSlots) {}

  /// Whether the program has such loops; nothing else may be asked where it has none.
  bool any() const { return !rounds_.empty(); }
  /// A warp that starts, its first instruction read.
  void start_warp(const Warp& warp, std::uint16_t id) {
    rounds_[id].loop = nullptr;
    begin(warp, id);
  }
  /// What the warp's access to memory has to do with other warps.
  void tell(const Warp& warp, MemoryIssue& issued) const {
    const std::uint16_t number = shapes_.retry_of[warp.step.index];
    if (number == 0 || shapes_.retries[number - 1u].swap != warp.step.index) return;
    issued.swap = {true, issued.warp, issued.block, warp.step.value, rounds_[issued.warp].number};
  }
  /// The warp's next instruction has been read: it stays, or is the first of the round that the warp goes through again.
  void next_step(Warp& warp, std::uint16_t id) {
    Round& round = rounds_[id];
    if (round.loop == nullptr) return begin(warp, id);
    if (round.loop->holds(warp.step.index) && warp.step.index != round.loop->first) return;
    const bool failed = memory_.came_too_early(id);
    if (!failed || warp.part != round.part) {
      round.loop = nullptr;
      return begin(warp, id);
    }
    warp.cursor = round.cursor;
    warp.step = round.first;
    round.again = true;
  }
  /// Whether what the warp executes now it has executed before.
  bool repeats(std::uint16_t id) const { return rounds_[id].loop != nullptr && rounds_[id].again; }

 private:
  struct Round {
    const isa::RetryLoop* loop = nullptr;  // that the warp is in; null: in none
    work::WarpCursor cursor;               // as it began
    work::Step first;
    std::uint32_t part = 0;
    bool again = false;
    std::uint32_t number = 0;
  };
  void begin(const Warp& warp, std::uint16_t id) {
    const std::uint16_t number = shapes_.retry_of[warp.step.index];
    if (number == 0 || shapes_.retries[number - 1u].first != warp.step.index) return;
    rounds_[id] = {&shapes_.retries[number - 1u], warp.cursor, warp.step, warp.part, false,
                   rounds_[id].number + 1};
    memory_.came_too_early(id);  // what an earlier round was told
  }

  const work::Shapes& shapes_;
  MemoryPipe& memory_;
  std::vector<Round> rounds_;  // by warp
};

}  // namespace foretrace::sm
