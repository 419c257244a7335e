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

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/memory/calendar.h"
#include "model/memory/clock_ratio.h"
#include "model/memory/dram_channel.h"
#include "model/memory/l2_tags.h"
#include "model/memory/memory_system.h"
#include "model/memory/merging.h"
#include "model/memory/outgoing.h"
#include "model/memory/partial_writes.h"
#include "model/memory/port.h"
#include "model/memory/ring.h"
#include "model/memory/signals.h"
#include "model/memory/topology.h"
#include "model/memory/transaction.h"
#include "model/units/error.h"

namespace foretrace::memory {

struct MemorySystem::Implementation {
  explicit Implementation(const spec::GpuSpec& chip);

  // memory_system.cpp: windows, requests, replies
  Cycle lookahead() const;
  void submit(const Request& request, std::span<const work::Awaited> awaited);
  void advance(Cycle until, Replies& replies);
  Cycle next_event() const;
  bool idle() const;
  void begin_launch(bool warm);
  const stats::MemoryCounters& counters() const;
  void observe(std::vector<ReadJourney>* journeys) { journeys_ = journeys; }

 private:
  enum class EventKind : std::uint8_t { arrive, serve, fill, reply, channel, retry, way };
  /// Two words, since fields that were just stored one by one would hold up the host where it reads them together.
  class Event {
   public:
    Event() = default;
    Event(std::uint32_t index, EventKind kind)
        : high_(std::uint64_t{index & kMaxIndex} << 36 | std::uint64_t(kind) << 33) {
      FORETRACE_ASSERT(index <= kMaxIndex, "more transactions are under way than an event can name");
    }
    Event(std::uint32_t index, EventKind kind, const Passage& is, bool write) : Event(index, kind) {
      low_ = std::uint64_t{is.tag} << 32 | std::uint64_t{is.sm} << 16 | is.index;
      high_ |= (write ? kWrite : 0) | std::uint64_t{is.set} << 16 | std::uint64_t{is.sectors} << 12 |
               std::uint64_t{is.pieces} << 8 | (is.at ? kAt : 0) | (is.near ? kNear : 0) |
               (is.home ? kHome : 0) | (is.crossed ? kCrossed : 0) | (is.counted ? kCounted : 0);
    }
    /// Transaction or write, channel, queue or SM.
    std::uint32_t index() const { return static_cast<std::uint32_t>(high_ >> 36); }
    EventKind kind() const { return static_cast<EventKind>(high_ >> 33 & 7); }
    /// Whether it is of one.
    bool write() const { return (high_ & kWrite) != 0; }
    std::uint16_t sm() const { return static_cast<std::uint16_t>(low_ >> 16); }
    bool crossed() const { return (high_ & kCrossed) != 0; }
    bool at_home() const { return ((high_ & kAt) != 0) == ((high_ & kHome) != 0); }
    bool near_home() const { return ((high_ & kNear) != 0) == ((high_ & kHome) != 0); }
    // The passage of what arrives or is served; a write's is nowhere else.
    std::uint32_t tag() const { return static_cast<std::uint32_t>(low_ >> 32); }
    std::uint32_t slice_index() const { return static_cast<std::uint32_t>(low_ & 0xffff); }
    std::uint32_t set() const { return static_cast<std::uint32_t>(high_ >> 16 & 0xffff); }
    std::uint8_t sectors() const { return static_cast<std::uint8_t>(high_ >> 12 & 15); }
    std::uint32_t pieces() const { return static_cast<std::uint32_t>(high_ >> 8 & 15); }
    std::uint32_t at() const { return high_ & kAt ? 1 : 0; }
    std::uint32_t near() const { return high_ & kNear ? 1 : 0; }
    std::uint32_t home() const { return high_ & kHome ? 1 : 0; }
    bool counted() const { return (high_ & kCounted) != 0; }
    Event as(EventKind kind) const {
      Event other = *this;
      other.high_ = (high_ & ~(std::uint64_t{7} << 33)) | std::uint64_t(kind) << 33;
      return other;
    }
    void cross() { high_ |= kCrossed; }
    void count() { high_ |= kCounted; }
    /// It is on its way to the line's partition.
    void go_home() { high_ = (high_ & ~kAt) | ((high_ & kHome) != 0 ? kAt : 0); }

   private:
    static constexpr std::uint32_t kMaxIndex = (1u << 28) - 1;
    static constexpr std::uint64_t kAt = 1, kNear = 2, kHome = 4, kCrossed = 8, kCounted = 16,
                                   kWrite = std::uint64_t{1} << 32;
    std::uint64_t low_ = 0, high_ = 0;
  };
  static_assert(sizeof(Event) == 16);
  /// What a packet takes of a slice's port.
  /// Bytes that a slice could read while it works on a sector of an atomic packet.
  struct AtomicWork {
    std::uint32_t several = 0;  ///< words of it
    std::uint32_t lone = 0;     ///< a packet of a single word
    std::uint32_t again = 0;    ///< same, on the sector that the slice's last packet was on
    std::uint32_t turn =
        0;  ///< more there, behind a packet that wants an answer where this one wants none, or the other way
  };
  static std::array<AtomicWork, spec::kAtomicDataKinds> atomic_work(const spec::L2Spec& l2);
  struct SliceWork {
    std::uint32_t bytes = 0, cycles = 0;
  };
  struct SmPlace {
    std::uint32_t gpc = 0, partition = 0;
  };
  /// What an SM sent and what a full slice holds up behind a write of its own.
  struct Way {
    std::uint64_t blocked = 0;  // until this L2 cycle
    Ring<Event> waiting;
    bool waking = false;
  };
  /// What waits for an entry of a queue; of those at their home the SMs of its own partition and the other partition take turns.
  struct Stalled {
    std::array<Ring<Event>, 2> waiting;  // from the SMs beside it; from the other partition
    bool others_turn = false;
    bool retrying = false;
    bool empty() const { return waiting[0].empty() && waiting[1].empty(); }
  };
  using Wide = ClockRatio::Wide;
  struct ReadTotals {  // in parts: a SM cycle is sm_to_l2_.to() parts, an L2 cycle sm_to_l2_.from()
    Wide network = 0, l2 = 0, partition = 0, dram_queue = 0, dram = 0;
  };

