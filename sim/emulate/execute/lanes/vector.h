// How lane code walks 32 lanes: plain loops that the compiler turns into vector code of the set it compiles for.
//
// Models:  reading a source with its modifiers, writing a result to the lanes of a mask, comparing into a lane mask.
// Note:    everything here lives in the namespace FORETRACE_LANES (lanes_avx2 or lanes_avx512) so that the two compilations
//          never share a function. No standard header with functions may be included from lane code.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "sim/emulate/execute/lanes/lane_table.h"
#include "sim/emulate/translate/micro_op.h"

#ifdef __clang__
#define FORETRACE_NO_ALIASING _Pragma("clang loop vectorize(assume_safety)")
#else
#define FORETRACE_NO_ALIASING _Pragma("GCC ivdep")
#endif
#define FORETRACE_LANE_LOOP FORETRACE_NO_ALIASING for (int l = 0; l < 32; ++l)

namespace foretrace::emulate::FORETRACE_LANES {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class To, class From>
[[gnu::always_inline]] inline To as(From x) {
  return __builtin_bit_cast(To, x);
}

/// A mask of lanes as one bit per lane.
[[gnu::always_inline]] inline u32 bit(u32 lanes, int l) { return (lanes >> l) & 1u; }

[[gnu::always_inline]] inline const u32* words(const LaneFrame& f, const Source& s) {
  return f.file[static_cast<int>(s.file)] + s.word;
}
[[gnu::always_inline]] inline u32* result(const LaneFrame& f, const MicroOp& op) {
  return f.file[static_cast<int>(op.destination_file)] + op.destination;
}

/// A source whose modifiers are applied when a lane is read.
struct Reader {
  const u32* x;
  u32 and_mask, xor_mask, add;
  [[gnu::always_inline]] u32 operator[](int l) const { return ((x[l] & and_mask) ^ xor_mask) + add; }
};
[[gnu::always_inline]] inline Reader reader(const LaneFrame& f, const Source& s) {
  return {words(f, s), s.and_mask, s.xor_mask, s.add};
}
/// A source that has no modifiers.
struct PlainReader {
  const u32* x;
  [[gnu::always_inline]] u32 operator[](int l) const { return x[l]; }
};
[[gnu::always_inline]] inline PlainReader plain(const LaneFrame& f, const Source& s) { return {words(f, s)}; }

/// A 64-bit integer source: -x and ~x are of all 64 bits.
struct WideReader {
  const u32* x;
  u64 xor_mask, add;
  [[gnu::always_inline]] u64 operator[](int l) const {
    return ((x[l] | static_cast<u64>(x[l + 32]) << 32) ^ xor_mask) + add;
  }
};
[[gnu::always_inline]] inline WideReader wide(const LaneFrame& f, const Source& s) {
  return {words(f, s), s.xor_mask != 0 ? ~u64{0} : 0, s.add};
}

/// A double: abs and neg act on the high word.
struct DoubleReader {
  const u32* x;
  u32 and_mask, xor_mask;
  [[gnu::always_inline]] double operator[](int l) const {
    return as<double>(x[l] | static_cast<u64>((x[l + 32] & and_mask) ^ xor_mask) << 32);
  }
};
[[gnu::always_inline]] inline DoubleReader doubles(const LaneFrame& f, const Source& s) {
  return {words(f, s), s.and_mask, s.xor_mask};
}

/// d[l] = value(l) in the lanes of the mask.
template <class Value>
[[gnu::always_inline]] inline void write(u32* d, u32 mask, Value value) {
  if (mask == ~0u) {
    FORETRACE_LANE_LOOP d[l] = value(l);
  } else {
    FORETRACE_LANE_LOOP {
      const u32 keep = ((mask >> l) & 1u) - 1u;
      const u32 v = value(l);
      d[l] = (d[l] & keep) | (v & ~keep);
    }
  }
}

/// The same for a 64-bit value in two vectors.
template <class Value>
[[gnu::always_inline]] inline void write_wide(u32* d, u32 mask, Value value) {
  if (mask == ~0u) {
    FORETRACE_LANE_LOOP {
      const u64 v = value(l);
      d[l] = static_cast<u32>(v);
      d[l + 32] = static_cast<u32>(v >> 32);
    }
  } else {
    FORETRACE_LANE_LOOP {
      const u32 keep = ((mask >> l) & 1u) - 1u;
      const u64 v = value(l);
      d[l] = (d[l] & keep) | (static_cast<u32>(v) & ~keep);
      d[l + 32] = (d[l + 32] & keep) | (static_cast<u32>(v >> 32) & ~keep);
    }
  }
}

/// Bit l of the result is bit 31 of t[l].
[[gnu::always_inline]] inline u32 sign_bits(const u32* t) {
#ifdef __AVX512DQ__
  const __mmask16 low = _mm512_movepi32_mask(_mm512_loadu_si512(t));
  const __mmask16 high = _mm512_movepi32_mask(_mm512_loadu_si512(t + 16));
  return static_cast<u32>(low) | static_cast<u32>(high) << 16;
#else
  u32 bits = 0;
  for (int i = 0; i < 4; ++i) {
    const auto part = static_cast<u32>(_mm256_movemask_ps(
        _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(t + 8 * i)))));
    bits |= part << (8 * i);
  }
  return bits;
