// What an L2 slice does with a packet that has its turn: lookup, copies of far lines, stores, atomics.
//
// Models:  reads are answered when every sector is there; stores and atomics are done at the line's home, the slice beside the SM passes
//          them on; what the slice has no entry, no place or no room for waits (stalled.h). A store to a far line of which sectors are on
//          their way to the slice waits for them, and all behind it that SMs beside the slice sent.
// Ignores: see l2_lines.h, fills.h.
// Source:  counting is Nsight Compute's: a sector that is on its way is a hit, a miss counts as all that it brings.
// Time:    L2 cycles.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/answers.h"
#include "model/memory/fills.h"
#include "model/memory/l2_lines.h"
#include "model/memory/partition_link.h"
#include "model/memory/shared.h"
#include "model/memory/stalled.h"
#include "model/support/ring.h"

namespace foretrace::memory {

class Slices {
 public:
  struct Parts {
    L2Lines& lines;
    Fills& fills;
    PartitionLink& link;
    Answers& answers;
  };
  Slices(Shared& shared, const Parts& parts)
      : shared_(shared), parts_(parts), stalled_(shared), held_(shared.spec.l2.slices) {}

  /// Its turn at the slice's port has come.
  void serve(Event event);
  /// Sectors come from DRAM or from the other partition: who waited for them goes on.
  void fill(std::uint32_t index);
  /// Those that wait in a queue are tried again; the queues behind those of Stalled are those that a store holds up.
  void retry(std::uint32_t queue);
  /// DRAM has room for what a slice writes: who waits for it is tried in this cycle.
  void wake(std::uint32_t slice) { stalled_.wake(slice); }

 private:
  void try_first(Event event);
  bool waits_for_copy(const Event& event) const;
  void release(std::uint32_t slice);
  bool attempt(Event& event);
  bool look_up(std::uint32_t index);
  bool write_home(Event& event);
  void pass_on(std::uint32_t index);
  void pass_on_write(Event event);
  void count_write(const Event& event);
  void count_lookup(const Transaction& transaction, std::uint8_t valid, std::uint8_t pending);
  void account(Transaction& transaction) const;
  void complete(std::uint32_t index, std::uint32_t slot);
  void complete_atomic(std::uint32_t index, std::uint32_t slot);
  void look_for_writes(const Transaction& read);
  void acknowledge(Transaction& reduction);
  void forget(std::uint32_t index);

  Shared& shared_;
  const Parts parts_;
  Stalled stalled_;
  struct Held {
    support::Ring<Event> events;
    bool releasing = false;  // the next one's turn will come
  };
  std::vector<Held>
      held_;  // by slice: from the SMs beside it, a store that waits for its line's copy before them
};

}  // namespace foretrace::memory
