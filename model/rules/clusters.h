// How many clusters of blocks a chip runs at a time, and on which SMs.
//
// Models:  the blocks of a cluster stand in one GPC; TPCs that are in none of the device's GPCs hold clusters of at most what their two
//          SMs hold.
// Ignores: -
// Source:  [h100-sxm] max_active_clusters (576 answers of cudaOccupancyMaxActiveClusters), cluster_gpc, cluster_places.
#pragma once

#include <cstdint>
#include <vector>

#include "model/spec/gpu_spec.h"

namespace foretrace::rules {

/// The SMs that one cluster can be on: those of each GPC, and each TPC that is in none.
std::vector<std::vector<std::uint32_t>> cluster_groups(const spec::GpuSpec& spec);

/// Clusters of so many blocks that run at a time, where an SM holds `blocks_per_sm` blocks: cudaOccupancyMaxActiveClusters.
/// 0: no GPC holds one.
std::uint64_t max_active_clusters(const spec::GpuSpec& spec, std::uint32_t blocks_per_sm,
                                  std::uint32_t cluster_blocks);

}  // namespace foretrace::rules
