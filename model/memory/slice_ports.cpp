#include "model/memory/slice_ports.h"

#include <algorithm>
#include <cmath>

namespace foretrace::memory {

namespace {
std::uint32_t bytes_of(double cycles, const spec::L2Spec& l2) {
  return static_cast<std::uint32_t>(std::lround(cycles * l2.slice_bytes));
}
}  // namespace

SlicePorts::SlicePorts(Shared& shared)
    : shared_(shared), atomic_pass_bytes_(bytes_of(shared.spec.l2.atomic_pass_interval, shared.spec.l2)),
      read_pass_bytes_(bytes_of(shared.spec.l2.read_pass_interval, shared.spec.l2)),
      completion_bytes_(bytes_of(shared.spec.l2.completion_interval, shared.spec.l2)),
      port_(shared.spec.l2.slices, Port(shared.spec.l2.slice_bytes)),
      writes_(shared.spec.l2.slices, Port(shared.spec.l2.slice_bytes)), tags_(shared.spec.l2.slices, Port(1)),
      bytes_(shared.spec.l2.slices), last_atomics_(shared.spec.l2.slices),
      partial_writes_(shared.spec.l2.slices),
      line_turns_(shared.spec.l2.slices, LineTurns(shared.spec.l2.slice_bytes)) {
  const spec::L2Spec& l2 = shared.spec.l2;
  for (std::uint32_t flits = 0; flits < kWriteFlits; ++flits)
    write_bytes_[flits] = static_cast<std::uint32_t>(flits * kSectorBytes * l2.write_cost);
}

void SlicePorts::restart() {
  for (Port& port : port_) port.reset();
  for (Port& port : tags_) port.reset();
  for (Port& port : writes_) port.reset();
  std::fill(bytes_.begin(), bytes_.end(), 0);
  std::fill(last_atomics_.begin(), last_atomics_.end(), LastAtomics{});
  std::fill(partial_writes_.begin(), partial_writes_.end(), PartialWrites{});
  for (LineTurns& turns : line_turns_) turns.restart();
}

void SlicePorts::count(stats::MemoryCounters& counters) const {
  counters.l2_busiest_slice = *std::max_element(bytes_.begin(), bytes_.end()) / shared_.spec.l2.slice_bytes;
}

}  // namespace foretrace::memory
