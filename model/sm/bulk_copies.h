// The warps' side of the copy engine: what starts its copies, who is told when they are done.
//
// Models:  loads and copies between blocks of a cluster tell an mbarrier; stores and reductions belong to groups that the warp waits for.
// Source:  PTX ISA, cp.async.bulk; docs/sources.md:TENSOR-H100 4.2.
#pragma once

#include <cstdint>
#include <vector>

#include "model/sm/barrier_unit.h"
#include "model/sm/copy_engine.h"
#include "model/sm/copy_groups.h"
#include "model/sm/warp_table.h"

namespace foretrace::sm {

class BulkCopies {
 public:
  BulkCopies(const SmContext& context, WarpTable& table, const Blocks& blocks, MemoryPipe& memory,
             BarrierUnit& barriers)
      : engine(context.spec, memory.data, memory.out, context.events), context_(context), table_(table),
        blocks_(blocks), barriers_(barriers) {}

  CopyEngine engine;
  CopyGroups groups;

  /// The warp issues the copy that its instruction describes.
  void start(const Warp& warp, std::uint16_t id, Cycle now);
  /// The warp's open group is closed; the scoreboard of sources that `instruction` names waits for it.
  void commit(Warp& warp, std::uint16_t id, const StaticInstruction& instruction, Cycle now);
  /// Event::Kind::copy_told: a copy is done. Its bytes are told to the mbarrier, or its group goes on.
  void told(std::uint32_t job, Cycle now);
  /// What an answer to a multicast means for the other blocks of its cluster.
  void spread(const memory::Reply& reply, std::vector<ClusterMessage>& out) const;

 private:
  void settle(std::uint16_t id, Cycle now);

  const SmContext& context_;
  WarpTable& table_;
  const Blocks& blocks_;
  BarrierUnit& barriers_;
};

}  // namespace foretrace::sm
