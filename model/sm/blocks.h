// The blocks of an SM, and what they tell each other.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/isa/asynchronous.h"
#include "model/sm/block_barriers.h"
#include "model/units/units.h"
#include "model/work/warp_record.h"

namespace foretrace::sm {

/// A block handed to an SM.
struct BlockWork {
  Cycle start = 0;  ///< cycle of its first warp's start
  std::shared_ptr<const work::BlockRecord> record = {};
  std::uint64_t cluster = 0;  ///< number of its cluster
  std::uint32_t rank = 0;     ///< its place in it
  std::vector<std::uint32_t>
      places;              ///< SMs of the cluster's blocks, by rank; empty: it is a cluster of its own
  std::uint32_t grid = 0;  ///< which of the grids that share the chip
};

/// What a block tells another one of its cluster.
struct ClusterMessage {
  enum class Kind : std::uint8_t {
    arrival,  ///< at an mbarrier
    copied,   ///< bytes of a multicast stand at the SM's port
    barrier,  ///< all warps of the block have come to the cluster's barrier
    left      ///< the block has ended: it has come to all that follow
  };
  Cycle time = 0;  ///< when it comes to the other SM
  std::uint32_t sm = 0;
  std::uint64_t cluster = 0;
  std::uint32_t rank = 0;  ///< of the block that it is for
  Kind kind = Kind::arrival;
  std::uint32_t offset = 0;  ///< of the mbarrier
  std::uint32_t times = 1;
  isa::Arrival arrival{};
};

/// A warp that has ended.
struct WarpEnd {
  Cycle time = 0;
  std::uint32_t sm = 0;
  bool block = false;  ///< it was its block's last
  std::uint32_t grid = 0;
  bool announces = false;  ///< no end: a block's first PREEXIT
};

/// A block's slot.
struct Block {
  std::shared_ptr<const work::BlockRecord> record;
  std::uint32_t live_warps = 0;
  BlockBarriers barriers;
  bool used = false;
  bool announced = false;    ///< a warp came to PREEXIT
  std::uint64_t serial = 0;  ///< which of the SM's blocks it is
  std::uint64_t cluster = 0;
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> places;
  std::uint32_t grid = 0;
  std::uint64_t pool = 0;  ///< registers that USETMAXREG gave back
  // The cluster's barrier: warps here, blocks of the cluster
  std::uint32_t cluster_warps = 0, cluster_left = 0;
  std::uint64_t cluster_told = 0, cluster_phase = 0;
  std::array<std::uint32_t, 2> cluster_blocks{};  ///< that have come, by phase mod 2

  /// Whether the block of that rank in its cluster is itself.
  bool is_own(std::uint32_t of_rank) const { return places.size() <= 1 || of_rank == rank; }
};

/// By slot.
using Blocks = std::vector<Block>;

}  // namespace foretrace::sm
