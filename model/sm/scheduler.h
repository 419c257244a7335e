// The warp scheduler of a sub-core: which of the warps whose next instruction is ready goes this cycle.
//
// Models:  one instruction per cycle. Candidates wait by issue class for a free pipe or for room in the memory queue; of those that can go
//          the warp that went last, else of the block that began first the one whose last instruction is longest ago, at first the youngest;
//          of several grids, the block is of the one that was launched first. Dispatch may be held: nothing goes then.
// Ignores: docs/mechanisms.md.
// Source:  Greedy, and the youngest first: HUE (docs/sources.md); our issue_stall on H100. Warps of a block get on alike: our warp_turns on
//          H200, where eight of a scheduler that chains of FFMA keep busy end within a tenth of each other. Blocks and grids:
//          validate/beside on H100, in which blocks end in the order of their begin and a kernel that keeps the schedulers busy is not
//          slowed by a later one.
// Note:    how long a candidate could have gone, or was held by dispatch alone, is told by two counters of its class, read when it
//          becomes a candidate and when it goes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/sm/static_program.h"
#include "model/sm/warp_slots.h"

namespace foretrace::sm {

struct Scheduler {
  /// What a cycle without an issue is counted as; the values index stats::LaunchCounters::idle_reason.
  enum Idle : int { no_warp = 0, none_eligible = 1, pipe_busy = 2, queue_full = 3 };

  std::uint32_t resident = 0;                   ///< slots with a warp
  std::uint32_t timed = 0;                      ///< slots that wait for a known cycle
  std::array<Cycle, kWarpSlots> ready{};        ///< by slot, of those timed: that cycle
  std::array<Cycle, spec::kPipes> pipe_free{};  ///< from when on a pipe takes an instruction
  Cycle dispatch_free = 0;                      ///< nothing issues before
  Cycle ticked = kNever;                        ///< last cycle that was looked at: one issue per cycle
  Cycle idle_since = 0;                         ///< up to here the cycles are counted
  int idle_reason = no_warp;                    ///< what those since then are
  std::array<Cycle, kWarpSlots> issued{};       ///< by slot: when its warp last went, 0 before
  int greedy = -1;                              ///< slot that went last
  std::uint32_t classes_waiting = 0;            ///< classes with candidates
  std::array<std::uint32_t, kMaxClasses> candidates{};   ///< slots, by class
  std::array<std::uint64_t, kMaxClasses> free_cycles{};  ///< by class: cycles in which a candidate could go
  std::array<std::uint64_t, kMaxClasses>
      allocate_cycles{};  ///< by class: cycles in which only dispatch held it

  void add_candidate(int slot, std::uint8_t issue_class) {
    candidates[issue_class] |= 1u << slot;
    classes_waiting |= 1u << issue_class;
  }
  void remove_candidate(int slot, std::uint8_t issue_class) {
    candidates[issue_class] &= ~(1u << slot);
    if (candidates[issue_class] == 0) classes_waiting &= ~(1u << issue_class);
  }
  void add_warp(int slot) {
    resident |= 1u << slot;
    issued[static_cast<std::size_t>(slot)] = 0;
  }
  void remove_warp(int slot) {
    resident &= ~(1u << slot);
    if (greedy == slot) greedy = -1;
  }
  /// From when on a pipe of the class is free; classes that wait for room in the queue apart.
  Cycle pipe_free_for(const IssueClass& c) const {
    const Cycle first = pipe_free[static_cast<std::size_t>(c.first)];
    return c.second == spec::Pipe::none ? first
                                        : std::min(first, pipe_free[static_cast<std::size_t>(c.second)]);
  }
  /// The candidates that can go at `now`, and counts the cycle for their classes. `queue_has_room`: of the memory queue.
  std::uint32_t eligible(const IssueClass* classes, bool queue_has_room, Cycle now) {
    std::uint32_t found = 0;
    const bool held = dispatch_free > now;
    for (std::uint32_t m = classes_waiting; m; m &= m - 1) {
      const auto c = static_cast<std::size_t>(std::countr_zero(m));
      if (classes[c].queue ? !queue_has_room : pipe_free_for(classes[c]) > now) continue;
      if (held) {
        ++allocate_cycles[c];
        continue;
      }
      ++free_cycles[c];
      found |= candidates[c];
    }
    return found;
  }
  /// The one of `eligible` (not empty) that goes at `now`. `age`: of the warp in a slot, that of its block above kWarpBitsOfAge. The block
  /// with the largest goes first; of its warps that have waited equally long, the one with the largest.
  template <typename Age>
  int choose(std::uint32_t eligible, Cycle now, Age&& age) {
    if (greedy < 0 || !(eligible >> greedy & 1)) {
      greedy = std::countr_zero(eligible);
      for (std::uint32_t m = eligible & (eligible - 1); m; m &= m - 1) {
        const int slot = std::countr_zero(m);
        if (goes_before(slot, greedy, age(slot), age(greedy))) greedy = slot;
      }
    }
    issued[static_cast<std::size_t>(greedy)] = now;
    return greedy;
  }
  /// When to look again after `now`, not after `latest`, and what the cycles until then are counted as. A full queue says itself when it
  /// has room.
  Cycle next_look(const IssueClass* classes, bool queue_has_room, Cycle now, Cycle latest) {
    int reason = resident ? none_eligible : no_warp;
    Cycle soonest = latest;
    for (std::uint32_t m = classes_waiting; m; m &= m - 1) {
      const IssueClass& issue_class = classes[std::countr_zero(m)];
      Cycle free = now + 1;
      if (issue_class.queue) {
        reason = queue_full;
        if (!queue_has_room) continue;
      } else {
        if (reason < pipe_busy) reason = pipe_busy;
        free = pipe_free_for(issue_class);
      }
      soonest = std::min(soonest, std::max(now + 1, free));
    }
    for (std::uint32_t m = timed; m; m &= m - 1)
      soonest = std::min(soonest, ready[static_cast<std::size_t>(std::countr_zero(m))]);
    idle_reason = reason;
    return soonest;
  }

 private:
  bool goes_before(int slot, int other, std::uint64_t age, std::uint64_t age_of_other) const {
    if (age >> kWarpBitsOfAge != age_of_other >> kWarpBitsOfAge) return age > age_of_other;
    const Cycle since = issued[static_cast<std::size_t>(slot)],
                since_other = issued[static_cast<std::size_t>(other)];
    return since != since_other ? since < since_other : age > age_of_other;
  }
};

}  // namespace foretrace::sm