  void run_before(std::uint64_t end);
  void handle(Event event);
  void bring(const Calendar<Event>& calendar);
  void reply(std::uint32_t index);
  void follow(Transaction& follower, const Transaction& first) const;
  void deliver(std::uint32_t index, std::uint64_t out);
  void observe_journey(const Transaction& transaction, Cycle time);

  // arrival.cpp: what comes to a slice before it is served
  void arrive(Event event);
  void enter(Event event);
  void enter_write(Event event);
  std::uint32_t home_work(const Transaction& atomic);
  void hold_way(std::uint32_t sm, std::uint64_t passed);
  void open_way(std::uint32_t sm);
  bool merge(std::uint32_t index);
  void stop_merging(std::uint32_t set, std::uint32_t tag);
  void stop_leading(std::uint32_t index);
  void forget_leaders(Merging::Entry* entry);
  bool leave_gpc(std::uint32_t index);
  bool merges() const { return spec_.l2.merged_reads > 1; }

  // slice.cpp: what a slice does with a transaction
  void serve(Event event);
  void book_slice(Transaction& transaction) const;
  bool attempt(Event& event);
  bool look_up_read(std::uint32_t index);
  bool write_home(Event& event);
  bool writes_partly(const Write& write, std::uint8_t sectors, std::uint32_t slot) const;
  void pass_on(std::uint32_t index);
  void pass_on_write(Event event);
  void count_write(const Event& event);
  void count_lookup(const Transaction& transaction, std::uint8_t valid, std::uint8_t pending);
  void fill(std::uint32_t index);
  void complete(std::uint32_t index, std::uint32_t slot);
  void look_for_writes(const Transaction& read);
  void forget(std::uint32_t index);
  void wait_for(std::uint32_t index, std::uint32_t slot, std::uint8_t sectors);
  void stall(const Event& event);
  void retry(std::uint32_t queue);
  void retry_later(std::uint32_t slice);
  /// Tags of lines that were written before the launch: the last ones, the home partition in bit 0 as in all tags.
  static constexpr std::uint32_t kLeftBehind = 0xffff'0000;
  static bool at_home(const Passage& t) { return t.at == t.home; }
  static bool is_atomic(const Packet& t) {
    return t.kind == Transaction::Kind::atomic || t.kind == Transaction::Kind::reduction;
  }
  std::uint32_t queue_of(const Passage& t) const { return 2 * slice_of(t) + (at_home(t) ? 0 : 1); }
  std::uint32_t claim(std::uint32_t slice, std::uint32_t set, std::uint32_t tag, bool copy);
  void leave_behind(std::uint32_t set);
  std::uint32_t slice_of(const Passage& t) const { return map_.slice(t.at, t.index); }
  std::uint32_t set_of(const Passage& t) const { return map_.set(slice_of(t), t.set); }
  std::uint32_t slice_of(const Event& event) const { return map_.slice(event.at(), event.slice_index()); }
  std::uint32_t set_of(const Event& event) const { return map_.set(slice_of(event), event.set()); }
  std::uint32_t queue_of(const Event& event) const { return 2 * slice_of(event) + (event.at_home() ? 0 : 1); }
  /// Of the slice in the other partition that may hold a copy: of the line whose home this is, or the other way round.
  std::uint32_t copy_set(bool home, std::uint32_t slice_index, std::uint32_t set) const {
    return map_.set(map_.slice(home ? 0 : 1, slice_index), set);
  }
  void make_dirty(std::uint32_t slice, std::uint32_t slot, std::uint8_t sectors, bool newly_partly);
  void drop_copy(std::uint32_t set, std::uint32_t tag, std::uint8_t sectors);
  bool has_copy(const Passage& passage);
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
  const std::array<AtomicWork, spec::kAtomicDataKinds> atomic_work_;
  const std::uint32_t atomic_pass_bytes_, read_pass_bytes_;  // of the slice beside the SM

  std::array<std::array<SliceWork, 8>, 2> write_work_;  // of a write: passed on and at home, by its pieces
  std::vector<SmPlace> sm_place_;
  std::vector<Way> way_;  // by SM
  std::vector<Port> sm_out_, sm_in_, gpc_out_, gpc_in_, slice_port_;
  struct LastAtomic {
    std::uint64_t sectors = 0;
    bool answered = false;
  };
  std::vector<LastAtomic> last_atomic_;        // by slice: at home
  std::vector<PartialWrites> partial_writes_;  // by slice
  std::vector<Port> link_;                     // by the partition it leaves
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

  Pool<Transaction> pool_;
  Pool<Write> writes_;
  Merging merging_;
  Signals signals_;
  Calendar<Event> arrivals_;  // of requests at their first slice, in order of submission
  Calendar<Event> events_;
  std::uint64_t now_ = 0;
  std::uint64_t end_ = 0;  // L2 cycle before which everything was handled
  Cycle until_ = 0;
  std::uint64_t order_ = 0;
  Outgoing outgoing_;
  mutable stats::MemoryCounters counters_;
  std::vector<ReadJourney>* journeys_ = nullptr;
  ReadTotals totals_;
};

}  // namespace foretrace::memory
