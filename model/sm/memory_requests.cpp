#include "model/sm/memory_requests.h"

#include <bit>

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

std::array<std::uint32_t, kSectorsPerLine> local_bytes(const MemoryOperation& operation,
                                                       std::uint8_t sectors) {
  std::array<std::uint32_t, kSectorsPerLine> bytes{};
  const std::uint32_t width = operation.instruction->form.bytes;
  const std::uint32_t word = width >= 4 ? 0xfu : (1u << width) - 1;
  for (std::uint32_t m = operation.executed; m; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    bytes[lane / 8] |= word << (lane % 8 * 4);
  }
  for (unsigned s = 0; s < kSectorsPerLine; ++s) {
    if (!(sectors >> s & 1)) bytes[s] = 0;
  }
  return bytes;
}

}  // namespace foretrace::sm
