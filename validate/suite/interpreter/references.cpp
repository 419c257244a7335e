#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

unsigned ones_of(std::uint32_t value) {
  unsigned ones = 0;
  for (; value != 0; value &= value - 1) ++ones;
  return ones;
}

std::uint32_t reversed(std::uint32_t value) {
  std::uint32_t result = 0;
  for (int i = 0; i < 32; ++i, value >>= 1) result = result << 1 | (value & 1);
  return result;
}

void bytecode(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t length = count_of(arguments[3]);
  const std::size_t rounds = count_of(arguments[4]);
  const std::size_t n = count_of(arguments[5]);
  const auto* program = arguments[0].elements<std::uint32_t>(length);
  const auto* in = arguments[1].elements<std::uint32_t>(n);
  auto* out = arguments[2].elements<std::uint32_t>(n);
  for (std::size_t thread = 0; thread < n; ++thread) {
    std::uint32_t a = in[thread], b = static_cast<std::uint32_t>(thread), c = 0x9e3779b9u, d = 1;
    for (std::size_t at = 0; at < rounds * length; ++at) {
      const std::uint32_t instruction = program[at % length];
      const std::uint32_t immediate = instruction >> 8;
      switch (instruction & 15) {
        case 0: a += immediate; break;
        case 1: a *= immediate | 1u; break;
        case 2: a ^= b; break;
        case 3: b += a; break;
        case 4: b = b << 5 | b >> 27; break;
        case 5: c ^= a >> 3; break;
        case 6: c *= d | 1u; break;
        case 7: d += c ^ immediate; break;
        case 8: d = ones_of(a) + (d << 1); break;
        case 9: a = a > b ? a - b : b - a; break;
        case 10: b = reversed(b); break;
        case 11: c = (c & a) | (~c & b); break;
        case 12: d ^= d >> 7; break;
        case 13:
          a = static_cast<std::uint32_t>(std::uint64_t{a} * (c | 0x80000000u) >> 32) + immediate;
          break;
        case 14: b = std::min(b, c) + d; break;
        default: c = std::max(c, a) ^ immediate; break;
      }
    }
    out[thread] = a ^ b ^ c ^ d;
  }
}

const Registration kInterpreter{{"bytecode", bytecode}};

}  // namespace
}  // namespace foretrace::references
