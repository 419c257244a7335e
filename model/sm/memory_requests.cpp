#include "model/sm/memory_requests.h"

#include "model/rules/atomic_packets.h"

namespace foretrace::sm {

/// A flit of 32 bytes for the address, which has room for a lone word, and
/// one per sector; an answer takes a flit's time as well, and a compare-and-swap's words go twice (H100, atomic_forms).
void put_packets(memory::Request& request, const isa::MemoryForm& form, const work::LaneAddresses& addresses,
                 std::uint32_t executed) {
  const rules::AtomicPackets leaves = rules::atomic_packets(addresses, executed, form.bytes, request.line);
  const bool answers = form.access == isa::Access::atomic;
  const std::uint32_t lone = answers ? 2u * leaves.lone : leaves.lone;
  const std::uint32_t others = leaves.packets + leaves.visits - 2u * leaves.lone;
  request.packets = leaves.packets;
  request.visits = leaves.visits;
  request.lone = leaves.lone;
  request.data = form.data;
  request.flits =
      static_cast<std::uint8_t>(lone + others * (form.atomic == isa::AtomicKind::compare ? 2 : 1));
}

}  // namespace foretrace::sm
