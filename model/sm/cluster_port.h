// An SM's way to the other SMs of its clusters: the cluster's barrier, arrivals at mbarriers and bytes of multicasts.
//
// Models:  a block tells all blocks of its cluster, itself included, when its last live warp has come to the cluster's barrier, and when
//          it has ended; a phase ends where the last of these messages has come.
// Source:  PTX ISA, barrier.cluster; configs: cluster.*.
#pragma once

#include <cstdint>
#include <vector>

#include "model/sm/bulk_copies.h"
#include "model/sm/held_warps.h"
#include "model/sm/warp_table.h"

namespace foretrace::sm {

class ClusterPort {
 public:
  /// What goes to other SMs goes to `outbox`.
  ClusterPort(const SmContext& context, Blocks& blocks, BarrierUnit& barriers, BulkCopies& copies,
              HeldWarps& held, std::vector<ClusterMessage>& outbox)
      : context_(context), blocks_(blocks), barriers_(barriers), copies_(copies), held_(held),
        outbox_(outbox) {}

  /// A warp of the block comes to the cluster's barrier.
  void arrive(Block& block, Warp& warp, Cycle now);
  /// A warp of the block has ended; `live_warps` has been counted down.
  void leave(Block& block, Cycle now);
  /// A message for a block of this SM.
  void receive(const ClusterMessage& message);
  /// Event::Kind::message: it has come.
  void take(std::uint32_t number, Cycle now);

 private:
  void tell_if_complete(Block& block, Cycle now);
  void tell(const Block& block, ClusterMessage::Kind kind, Cycle now);

  const SmContext& context_;
  Blocks& blocks_;
  BarrierUnit& barriers_;
  BulkCopies& copies_;
  HeldWarps& held_;
  std::vector<ClusterMessage>& outbox_;
  std::vector<ClusterMessage> messages_;
  std::vector<std::uint32_t> free_messages_;
};

}  // namespace foretrace::sm
