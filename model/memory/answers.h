// The way back: answers cross to the GPC and pass the SM's port, acknowledgements come; where a read's time went is added up.
//
// Models:  the GPC's and the SM's reply ports; one crossing for all SMs whose reads share an answer, and another for each
//          further read of one of them (record_loads, copy_width on H200).
// Ignores: bandwidth of acknowledgements.
// Time:    answers leave in L2 cycles and arrive in SM cycles. The segments of a read's latency sum to it, exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/memory/outgoing.h"
#include "model/memory/port.h"
#include "model/memory/read_merging.h"
#include "model/memory/shared.h"

namespace foretrace::memory {

class Answers {
 public:
  Answers(Shared& shared, ReadMerging& merging);

  /// The answer of a read or an atomic leaves its slice, and those that it takes along with it.
  void answer(std::uint32_t index);
  /// The word that a write or a reduction is done leaves in cycle `out`.
  void acknowledge(std::uint32_t sm, std::uint32_t id, std::uint64_t out, bool reduction, bool far) {
    outgoing_.acknowledge(sm, id, out + farther(sm), reduction, far);
  }
  /// The same of what was done in another device's memory.
  void acknowledge_peer(std::uint32_t sm, std::uint32_t id, std::uint64_t out) {
    outgoing_.acknowledge_peer(sm, id, out + farther(sm));
  }
  /// Appends what is due before SM cycle `known`.
  void hand_out(Cycle known, Replies& replies) { outgoing_.hand_out(known, replies); }

  bool empty() const { return outgoing_.empty(); }
  /// As Outgoing::next().
  Cycle next(std::uint64_t end) const { return outgoing_.next(end); }
  /// The segments of the reads' latency into the counters.
  void count(stats::MemoryCounters& counters) const;
  /// Journeys are appended there from now on; null: nowhere.
  void observe(std::vector<ReadJourney>* journeys) { journeys_ = journeys; }
  void restart();

 private:
  using Wide = ClockRatio::Wide;
  struct Totals {  // in parts: a SM cycle is sm_to_l2.to() parts, an L2 cycle sm_to_l2.from()
    Wide network = 0, l2 = 0, partition = 0, dram_queue = 0, dram = 0;
  };
  bool asks_again(std::uint32_t follower, const Transaction& first) const;
  void follow(Transaction& follower, const Transaction& first) const;
  void deliver(std::uint32_t index, std::uint64_t out);
  void add_up(const Transaction& read, Cycle time);
  void note_journey(const Transaction& transaction, Cycle time);
  /// L2 cycles of an SM's way back more than the nearest SM's, whose way `outgoing_` knows.
  std::uint32_t farther(std::uint32_t sm) const {
    return shared_.sm_place[sm].ways.reply - shared_.shortest.reply;
  }

  Shared& shared_;
  ReadMerging& merging_;
  std::vector<Port> gpc_in_, sm_in_;
  Outgoing outgoing_;
  Totals totals_;
  std::vector<std::uint32_t> again_;  // of answer()
  std::vector<ReadJourney>* journeys_ = nullptr;
};

}  // namespace foretrace::memory
