#include "model/rules/atomic_packets.h"

#include <algorithm>
#include <bit>

namespace foretrace::rules {

AtomicPackets atomic_packets(const std::array<std::uint64_t, kWarpSize>& addresses, std::uint32_t executed,
                             std::uint32_t bytes, std::uint64_t line) {
  constexpr std::uint64_t kWordBytes = 4;
  std::array<std::uint8_t, kLineBytes / kWordBytes> lanes{};  // by the first word of what a lane works on
  for (std::uint32_t left = executed; left != 0; left &= left - 1) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(std::countr_zero(left))];
    if (address / kLineBytes == line)
      ++lanes[address % kLineBytes / std::max<std::uint64_t>(bytes, kWordBytes)];
  }
  const std::size_t words_a_sector = kSectorBytes / std::max<std::size_t>(bytes, kWordBytes);
  AtomicPackets result;
  std::uint8_t second = 0;  // lanes on the word that comes second
  for (std::size_t first = 0; first < words_a_sector * kSectorsPerLine; first += words_a_sector) {
    std::uint8_t visits = 0;
    for (std::size_t word = first; word < first + words_a_sector; ++word) {
      visits = std::max(visits, lanes[word]);
      second = std::max(second, std::min(result.packets, lanes[word]));
      result.packets = std::max(result.packets, lanes[word]);
    }
    result.visits = static_cast<std::uint8_t>(result.visits + visits);
  }
  result.lone = static_cast<std::uint8_t>(result.packets - second);
  return result;
}

}  // namespace foretrace::rules
