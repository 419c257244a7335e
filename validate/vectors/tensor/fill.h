// The operands of a form: the same on the device's host and in the emulator's test.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}
inline std::uint32_t random_word(std::uint32_t seed, std::uint32_t index) {
  return static_cast<std::uint32_t>(mixed(std::uint64_t{seed} << 32 | index) >> 16);
}
constexpr std::uint32_t kSharedWords = 16384;

/// One operand word. Patterns: 0 any bits; 1 finite; 2 finite, three bytes or halves of four zero; 3 exponents close together (f16, bf16,
/// tf32; else as 1); 4 any bits.
inline std::uint32_t operand_word(std::uint32_t seed, std::uint32_t index, int pattern, std::uint32_t mask) {
  std::uint32_t x = random_word(seed, index);
  if (pattern == 0 || pattern == 4) return x;
  x &= mask;
  const bool bytes = mask == 0xbfbfbfbf;
  if (pattern == 2) {
    const std::uint32_t keep = random_word(seed + 1000, index);
    const int width = bytes ? 8 : mask == 0xbfffffff ? 32 : 16;
    for (int i = 0; i < 32; i += width) {
      const std::uint32_t part = (width == 32 ? ~0u : (1u << width) - 1) << i;
      if ((keep >> i & 3) != 0) x &= ~part;
    }
  }
  if (pattern == 3) {
    if (mask == 0xbfffbfff)
      x = (x & 0x83ff83ff) | 0x3c003c00;
    else if (mask == 0xbfffffff)
      x = (x & 0x83ffffff) | 0x3c000000;
    else
      x = (x & 0x87878787) | 0x38383838;
  }
  return x;
}
/// kind: 1 f32, 2 two halves, 3 s32.
inline std::uint32_t accumulator_word(std::uint32_t seed, std::uint32_t index, int pattern, int kind) {
  std::uint32_t x = random_word(seed, index);
  if (kind == 2) return pattern == 0 ? x : x & 0xbfffbfff;
  if (kind == 3) return pattern == 4 ? (x & 0x80000000) + 0x7ff80000 + (x & 0xfffff) : x;
  if (pattern == 0 && (x & 0xf00) == 0) return x;
  if (pattern == 2) return x & 0x807fffff;
  return (x & 0x807fffff) | (112 + (x >> 8 & 31)) << 23;
}
/// Pairs of ascending numbers of two bits; for 32-bit elements one of two.
inline std::uint32_t metadata_word(std::uint32_t seed, std::uint32_t index, bool words) {
  static const unsigned char kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  const std::uint32_t x = random_word(seed, index);
  std::uint32_t m = 0;
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t r = x >> 4 * i & 15;
    m |= static_cast<std::uint32_t>(words ? (r & 1 ? 0xe : 0x4) : kPairs[r % 6]) << 4 * i;
  }
  return m;
}
/// What a product kernel reads: shared memory, A's four registers, metadata, accumulators, 128 threads each.
inline std::vector<std::uint32_t> product_input(std::uint32_t seed, int registers, int pattern,
                                                std::uint32_t mask, int kind, bool words) {
  std::vector<std::uint32_t> in(17024 + 128 * static_cast<std::size_t>(registers));
  for (std::uint32_t i = 0; i < in.size(); ++i) {
    in[i] = i < 16896   ? operand_word(seed, i, pattern, mask)
            : i < 17024 ? metadata_word(seed, i, words)
                        : accumulator_word(seed, i, pattern, kind);
  }
  return in;
}
/// Bytes of a tensor: any, or (pattern 3) 32-bit words among which subnormals, ties of 10-bit mantissas and NaN are common.
inline std::uint32_t tensor_word(std::uint32_t seed, std::uint32_t index, int pattern) {
  std::uint32_t x = random_word(seed, index);
  if (pattern != 3) return x;
  switch (x & 7) {
    case 0: return x & 0x807fffff;
    case 1: return (x & 0xffffe000) | 0x1000;
    case 2: return x | 0x7f800000;
    case 3: return (x & 0x80000000) | 0x7f800000;
    case 4: return x & 0x83ff83ff;
    default: return x;
  }
}
inline std::uint64_t hash_words(const std::uint32_t* words, std::size_t count) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (std::size_t i = 0; i < count; ++i) h = (h ^ words[i]) * 0x100000001b3ull;
  return h;
}
