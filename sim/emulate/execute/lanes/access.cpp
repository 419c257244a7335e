// Addresses of a warp's lanes, and the movement of their words to and from one piece of host memory.
//
// Models:  address arithmetic modulo 2^64; loads and stores of 32-bit words, in ascending order of lanes.
// Compiled once for each vector instruction set: see vector.h.
#include "sim/emulate/execute/lanes/vector.h"

namespace foretrace::emulate::FORETRACE_LANES {

namespace {

void addresses(const u32* low, const u32* high, int shift, u64 add, u64 keep, u64* out) {
  if (high != nullptr) {
    FORETRACE_LANE_LOOP out[l] = ((low[l] | u64{high[l]} << 32) + add) & keep;
  } else {
    FORETRACE_LANE_LOOP out[l] = ((low[l] << shift) + add) & keep;
  }
}

AddressRange range(const u64* a, u32 mask) {
  if (mask == 0) return {0, 0, 0};
  const u64 first = a[__builtin_ctz(mask)];
  // Addresses are below 2^63, so signed comparison orders them; what is not is caught by the caller's bounds check.
  s64 least = static_cast<s64>(first), greatest = static_cast<s64>(first);
  u64 bits = 0;
  if (mask == ~0u) {
    for (int l = 0; l < 32; ++l) {
      const s64 x = static_cast<s64>(a[l]);
      least = x < least ? x : least;
      greatest = x > greatest ? x : greatest;
      bits |= a[l];
    }
  } else {
    for (int l = 0; l < 32; ++l) {
      const s64 x = static_cast<s64>((mask >> l & 1) != 0 ? a[l] : first);
      least = x < least ? x : least;
      greatest = x > greatest ? x : greatest;
      bits |= static_cast<u64>(x);
    }
  }
  return {static_cast<u64>(least), static_cast<u64>(greatest), bits};
}

/// Lane l's address is the first lane's plus 4 l.
bool consecutive(const u64* a) {
  u64 wrong = 0;
  for (int l = 0; l < 32; ++l) wrong |= a[l] ^ (a[0] + 4 * static_cast<u64>(l));
  return wrong == 0;
}

void load_words(u32* to, const void* memory, const u64* a, u64 least, u64 span, u32 mask) {
  const auto* bytes = static_cast<const u8*>(memory);
  if (mask == ~0u && span == 124 && consecutive(a)) {
    __builtin_memcpy(to, bytes, 128);
    return;
  }
  if (mask == ~0u && span == 0) {
    u32 x;
    __builtin_memcpy(&x, bytes, 4);
    for (int l = 0; l < 32; ++l) to[l] = x;
    return;
  }
  if (mask == ~0u && span < (u64{1} << 31)) {
    alignas(64) s32 at[32];
    for (int l = 0; l < 32; ++l) at[l] = static_cast<s32>(a[l] - least);
    for (int i = 0; i < 4; ++i) {
      const __m256i index = _mm256_load_si256(reinterpret_cast<const __m256i*>(at + 8 * i));
      const __m256i x = _mm256_i32gather_epi32(reinterpret_cast<const int*>(bytes), index, 1);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 8 * i), x);
    }
    return;
  }
  for (u32 m = mask; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    __builtin_memcpy(to + l, bytes + (a[l] - least), 4);
  }
}

void store_words(const u32* from, void* memory, const u64* a, u64 least, u64 span, u32 mask) {
  auto* bytes = static_cast<u8*>(memory);
  if (mask == ~0u && span == 124 && consecutive(a)) {
    __builtin_memcpy(bytes, from, 128);
    return;
  }
  for (u32 m = mask; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    __builtin_memcpy(bytes + (a[l] - least), from + l, 4);
  }
}

}  // namespace

void fill_access(LaneTable& table) {
  table.addresses = addresses;
  table.range = range;
  table.load_words = load_words;
  table.store_words = store_words;
}

}  // namespace foretrace::emulate::FORETRACE_LANES
