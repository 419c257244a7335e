// One DRAM channel: its controller's queues, its banks and its data bus.
//
// Models:  open rows, activate / precharge / column latencies (t_rcd, t_rp, t_cl, t_ras, t_wr), spacing of
//          activates (t_rrd), bus turn-arounds, refresh of the whole channel; a controller that serves what
//          can move data first, rows that are open hence before others and older before younger (FR-FCFS,
//          with a bound on being overtaken), reads before writes, and writes in batches.
// Ignores: bank groups, the four-activate window, per-bank refresh, ECC, temperature; commands cost no
//          command-bus slots.
// Source:  timing names as in JEDEC's HBM and GDDR standards; values in configs/.
// Time:    DRAM command clock cycles. The channel is passive: it acts when schedule() is called.
#pragma once

#include <cstdint>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/support/ring.h"
#include "model/units/units.h"

namespace foretrace::memory {

class DramChannel {
 public:
  struct Access {
    std::uint64_t arrival =
        0;  ///< cycle at which the controller has it; not before that of the access enqueued before
    std::uint64_t row = 0;
    std::uint32_t bank = 0;
    std::uint32_t cycles = 0;  ///< data bus cycles
    std::uint32_t tag = 0;     ///< given back
    bool write = false;
  };
  struct Done {
    std::uint64_t end = 0;     ///< cycle after its last data
    std::uint64_t queued = 0;  ///< cycles from arrival to its first command
    std::uint32_t tag = 0;
    bool write = false;
  };
  struct Counters {
    std::uint64_t row_hits = 0, row_misses = 0, busy = 0;
  };

  /// `phase`: the first refresh comes this many cycles after time zero.
  DramChannel(const spec::DramSpec& spec, std::uint64_t phase);

  void enqueue(const Access& access);
  /// Reserves the bus for what may be served by now and appends it to `done`. Returns the cycle at which it
  /// wants to be called again (after `now`), kNever when nothing waits.
  std::uint64_t schedule(std::uint64_t now, std::vector<Done>& done);

  /// Earliest cycle at which an access enqueued at `arrival` can be looked at.
  std::uint64_t wake_time(std::uint64_t arrival) const;
  /// Writes wait in such a number that L2 must hold back.
  bool writes_full() const { return writes_waiting_ >= spec_.queue; }
  bool idle() const { return reads_.empty() && writes_.empty() && incoming_.empty(); }
  const Counters& counters() const { return counters_; }
  /// Time zero of a new launch: nothing may wait. Rows stay open if `warm`.
  void restart(bool warm);

 private:
  static constexpr std::uint64_t kClosed = ~std::uint64_t{0};
  struct Bank {
    std::uint64_t row = kClosed;
    std::uint64_t column_ready = 0;     // t_rcd after its activate
    std::uint64_t precharge_ready = 0;  // by t_ras, the last column access and t_wr
    std::uint64_t activate_ready = 0;   // after a refresh
  };
  struct Waiting {
    Access access;
    std::uint32_t overtaken = 0;
  };

  void admit(std::uint64_t now);
  void refresh(std::uint64_t now);
  bool choose_writes(std::uint64_t now);
  std::uint64_t data_start(const Access& access, std::uint64_t now, std::uint64_t bus) const;
  Done serve(std::vector<Waiting>& queue, std::size_t index, std::uint64_t now, std::uint64_t bus);

  const spec::DramSpec spec_;
  const std::uint64_t phase_;
  const std::uint64_t horizon_;  // how far ahead of now the bus may be reserved: what opening a row takes
  const std::size_t drain_from_, drain_until_;  // writes that wait
  support::Ring<Access> incoming_;              // on the way, or waiting for a place in the queues
  std::vector<Waiting> reads_, writes_;         // by age
  std::vector<Bank> banks_;
  std::uint32_t writes_waiting_ = 0;
  std::uint64_t bus_free_ = 0, last_activate_ = 0, next_refresh_ = 0;
  bool any_activate_ = false;
  bool draining_ = false;  // serving a batch of writes
  bool bus_used_ = false, bus_wrote_ = false;
  Counters counters_;
};

}  // namespace foretrace::memory
