#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// Bit by bit, where the kernel goes by a table.
void crc32(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t count = count_of(arguments[2]);
  const std::size_t words = count_of(arguments[3]);
  const auto* messages = arguments[0].elements<std::uint32_t>(count * words);
  auto* sums = arguments[1].elements<std::uint32_t>(count);
  for (std::size_t message = 0; message < count; ++message) {
    std::uint32_t sum = 0xffffffffu;
    for (std::size_t i = 0; i < words; ++i) {
      sum ^= messages[i * count + message];
      for (int bit = 0; bit < 32; ++bit) sum = (sum & 1) != 0 ? sum >> 1 ^ 0xedb88320u : sum >> 1;
    }
    sums[message] = ~sum;
  }
}

void xorshift(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[3]);
  const std::size_t rounds = count_of(arguments[4]);
  const auto* seeds = arguments[0].elements<std::uint64_t>(n);
  auto* ends = arguments[1].elements<std::uint64_t>(n);
  auto* ones = arguments[2].elements<std::uint32_t>(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t state = seeds[i] | 1;
    std::uint32_t count = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      state ^= state >> 12;
      state ^= state << 25;
      state ^= state >> 27;
      std::uint64_t number = state * 0x2545f4914f6cdd1du;
      number -= number >> 1 & 0x5555555555555555u;
      number = (number & 0x3333333333333333u) + (number >> 2 & 0x3333333333333333u);
      number = (number + (number >> 4)) & 0x0f0f0f0f0f0f0f0fu;
      count += static_cast<std::uint32_t>(number * 0x0101010101010101u >> 56);
    }
    ends[i] = state;
    ones[i] = count;
  }
}

const Registration kIntegerMix{{"crc32", crc32}, {"xorshift", xorshift}};

}  // namespace
}  // namespace foretrace::references
