// Everything beyond an SM's L1: the network, the L2 slices in their partitions, and DRAM.
//
// Models:  request and reply paths with latency and bandwidth, sectored write-back L2 with byte masks,
//          copies of far lines in the near partition, DRAM channels with banks, rows, turn-arounds and
//          refresh.
// Ignores: see docs/mechanisms.md.
// Time:    at this interface SM cycles; inside, each part runs in its own clock domain (exact rational
//          ratios).
// Order:   requests of one window are submitted sorted by (time, sm); the result does not depend on the
//          window's length.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/stats/memory_counters.h"
#include "model/units/units.h"
#include "model/work/signal.h"

namespace foretrace::memory {

enum class RequestKind : std::uint8_t {
  read,         ///< data load that missed L1; counted as srcunit_tex
  write,        ///< store (write-through from L1); no reply unless `wants_reply`
  atomic,       ///< returns the old value
  reduction,    ///< atomic without a result
  instruction,  ///< instruction or constant line (counted apart, not srcunit_tex)
};

/// Sectors in a mask of one line's.
inline std::uint32_t sector_count(std::uint8_t sectors) {
  return static_cast<std::uint32_t>(std::uint64_t{0x4332'3221'3221'2110u} >> (4 * sectors) &
                                    15);  // a digit a mask: the host may have no instruction for it
}

/// One request: up to four sectors of one line.
struct Request {
  Cycle time = 0;  ///< SM cycle at which it leaves the SM
  std::uint32_t sm = 0;
  std::uint32_t id = 0;      ///< given back in the reply
  std::uint64_t line = 0;    ///< byte address / 128
  std::uint8_t sectors = 0;  ///< bit i: sector i of the line
  RequestKind kind = RequestKind::read;
  bool wants_reply = true;  ///< writes: an acknowledgement is awaited (fences, drain)
  bool multicast = false;   ///< reads: for several SMs; no other read is answered together with it
  // Atomics and reductions: what leaves the SM for this line, packet after packet (rules::AtomicPackets).
  std::uint8_t packets = 1;
  std::uint8_t visits = 0;  ///< sectors, once for every packet that holds them; 0: as the sectors say
  std::uint8_t lone = 0;    ///< packets of a single word
  spec::AtomicData data = spec::AtomicData::integer;
  /// Writes, atomics, reductions: 1: with it `signal` is given; 2 + w: it is one for the counter in word w of the line;
  /// kTries: a swap that may fail (signals.h); 0: neither.
  std::uint8_t tells = 0;
  std::uint8_t waits =
      0;  ///< 1 + the warp's slot in its SM: a load that waits for what submit() is told, or a swap that may fail; 0: none
  std::uint8_t flits =
      0;  ///< flits of 32 bytes on the way to L2, of writes too; 0: a sector each, and write_flits()
  std::array<std::uint32_t, kSectorsPerLine>
      bytes{};  ///< writes: bytes written in each sector, bit i: byte i
  work::Signal signal = {};
};

/// Flits of 32 bytes in which what is written of `sectors` leaves an SM: the sectors, and one that says which of their bytes where a
/// sector is written in part. `bytes` as in Request.
inline std::uint8_t write_flits(std::uint8_t sectors,
                                const std::array<std::uint32_t, kSectorsPerLine>& bytes) {
  std::uint32_t flits = 0, partly = 0;
  for (std::size_t sector = 0; sector < kSectorsPerLine; ++sector) {
    if (!(sectors >> sector & 1)) continue;
    ++flits;
    if (bytes[sector] != ~std::uint32_t{0}) partly = 1;
  }
  return static_cast<std::uint8_t>(flits + partly);
}

/// In the id of a reply: what the load waits for had not been written.
inline constexpr std::uint32_t kTooEarly = 0x2000'0000;

struct Reply {
  Cycle time = 0;  ///< SM cycle at which the last sector stands at the SM's port
  std::uint32_t sm = 0;
  std::uint32_t id = 0;
};

/// Where the time of a read or an atomic went: SM cycles up to which it was there. Within the slices it is told in this order, whatever
/// the order in which they were passed; an atomic's time from its slice to its answer is all told as L2's.
struct ReadJourney {
  std::uint32_t sm = 0;
  std::uint32_t id = 0;  ///< as in the request
  Cycle issued = 0;      ///< it leaves the SM
  Cycle reached = 0;     ///< its first slice
  Cycle l2 = 0, partition = 0, dram_queue = 0, dram = 0;
  Cycle answered = 0;  ///< as in the reply
};

/// Replies that became known, by whom they are for.
struct Replies {
  /// Each in order of time; data of one time in the order in which they were asked for.
  struct Sm {
    std::vector<Reply> data;              ///< to reads and atomics
    std::vector<Reply> acknowledgements;  ///< of writes and reductions
  };
  std::vector<Sm> of_sm;
  std::vector<Reply> of_code;  ///< to instruction requests, in order of (time, sm, order of request)
};

struct L2Contents;  // l2_lines.h
struct PeerMemory;  // peer_memory.h

class MemorySystem {
 public:
  explicit MemorySystem(const spec::GpuSpec& spec);
  ~MemorySystem();
  MemorySystem(const MemorySystem&) = delete;
  MemorySystem& operator=(const MemorySystem&) = delete;

  /// The shortest way from a request's time to its reply's time, SM cycles: how far SMs may run ahead of
  /// each other.
  Cycle lookahead() const;
  /// A request with a time not before the last advance's `until`. Sorted by (time, sm) within what is
  /// submitted between two advances. `awaited`: for a load that waits, that without which it comes too early.
  void submit(const Request& request, std::span<const work::Awaited> awaited = {});
  /// All requests with time < until were submitted; makes every reply with time < until + lookahead() known.
  /// Replies are appended, each exactly once.
  void advance(Cycle until, Replies& replies);
  /// True when nothing is under way (writes to DRAM that L2 still holds dirty are not under way).
  bool idle() const;
  /// Earliest time at which something inside happens, kNever when idle.
  Cycle next_event() const;

  /// What lies in other devices' memory for the launches that begin from now on; null: nothing.
  void set_peer(std::shared_ptr<const PeerMemory> peer);
  /// A new launch begins at time 0. Cold: L2 is invalidated (what is dirty was written back before the
  /// launch, as ncu's flush does); warm: L2 stays as the launch before left it. Counters start at zero.
  void begin_launch(bool warm);
  /// What L2 holds now that the launch before has ended, and a launch that finds it so (warm).
  std::shared_ptr<const L2Contents> l2_contents();
  /// As much as L2 holds has passed through it since the launch before: a warm launch finds what a cold one does.
  void empty_l2();
  void begin_launch(const L2Contents& contents);
  const stats::MemoryCounters& counters() const;
  /// Journeys of answered reads and atomics are appended there from now on; null: nowhere. For timelines.
  void observe(std::vector<ReadJourney>* journeys);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace foretrace::memory
