// The memory system's insides: what one event does to the ports, the slices and the channels.
//
// Models:  the way of a request: SM port, network, the slice beside the SM, the link between partitions,
//          the home slice, its DRAM channel, and back through the GPC's and the SM's reply ports. Each
//          lookup takes its slice's port for at least a cycle.
// Ignores: bandwidth of acknowledgements, and of read requests beyond one packet a cycle an SM; the data
//          array's time for fills.
// Time:    L2 cycles. An event sees everything that happened before its cycle and, in its cycle, what stood
//          in the calendar before it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/calendar.h"
#include "model/memory/clock_ratio.h"
#include "model/memory/dram_channel.h"
#include "model/memory/l2_tags.h"
#include "model/memory/memory_system.h"
#include "model/memory/merging.h"
#include "model/memory/port.h"
#include "model/memory/topology.h"
#include "model/memory/transaction.h"
#include "model/units/error.h"

namespace foretrace::memory {

/// How long what is written takes of its home slice, as bytes that are read would: for each of its own. The slice that passes
/// it on takes as long as for a read (H100, store_bandwidth: whole lines, partly written ones and lone words alike).
constexpr double kWritesToReads = 1.5;

struct MemorySystem::Implementation {
  explicit Implementation(const spec::GpuSpec& chip);

  // memory_system.cpp: windows, requests, replies
  Cycle lookahead() const;
  void submit(const Request& request);
  void advance(Cycle until, std::vector<Reply>& replies);
  Cycle next_event() const;
  bool idle() const;
  void begin_launch(bool warm);
  const stats::MemoryCounters& counters() const;

 private:
  enum class EventKind : std::uint8_t { arrive, serve, fill, reply, channel, retry, way };
  struct Event {
    Event() = default;
    Event(std::uint32_t of, EventKind what, bool of_write = false) : index(of & kMaxIndex), kind(what), write(of_write) {
      FORETRACE_ASSERT(of <= kMaxIndex, "more transactions are under way than an event can name");
    }
    static constexpr std::uint32_t kMaxIndex = (1u << 28) - 1;
    std::uint32_t index : 28 = 0;  // transaction, channel, queue or SM
    EventKind kind : 3 = EventKind::arrive;
    bool write : 1 = false;  // the transaction is one
  };
  static_assert(sizeof(Event) == 4);
  struct Due {
    Reply reply;
    std::uint64_t order = 0;
    std::uint64_t left = 0;  // L2 cycle in which it leaves its slice
  };
  struct SmPlace {
    std::uint32_t gpc = 0, partition = 0;
  };
  /// What an SM sent and what a full slice holds up behind a write of its own.
  struct Way {
    std::uint64_t blocked = 0;  // until this L2 cycle
    std::uint32_t first = kNone, last = kNone;
    bool waking = false;
  };
  struct Stalled {
    std::uint32_t first = kNone, last = kNone;
    bool retrying = false;
  };
  using Wide = ClockRatio::Wide;
  struct ReadTotals {  // in parts: a SM cycle is sm_to_l2_.to() parts, an L2 cycle sm_to_l2_.from()
    Wide network = 0, l2 = 0, partition = 0, dram_queue = 0, dram = 0;
  };

  void run_before(std::uint64_t end);
  void hand_out(Cycle known, std::vector<Reply>& replies);
  void handle(const Event& event);
  void bring(const Calendar<Event>& calendar);
  void bring_set(const Transaction& transaction) const;
  void reply(std::uint32_t index);
  void follow(Transaction& follower, const Transaction& first) const;
  void deliver(std::uint32_t index, std::uint64_t out);
  void acknowledge(std::uint32_t index, std::uint64_t out);

