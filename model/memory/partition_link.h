// The link between the two partitions of L2, a path each way.
//
// Models:  width and latency.
// Source:  values in configs/ under network.partition_*.
// Time:    L2 cycles.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/port.h"
#include "model/memory/shared.h"

namespace foretrace::memory {

class PartitionLink {
 public:
  explicit PartitionLink(Shared& shared)
      : shared_(shared),
        link_(shared.spec.l2.partitions > 1 ? 2 : 0, Port(shared.spec.network.partition_bytes)) {}

  /// So many sectors leave partition `from`: the cycle in which they are in the other one.
  std::uint64_t cross(bool from, std::uint32_t sectors) {
    shared_.counters.partition_sectors += sectors;
    return link_[from].pass(shared_.now, sectors * kSectorBytes) + latency();
  }
  /// Of what brings no data.
  std::uint32_t latency() const { return shared_.spec.network.partition_latency; }
  void restart() {
    for (Port& link : link_) link.reset();
  }

 private:
  Shared& shared_;
  std::vector<Port> link_;  // by the partition it leaves
};

}  // namespace foretrace::memory
