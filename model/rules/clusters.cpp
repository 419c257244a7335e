#include "model/rules/clusters.h"

#include <algorithm>

namespace foretrace::rules {

std::vector<std::vector<std::uint32_t>> cluster_groups(const spec::GpuSpec& spec) {
  std::vector<std::vector<std::uint32_t>> groups(spec.cluster.groups.size());
  std::uint32_t sm = 0;
  for (bool some = true; some && sm < spec.sm.count;) {  // TPCs go round the GPCs that have one left
    some = false;
    for (std::size_t g = 0; g < groups.size() && sm < spec.sm.count; ++g) {
      for (int i = 0; i < 2 && groups[g].size() < spec.cluster.groups[g] && sm < spec.sm.count; ++i) {
        groups[g].push_back(sm++);
        some = true;
      }
    }
  }
  for (; sm < spec.sm.count; sm += 2) {
    groups.push_back({sm});
    if (sm + 1 < spec.sm.count) groups.back().push_back(sm + 1);
  }
  return groups;
}

std::uint64_t max_active_clusters(const spec::GpuSpec& spec, std::uint32_t blocks_per_sm,
                                  std::uint32_t cluster_blocks) {
  std::uint64_t clusters = 0;
  const std::uint64_t each = std::min(blocks_per_sm, spec.cluster.blocks);
  for (const auto& group : cluster_groups(spec)) {
    if (group.size() >= cluster_blocks) clusters += group.size() * each / cluster_blocks;
  }
  return clusters;
}

}  // namespace foretrace::rules
