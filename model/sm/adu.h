// The address divergence unit of an SM (ADU): one for four sub-cores.
//
// Models:  LDC, S2UR, BAR and S2R of what does not differ from lane to lane, in the order of their issue, an instruction per interval;
//          a few places for each sub-core's instructions to wait in; what goes through it once more.
// Source:  our issue_queue, issue_pair and constants on H100.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/units/units.h"

namespace foretrace::sm {

/// A sub-core's instructions that wait for the ADU: a ring of the cycles in which the last ones left it.
struct AduQueue {
  std::array<Cycle, 16> left{};
  std::uint32_t next = 0;

  /// One more of them leaves at `when`. From the cycle that is returned on there is a place again, of `places`.
  Cycle push(Cycle when, std::uint32_t places) {
    left[next] = when;
    next = (next + 1) % places;
    return left[next] + 1;
  }
  /// The one that came last keeps its place until `when`; likewise.
  Cycle hold_last(Cycle when, std::uint32_t places) {
    left[(next + places - 1) % places] = when;
    return left[next] + 1;
  }
};

struct Adu {
  Cycle free = 0;                             ///< from when on it takes an instruction
  Cycle replays_from = 0, replay_cycles = 0;  ///< what it takes once more, and from when on

  /// When it takes an instruction that is issued at `now` and keeps it `interval` cycles.
  Cycle take(Cycle interval, Cycle now) {
    if (replay_cycles && replays_from <= now) {
      free = std::max(free, replays_from) + replay_cycles;
      replay_cycles = 0;
    }
    const Cycle served = std::max(now, free);
    free = served + interval;
    return served;
  }
  /// An instruction goes through it once more at `pass`.
  void replay(Cycle pass, Cycle interval) {
    replays_from = replay_cycles ? std::min(replays_from, pass) : pass;
    replay_cycles += interval;
  }
};

}  // namespace foretrace::sm
