// Packed half and bfloat16 arithmetic, 32 lanes of two.
//
// Models:  one rounding per lane, operand swizzles, .FTZ, .SAT, .RELU, NaN results 0x7fff. Addition is a*1+b and
//          multiplication a*b-0, which are the same to the last bit. HFMA2.OOB: fma.oob of the PTX ISA, whose special NaN is what
//          tensor copies fill with, 0x7ff7 of either sign in either format, as a factor; an addend of it is NaN as others are (an H200's
//          answers to 32,768 triples in four forms, validate/vectors/oob.cu).
// How:     a sum that a wider format cannot hold exactly is first rounded to odd there (its last bit set when inexact), after
//          which rounding to the narrow format gives what one rounding would have given.
// Compiled once for each vector instruction set: see vector.h.
#include "sim/emulate/execute/lanes/vector.h"

namespace foretrace::emulate::FORETRACE_LANES {

namespace {

constexpr u32 kOutsideNan = 0x7ff7;

/// One half of each lane's word, after swizzle and sign modifiers.
struct HalfReader {
  const u32* x;
  u32 and_mask, xor_mask, shift;
  [[gnu::always_inline]] u32 operator[](int l) const {
    return (((x[l] & and_mask) ^ xor_mask) >> shift) & 0xffff;
  }
};
inline HalfReader half(const LaneFrame& f, const Source& s, int part) {
  const bool high = s.swizzle == 2 || (s.swizzle == 0 && part == 1);
  return {words(f, s), s.and_mask, s.xor_mask, high ? 16u : 0u};
}

[[gnu::always_inline]] inline float from_half(u32 h, bool flush) {
  const u32 magnitude = h & 0x7fff, sign = (h & 0x8000) << 16;
  if (flush && magnitude < 0x400) return as<float>(sign);
  // The exponent's bias differs by 112; as a multiplication this also makes subnormals right.
  const float scaled = as<float>(magnitude << 13) * 0x1p112f;
  const u32 bits = magnitude >= 0x7c00 ? 0x7f800000u | (magnitude & 0x3ff) << 13 : as<u32>(scaled);
  return as<float>(bits | sign);
}
[[gnu::always_inline]] inline float from_bfloat(u32 h) { return as<float>(h << 16); }
[[gnu::always_inline]] inline float widened(u32 h, u32 flags) {
  return (flags & kBfloat) != 0 ? from_bfloat(h) : from_half(h, (flags & kFlush) != 0);
}

/// a * b + c with a * b exact in single precision, the sum rounded to odd.
[[gnu::always_inline]] inline float odd_fma(float a, float b, float c) {
  const float p = a * b, s = p + c;
  const float t = s - p, error = (p - (s - t)) + (c - t);
  const u32 bits = as<u32>(s);
  const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
  const bool too_large = (error < 0.0f) != (s < 0.0f);
  const u32 odd = (too_large ? bits - 1 : bits) | 1;
  return finite && error != 0.0f ? as<float>(odd) : s;
}
/// The same for bfloat16, whose products single precision cannot hold: through double, then to odd in single.
[[gnu::always_inline]] inline float odd_fma_wide(float a, float b, float c) {
  const double x = a, y = b, z = c;
  const double p = x * y, s = p + z;
  const double t = s - p, error = (p - (s - t)) + (z - t);
  const u64 bits = as<u64>(s);
  const bool finite = (bits & 0x7ff0000000000000u) != 0x7ff0000000000000u;
  const bool too_large = (error < 0.0) != (s < 0.0);
  const double odd = finite && error != 0.0 ? as<double>((too_large ? bits - 1 : bits) | 1) : s;
  const float n = static_cast<float>(odd);
  const double rest = odd - static_cast<double>(n);
  const u32 nbits = as<u32>(n);
  if (!finite) return n;
  if ((nbits & 0x7fffffffu) == 0x7f800000u) return as<float>((nbits & 0x80000000u) | 0x7f7fffffu);
  if (rest == 0.0) return n;
  const bool above = (rest < 0.0) != ((nbits & 0x80000000u) != 0);
  return as<float>((above && (nbits & 0x7fffffffu) != 0 ? nbits - 1 : nbits) | 1);
}

/// 32 floats to halves, nearest even.
inline void to_halves(const float* x, u16* h) {
  for (int i = 0; i < 4; ++i) {
    const __m128i packed =
        _mm256_cvtps_ph(_mm256_loadu_ps(x + 8 * i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(h + 8 * i), packed);
  }
}
[[gnu::always_inline]] inline u32 to_bfloat(float x) {
  const u32 bits = as<u32>(x);
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/// Rounds one half of all lanes and applies .FTZ, .SAT, .RELU.
inline void finish(const float* x, u32 flags, u32* out) {
  alignas(64) u16 h[32];
  if ((flags & kBfloat) == 0) to_halves(x, h);
  const u32 infinity = (flags & kBfloat) != 0 ? 0x7f80 : 0x7c00;
  const u32 least_normal = 0x387ff000;  // of halves, as a float: 2^-14 less half a unit of the binade below
  const u32 one = (flags & kBfloat) != 0 ? 0x3f80 : 0x3c00;
  for (int l = 0; l < 32; ++l) {
    u32 r = (flags & kBfloat) != 0 ? to_bfloat(x[l]) : h[l];
    if (x[l] != x[l] || (r & 0x7fff) > infinity) r = 0x7fff;
    // What would be below the least normal number if exponents had no end is flushed (docs/vectors.md).
    if ((flags & kFlush) != 0 && (as<u32>(x[l]) & 0x7fffffff) < least_normal) r &= 0x8000;
    if ((flags & kSaturate) != 0) {
      if (r == 0x7fff || (r & 0x8000) != 0) {
        r = 0;
      } else if (r > one) {
        r = one;
      }
    }
    if ((flags & kRelu) != 0 && r != 0x7fff && (r & 0x8000) != 0) r = 0;
    out[l] = r;
  }
}

void hfma2(const LaneFrame& f, const MicroOp& op, u32 mask) {
  alignas(64) u32 halves[2][32];
  const u32 flags = op.flags;
  for (int part = 0; part < 2; ++part) {
    const HalfReader a = half(f, op.a, part), b = half(f, op.b, part), c = half(f, op.c, part);
    alignas(64) float x[32];
    if ((flags & kBfloat) != 0) {
      FORETRACE_LANE_LOOP x[l] = odd_fma_wide(from_bfloat(a[l]), from_bfloat(b[l]), from_bfloat(c[l]));
    } else {
      const bool flush = (flags & kFlush) != 0;
      const bool zero_wins = (flags & kZeroWins) != 0;
      FORETRACE_LANE_LOOP {
        const float m = from_half(a[l], flush), n = from_half(b[l], flush);
        const bool zero = zero_wins && (m == 0.0f || n == 0.0f);
        x[l] = odd_fma(zero ? 0.0f : m, zero ? 0.0f : n, from_half(c[l], flush));
      }
    }
    finish(x, flags, halves[part]);
  }
  write(result(f, op), mask, [&](int l) { return halves[0][l] | halves[1][l] << 16; });
}

/// 0 in each half where a factor is NaN for what lies outside a tensor.
void hfma2_oob(const LaneFrame& f, const MicroOp& op, u32 mask) {
  alignas(64) u32 inside[32] = {};
  for (int part = 0; part < 2; ++part) {
    const HalfReader a = half(f, op.a, part), b = half(f, op.b, part);
    FORETRACE_LANE_LOOP {
      const bool outside = (a[l] & 0x7fff) == kOutsideNan || (b[l] & 0x7fff) == kOutsideNan;
      inside[l] |= (outside ? 0u : 0xffffu) << 16 * part;
    }
  }
  hfma2(f, op, mask);
  const u32* sums = result(f, op);
  write(result(f, op), mask, [&](int l) { return sums[l] & inside[l]; });
}

/// The low halves' sum as a single-precision number.
void hadd2_f32(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const HalfReader a = half(f, op.a, 0), b = half(f, op.b, 0);
  const u32 flags = op.flags;
  write(result(f, op), mask, [=](int l) {
    const float x = widened(a[l], flags) + widened(b[l], flags);
    return x != x ? 0x7fffffffu : as<u32>(x);
  });
}

/// The lesser of two halves, or the greater.
inline u32 chosen_half(u32 x, u32 y, u32 flags, bool least) {
  const u32 infinity = (flags & kBfloat) != 0 ? 0x7f80 : 0x7c00;
  const bool x_nan = (x & 0x7fff) > infinity, y_nan = (y & 0x7fff) > infinity;
  if ((x_nan && y_nan) || ((flags & kNan) != 0 && (x_nan || y_nan))) return 0x7fff;
  if (x_nan) return y;
  if (y_nan) return x;
  const s32 ox = (x & 0x8000) != 0 ? -1 - static_cast<s32>(x & 0x7fff) : static_cast<s32>(x);
  const s32 oy = (y & 0x8000) != 0 ? -1 - static_cast<s32>(y & 0x7fff) : static_cast<s32>(y);
  return (ox < oy) == least ? x : y;
}
inline u32 flushed_half(u32 x, u32 flags) {
  return (flags & kFlush) != 0 && (x & 0x7fff) < 0x400 ? x & 0x8000 : x;
}

/// Of three: as two HMNMX2, one after the other, which the compiler makes one of.
void vhmnmx(const LaneFrame& f, const MicroOp& op, u32 mask) {
  alignas(64) u32 halves[2][32];
  const u32 flags = op.flags, least = value_of(f, op.p_in);
  for (int part = 0; part < 2; ++part) {
    const HalfReader a = half(f, op.a, part), b = half(f, op.b, part), c = half(f, op.c, part);
    for (int l = 0; l < 32; ++l) {
      const bool less = (least >> l & 1) != 0;
      const u32 two = chosen_half(flushed_half(a[l], flags), flushed_half(b[l], flags), flags, less);
      halves[part][l] = chosen_half(two, flushed_half(c[l], flags), flags, less);
    }
  }
  write(result(f, op), mask, [&](int l) { return halves[0][l] | halves[1][l] << 16; });
}

void hmnmx2(const LaneFrame& f, const MicroOp& op, u32 mask) {
  alignas(64) u32 halves[2][32];
  const u32 flags = op.flags, least = value_of(f, op.p_in);
  for (int part = 0; part < 2; ++part) {
    const HalfReader a = half(f, op.a, part), b = half(f, op.b, part);
    // .XORSIGN takes the signs from before |x|.
    const HalfReader raw_a{a.x, ~0u, 0, a.shift}, raw_b{b.x, ~0u, 0, b.shift};
    for (int l = 0; l < 32; ++l) {
      u32 x = flushed_half(a[l], flags), y = flushed_half(b[l], flags);
      const u32 sign = (raw_a[l] ^ raw_b[l]) & 0x8000;
      if ((flags & kXorSign) != 0) {
        x &= 0x7fff;
        y &= 0x7fff;
      }
      const u32 r = chosen_half(x, y, flags, (least >> l & 1) != 0);
      halves[part][l] = (flags & kXorSign) != 0 && r != 0x7fff ? r | sign : r;
    }
  }
  write(result(f, op), mask, [&](int l) { return halves[0][l] | halves[1][l] << 16; });
}

/// The comparison of one half, combined with the predicate.
inline u32 compared(const LaneFrame& f, const MicroOp& op, int part) {
  const HalfReader a = half(f, op.a, part), b = half(f, op.b, part);
  const u32 flags = op.flags;
  const u32 less = lanes_where([=](int l) { return widened(a[l], flags) < widened(b[l], flags); });
  const u32 equal = lanes_where([=](int l) { return widened(a[l], flags) == widened(b[l], flags); });
  const u32 greater = lanes_where([=](int l) { return widened(a[l], flags) > widened(b[l], flags); });
  return holds(op, less, equal, greater);
}

void hset2(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const u32 with = value_of(f, op.p_in);
  const u32 low = combined(op, compared(f, op, 0), with), high = combined(op, compared(f, op, 1), with);
  const u32 yes = (op.flags & kAllOnes) != 0 ? 0xffff : (op.flags & kBfloat) != 0 ? 0x3f80 : 0x3c00;
  write(result(f, op), mask, [=](int l) { return (low >> l & 1) * yes | ((high >> l & 1) * yes) << 16; });
}

/// P and Q: the low and the high half's answer; .H_AND: both, and not both.
void hsetp2(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const u32 with = value_of(f, op.p_in);
  const u32 low = compared(f, op, 0), high = compared(f, op, 1);
  if ((op.flags & kBothHalves) != 0) {
    set_predicate(f, op.p_out, mask, combined(op, low & high, with));
    set_predicate(f, op.q_out, mask, combined(op, ~(low & high), with));
  } else {
    set_predicate(f, op.p_out, mask, combined(op, low, with));
    set_predicate(f, op.q_out, mask, combined(op, high, with));
  }
}

}  // namespace

void fill_half(LaneTable& table) {
#define FORETRACE_HALF(name) table.op[static_cast<int>(LaneOp::name)] = name;
#include "sim/emulate/execute/lanes/lane_ops.def"
}

}  // namespace foretrace::emulate::FORETRACE_LANES