  // slice.cpp: what a slice does with a transaction
  void arrive(std::uint32_t index);
  void enter(std::uint32_t index);
  void open_way(std::uint32_t sm);
  bool merge(std::uint32_t index);
  bool leave_gpc(std::uint32_t index);
  std::uint64_t merging_key(const Transaction& t) const {
    return Merging::key(set_of(t), t.tag, sm_place_[t.sm].gpc, t.sectors);
  }
  void serve(std::uint32_t index);
  void book_slice(Transaction& transaction) const;
  bool attempt(std::uint32_t index);
  bool look_up_read(std::uint32_t index);
  bool write_home(std::uint32_t index);
  bool writes_partly(const Transaction& transaction, std::uint32_t slot) const;
  void pass_on(std::uint32_t index);
  void count_lookup(const Transaction& transaction, std::uint8_t valid, std::uint8_t pending);
  void fill(std::uint32_t index);
  void complete(std::uint32_t index, std::uint32_t slot);
  void wait_for(std::uint32_t index, std::uint32_t slot, std::uint8_t sectors);
  void stall(std::uint32_t index);
  void retry(std::uint32_t queue);
  void retry_later(std::uint32_t slice);
  /// Tags of lines that were written before the launch: the last ones, the home partition in bit 0 as in all tags.
  static constexpr std::uint32_t kLeftBehind = 0xffff'0000;
  static bool at_home(const Transaction& t) { return t.at == t.home; }
  std::uint32_t queue_of(const Transaction& t) const { return 2 * slice_of(t) + (at_home(t) ? 0 : 1); }
  std::uint32_t claim(const Transaction& transaction);
  void leave_behind(std::uint32_t set);
  std::uint32_t slice_of(const Transaction& t) const { return map_.slice(t.at, t.index); }
  std::uint32_t set_of(const Transaction& t) const { return map_.set(slice_of(t), t.set); }
  void make_dirty(const Transaction& transaction, std::uint32_t slot, bool newly_partly);
  void drop_copy(const Transaction& transaction);
  bool has_copy(const Transaction& transaction);
  void book_wait(Transaction& transaction, const Transaction& filled) const;

  // dram_path.cpp: between slices and channels
  void request_fill(std::uint32_t slot, const Transaction& transaction, std::uint8_t sectors);
  void save_dirty(std::uint32_t slot);
  bool may_save(std::uint32_t slice) const;
  void send(const DramPlace& place, std::uint32_t bytes, std::uint32_t tag, bool write);
  void run_channel(std::uint32_t channel);
  std::uint8_t granules_of(std::uint8_t sectors) const;

  const spec::GpuSpec spec_;
  const AddressMap map_;
  const ClockRatio sm_to_l2_, l2_to_sm_, l2_to_dram_, dram_to_l2_;
  const std::uint32_t dirty_limit_;      // dirty lines a slice
  const std::uint32_t partly_limit_;     // lines with partly written sectors a set
  const std::uint32_t granule_sectors_;  // sectors of a DRAM access
  // How long a sector of an atomic packet takes of a slice's time, as bytes of its port: at home, and on the way there.
  const std::uint32_t atomic_bytes_, atomic_pass_bytes_;

  std::vector<SmPlace> sm_place_;
  std::vector<Way> way_;  // by SM
  std::vector<Port> sm_out_, sm_in_, gpc_out_, gpc_in_, slice_port_;
  std::vector<Port> link_;  // by the partition it leaves
  L2Tags tags_;
  // By queue: what a slice holds of lines at home, and what it copies from the other partition. They are
  // kept apart: two slices whose entries were all taken by copies would wait for each other for ever.
  std::vector<std::uint32_t> misses_;  // lines with sectors pending
  std::vector<Stalled> stalled_;
  std::vector<DramChannel> channel_;
  std::vector<std::uint64_t> wake_;  // L2 cycle of a channel's next event
  std::vector<DramChannel::Done> done_;

  // Of the lines that a cold launch finds written, what a set holds on average, in 2^-16; 0: none are left. They come to a set
  // when the launch first claims a line of it.
  std::uint32_t left_behind_ = 0;

  TransactionPool pool_;
  Merging merging_;
  Calendar<Event> arrivals_;  // of requests at their first slice, in order of submission
  Calendar<Event> events_;
  std::uint64_t now_ = 0;
  std::uint64_t end_ = 0;  // L2 cycle before which everything was handled
  Cycle until_ = 0;
  Cycle known_ = 0;  // replies before this time were handed out
  std::uint64_t order_ = 0;
  std::vector<Due> due_, sorted_;
  std::vector<std::uint32_t> starts_;  // by time: where the next reply of that time goes in sorted_
  mutable stats::MemoryCounters counters_;
  ReadTotals totals_;
};

}  // namespace foretrace::memory
