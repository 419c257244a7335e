// The ways by which what SMs send comes to L2: in order, SM by SM, and through the way out of the GPC.
//
// Models:  what an SM wrote or added to, and a full slice does not take, holds up whatever the SM sent after it; writes and atomics of
//          a GPC's SMs share its way out.
// Ignores: requests' share of the way out of the GPC where they bring no data.
// Time:    L2 cycles.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/port.h"
#include "model/memory/shared.h"
#include "model/support/ring.h"

namespace foretrace::memory {

class SmWays {
 public:
  explicit SmWays(Shared& shared)
      : shared_(shared), way_(shared.spec.sm.count),
        gpc_out_(shared.spec.sm.gpcs, Port(shared.spec.network.gpc_request_bytes)) {}

  /// At the end of its SM's way. False when it is blocked: it waits there for its turn.
  bool passes(const Event& event) {
    Way& way = way_[event.sm()];
    if (way.waiting.empty() && shared_.now >= way.blocked) return true;
    way.waiting.push(event);
    if (!way.waking) wake(way, event.sm());
    return false;
  }
  /// The SM's way may be open again: enter(event) those that waited, up to one that blocks it anew.
  template <typename Enter>
  void open(std::uint32_t sm, Enter&& enter) {
    Way& way = way_[sm];
    way.waking = false;
    while (!way.waiting.empty() && shared_.now >= way.blocked) enter(way.waiting.pop());
    if (!way.waiting.empty()) wake(way, sm);
  }
  /// What an SM writes, and passes its slices in cycle `passed`, blocks its way while they have so many cycles of work before it. One
  /// that goes on finds its home full as soon as the slice beside its SM takes it: no SM has an advantage.
  void hold(std::uint32_t sm, std::uint64_t passed) {
    const std::uint32_t queue = shared_.spec.network.slice_queue;
    if (passed <= shared_.now + queue) return;
    Way& way = way_[sm];
    if (way.blocked < passed - queue) way.blocked = passed - queue;
  }
  /// The cycle in which an SM's bytes have left its GPC.
  std::uint64_t leave_gpc(std::uint32_t sm, std::uint32_t bytes) {
    return gpc_out_[shared_.gpc_of(sm)].pass(shared_.now, bytes);
  }
  void restart() {
    for (Port& port : gpc_out_) port.reset();
    for (Way& way : way_) way.blocked = 0;
  }

 private:
  struct Way {
    std::uint64_t blocked = 0;  // until this cycle
    support::Ring<Event> waiting;
    bool waking = false;
  };
  void wake(Way& way, std::uint32_t sm) {
    way.waking = true;
    shared_.events.push(way.blocked, {sm, EventKind::way});
  }

  Shared& shared_;
  std::vector<Way> way_;       // by SM
  std::vector<Port> gpc_out_;  // by GPC
};

}  // namespace foretrace::memory