#endif
}

/// The lanes for which the condition holds.
template <class Condition>
[[gnu::always_inline]] inline u32 lanes_where(Condition condition) {
  alignas(64) u32 t[32];
  FORETRACE_LANE_LOOP t[l] = condition(l) ? ~0u : 0u;
  return sign_bits(t);
}

[[gnu::always_inline]] inline u32 value_of(const LaneFrame& f, const PredicateSource& p) {
  return f.predicates[p.slot] ^ p.invert;
}
[[gnu::always_inline]] inline void set_predicate(const LaneFrame& f, u8 slot, u32 mask, u32 value) {
  f.predicates[slot] = (f.predicates[slot] & ~mask) | (value & mask);
}
/// Of the lanes that are less, equal and greater those for which a comparison of floats holds.
[[gnu::always_inline]] inline u32 holds(const MicroOp& op, u32 less, u32 equal, u32 greater) {
  const u32 code = op.flags >> kCompareShift & 15;
  u32 x = 0;
  if ((code & 1) != 0) x |= less;
  if ((code & 2) != 0) x |= equal;
  if ((code & 4) != 0) x |= greater;
  if ((code & 8) != 0) x |= ~(less | equal | greater);
  return x;
}
/// x, combined with the predicate as the comparison says.
[[gnu::always_inline]] inline u32 combined(const MicroOp& op, u32 x, u32 with) {
  const u32 how = op.flags >> kCombineShift & 3;
  return how == 0 ? x & with : how == 1 ? x | with : x ^ with;
}
/// P = x bool Pacc, Q = !x bool Pacc.
[[gnu::always_inline]] inline void set_compared(const LaneFrame& f, const MicroOp& op, u32 mask, u32 x) {
  const u32 with = value_of(f, op.p_in);
  set_predicate(f, op.p_out, mask, combined(op, x, with));
  set_predicate(f, op.q_out, mask, combined(op, ~x, with));
}

/// Runs a function with the processor's rounding set to bits kRoundingShift of the flags. What it computes must come from
/// memory and go to memory, which the barriers keep between the two changes.
template <class Body>
[[gnu::always_inline]] inline void rounded(u32 flags, Body body) {
  const u32 mode = (flags >> kRoundingShift) & 3;
  if (mode == 0) {
    body();
    return;
  }
  const u32 before = _mm_getcsr();
  _mm_setcsr((before & ~0x6000u) | mode << 13);  // 1 down, 2 up, 3 towards zero: the encoding is the same
  asm volatile("" ::: "memory");
  body();
  asm volatile("" ::: "memory");
  _mm_setcsr(before);
}

}  // namespace foretrace::emulate::FORETRACE_LANES
