// The memory system's insides as a list of its parts, and which part each event goes to.
//
// Models:  the way of a request: SM port and network (sm_link.h), the SM's and the GPC's way into L2 (sm_ways.h), merging of reads
//          (read_merging.h), the port of the slice beside the SM (slice_ports.h), the slice (slices.h), its lines and its fills
//          (l2_lines.h, fills.h), the link between partitions (partition_link.h), the home slice, its DRAM channel (dram_path.h), and
//          back through the GPC's and the SM's reply ports (answers.h); of another device's memory the link to it (peer_link.h) in the place
//          of slices and DRAM.
// Ignores: bandwidth of acknowledgements, and of read requests beyond one packet per cycle per SM; the data
//          array's time for fills.
// Time:    L2 cycles. An event sees everything that happened before its cycle and, in its cycle, what stood
//          in the calendar before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/memory/answers.h"
#include "model/memory/dram_path.h"
#include "model/memory/fills.h"
#include "model/memory/l2_lines.h"
#include "model/memory/memory_system.h"
#include "model/memory/partition_link.h"
#include "model/memory/peer_link.h"
#include "model/memory/read_merging.h"
#include "model/memory/shared.h"
#include "model/memory/slice_ports.h"
#include "model/memory/slices.h"
#include "model/memory/sm_link.h"
#include "model/memory/sm_ways.h"

namespace foretrace::memory {

struct MemorySystem::Implementation {
  explicit Implementation(const spec::GpuSpec& chip);

  Cycle lookahead() const;
  void submit(const Request& request, std::span<const work::Awaited> awaited);
  void advance(Cycle until, Replies& replies);
  Cycle next_event() const;
  bool idle() const;
  void begin_launch(bool warm);
  void set_peer(std::shared_ptr<const PeerMemory> peer);
  L2Contents l2_contents();
  void empty_l2();
  void begin_launch(const L2Contents& contents);
  const stats::MemoryCounters& counters();
  void observe(std::vector<ReadJourney>* journeys) { answers_.observe(journeys); }

 private:
  void run_before(std::uint64_t end);
  void handle(Event event);
  void bring(const support::Calendar<Event>& calendar);

  // What comes to a slice before it is served.
  void arrive(Event event);
  void enter(Event event);
  void enter_write(Event event);
  void leave_chip(Event event);
  bool leave_cpc(std::uint32_t index);

  // Each part knows those before it that it is given here, and no others.
  Shared shared_;
  SmLink sm_link_;
  SmWays ways_;
  ReadMerging merging_;
  SlicePorts ports_;
  PartitionLink link_;
  DramPath dram_;
  L2Lines lines_;
  Fills fills_;
  Answers answers_;
  PeerLink peer_link_;
  Slices slices_;

  std::uint64_t end_ = 0;  // L2 cycle before which everything was handled
  Cycle until_ = 0;
};

}  // namespace foretrace::memory
