// The ways by which what SMs send comes to L2: in order, SM by SM, out of the CPC, and in beside the SM's partition.
//
// Models:  what an SM wrote or added to, and a full slice does not take, holds up whatever the SM sent after it. What the SMs of a CPC
//          write and add to shares its way out, and what all SMs beside a partition do the way in there, of which each CPC has so many
//          places: who sends more than its share waits, with all that its CPC sends, and no CPC gets less than another for having more SMs.
// Ignores: requests' share of these ways where they bring no data.
// Source:  [h200-sxm] sm_groups: up to five SMs of a CPC store as fast as one alone; where all SMs store, those of CPCs of four get half as
//          much again as those of CPCs of six.
// Time:    L2 cycles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/memory/port.h"
#include "model/memory/shared.h"
#include "model/support/ring.h"

namespace foretrace::memory {

class SmWays {
 public:
  explicit SmWays(Shared& shared)
      : shared_(shared), ways_(shared.spec.sm.count + cpc_count(shared.spec.sm)),
        cpcs_(cpc_count(shared.spec.sm), Cpc{Port(shared.spec.network.cpc_request_bytes),
                                             std::vector<std::uint64_t>(shared.spec.network.cpc_queue, 0)}),
        partition_in_(shared.spec.l2.partitions, Port(shared.spec.network.partition_request_bytes)) {}

  /// At the end of its SM's way. False when it is blocked there, or in its CPC: it waits for its turn.
  bool passes(const Event& event) {
    return passes(event, event.sm()) && passes(event, way_of_cpc(event.sm()));
  }
  /// Way `index` (EventKind::way) may be open again: enter(event) those that waited, up to one that blocks it anew.
  template <typename Enter>
  void open(std::uint32_t index, Enter&& enter) {
    Way& way = ways_[index];
    way.waking = false;
    while (!way.waiting.empty() && shared_.now >= way.blocked) {
      const Event event = way.waiting.pop();
      if (index >= shared_.spec.sm.count || passes(event, way_of_cpc(event.sm()))) enter(event);
    }
    if (!way.waiting.empty()) wake(way, index);
  }
  /// What an SM writes, and passes its slices in cycle `passed`, blocks its way while they have so many cycles of work before it. One
  /// that goes on finds its home full as soon as the slice beside its SM takes it: no SM has an advantage.
  void hold(std::uint32_t sm, std::uint64_t passed) {
    const std::uint32_t queue = shared_.spec.network.slice_queue;
    if (passed > shared_.now + queue) block(sm, passed - queue);
  }
  /// The cycle in which an SM's bytes have left its CPC and come in beside its partition.
  std::uint64_t leave_cpc(std::uint32_t sm, std::uint32_t bytes) {
    const std::uint32_t way = way_of_cpc(sm);
    Cpc& cpc = cpcs_[way - shared_.spec.sm.count];
    const std::uint64_t left = cpc.out.pass(shared_.now, bytes);
    const std::uint64_t in = partition_in_[shared_.sm_place[sm].partition].pass(shared_.now, bytes);
    for (std::uint32_t sectors = 0; sectors < bytes; sectors += kSectorBytes) {
      cpc.places[cpc.next] = in;
      cpc.next = cpc.next + 1 == cpc.places.size() ? 0 : cpc.next + 1;
    }
    block(way, std::max(left, cpc.places[cpc.next]));
    return std::max(left, in);
  }
  void restart() {
    for (Way& way : ways_) way.blocked = 0;
    for (Cpc& cpc : cpcs_) {
      cpc.out.reset();
      std::fill(cpc.places.begin(), cpc.places.end(), 0);
    }
    for (Port& port : partition_in_) port.reset();
  }

 private:
  struct Way {
    std::uint64_t blocked = 0;  // until this cycle
    support::Ring<Event> waiting;
    bool waking = false;
  };
  struct Cpc {
    Port out;
    std::vector<std::uint64_t> places;  // a ring, of sectors: until when each is taken
    std::size_t next = 0;
  };
  static std::uint32_t cpc_count(const spec::SmSpec& sm) { return sm.gpcs * sm.cpcs; }
  std::uint32_t way_of_cpc(std::uint32_t sm) const {
    return shared_.spec.sm.count + shared_.sm_place[sm].cpc;
  }
  void block(std::uint32_t index, std::uint64_t until) {
    ways_[index].blocked = std::max(ways_[index].blocked, until);
  }
  bool passes(const Event& event, std::uint32_t index) {
    Way& way = ways_[index];
    if (way.waiting.empty() && shared_.now >= way.blocked) return true;
    way.waiting.push(event);
    if (!way.waking) wake(way, index);
    return false;
  }
  void wake(Way& way, std::uint32_t index) {
    way.waking = true;
    shared_.events.push(way.blocked, {index, EventKind::way});
  }

  Shared& shared_;
  std::vector<Way> ways_;  // of the SMs, then of the CPCs
  std::vector<Cpc> cpcs_;
  std::vector<Port> partition_in_;
};

}  // namespace foretrace::memory
