// Single-precision arithmetic and comparison, 32 lanes at a time.
//
// Models:  IEEE 754 with one rounding each, NaN results 0x7fffffff, .FTZ, .FMZ, .SAT, directed rounding.
//          .FTZ flushes what would be below the least normal number if exponents had no end (docs/vectors.md).
// Compiled once for each vector instruction set: see vector.h.
#include "sim/emulate/execute/lanes/vector.h"

namespace foretrace::emulate::FORETRACE_LANES {

namespace {

constexpr u32 kNanBits = 0x7fffffff;
constexpr u32 kMagnitude = 0x7fffffff;
constexpr u32 kInfinity = 0x7f800000;

struct FloatReader {
  const u32* x;
  u32 and_mask, xor_mask;
  [[gnu::always_inline]] float operator[](int l) const { return as<float>((x[l] & and_mask) ^ xor_mask); }
};
struct PlainFloatReader {
  const u32* x;
  [[gnu::always_inline]] float operator[](int l) const { return as<float>(x[l]); }
};
inline FloatReader floats(const LaneFrame& f, const Source& s) {
  return {words(f, s), s.and_mask, s.xor_mask};
}
inline PlainFloatReader plain_floats(const LaneFrame& f, const Source& s) { return {words(f, s)}; }

[[gnu::always_inline]] inline u32 finished(float x) { return x != x ? kNanBits : as<u32>(x); }

[[gnu::always_inline]] inline float flushed(float x, bool flush) {
  const u32 bits = as<u32>(x);
  const bool subnormal = (bits & kInfinity) == 0;
  return flush && subnormal ? as<float>(bits & ~kMagnitude) : x;
}
/// What .FTZ and .SAT make of a result.
[[gnu::always_inline]] inline u32 finished(float x, u32 flags) {
  const u32 bits = finished(flushed(x, (flags & kFlush) != 0));
  if ((flags & kSaturate) == 0) return bits;
  return x > 1.0f ? 0x3f800000u : x > 0.0f ? bits : 0u;
}

constexpr u32 kLeastNormal = 0x00800000;

/// Whether x * y + z, rounded as if exponents had no end, is below the least normal number; asked only where the rounded result r
/// is that number. `nearest`: else the rounding is away from zero, since no other gives it.
inline bool is_tiny(float x, float y, float z, u32 r, bool nearest) {
  // Less than half a unit of the binade below, or at most a whole unit, is missing to 2^-126.
  const double limit = nearest ? 0x1p-126 - 0x1p-151 : 0x1p-126 - 0x1p-150;
  const double p = static_cast<double>(x) * y, w = z;  // p is exact
  // sign * (p + w) < limit, without rounding: where z is large, p + w cancels so far that it is exact; else limit -+ w is.
  const bool negative = (r >> 31) != 0;
  const double q = negative ? -p : p, v = negative ? -w : w;
  const bool large = __builtin_fabsf(z) >= 0x1p-120f;
  const double left = large ? q + v : q, right = large ? limit : limit - v;
  return nearest ? left < right : left <= right;
}
/// The lanes of x * y + z whose result .FTZ makes 0 although it rounds to the least normal number.
template <class X, class Y, class Z>
[[gnu::always_inline]] inline u32 tiny_lanes(u32 mask, u32 flags, X x, Y y, Z z) {
  const u32 least = mask & lanes_where([=](int l) {
                      return (as<u32>(__builtin_fmaf(x(l), y(l), z(l))) & kMagnitude) == kLeastNormal;
                    });
  u32 tiny = 0;
  for (u32 m = least; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const u32 r = as<u32>(__builtin_fmaf(x(l), y(l), z(l)));
    if (is_tiny(x(l), y(l), z(l), r, (flags >> kRoundingShift & 3) == 0)) tiny |= 1u << l;
  }
  return tiny;
}

void fadd(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  if (op.plain) {
    const PlainFloatReader a = plain_floats(f, op.a), b = plain_floats(f, op.b);
    write(d, mask, [=](int l) { return finished(a[l] + b[l]); });
  } else {
    const FloatReader a = floats(f, op.a), b = floats(f, op.b);
    write(d, mask, [=](int l) { return finished(a[l] + b[l]); });
  }
}

void fmul(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  if (op.plain) {
    const PlainFloatReader a = plain_floats(f, op.a), b = plain_floats(f, op.b);
    write(d, mask, [=](int l) { return finished(a[l] * b[l]); });
  } else {
    const FloatReader a = floats(f, op.a), b = floats(f, op.b);
    write(d, mask, [=](int l) { return finished(a[l] * b[l]); });
  }
}

void ffma(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  if (op.plain) {
    const PlainFloatReader a = plain_floats(f, op.a), b = plain_floats(f, op.b), c = plain_floats(f, op.c);
    write(d, mask, [=](int l) { return finished(__builtin_fmaf(a[l], b[l], c[l])); });
  } else {
    const FloatReader a = floats(f, op.a), b = floats(f, op.b), c = floats(f, op.c);
    write(d, mask, [=](int l) { return finished(__builtin_fmaf(a[l], b[l], c[l])); });
  }
}

void fadd_general(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  const FloatReader a = floats(f, op.a), b = floats(f, op.b);
  const u32 flags = op.flags;
  const bool flush = (flags & kFlush) != 0;
  rounded(flags, [=] {
    write(d, mask, [=](int l) { return finished(flushed(a[l], flush) + flushed(b[l], flush), flags); });
  });
}

void fmul_general(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  const FloatReader a = floats(f, op.a), b = floats(f, op.b);
  const u32 flags = op.flags;
  const bool flush = (flags & kFlush) != 0, zero_wins = (flags & kZeroWins) != 0;
  rounded(flags, [=] {
    const auto left = [=](int l) { return flushed(a[l], flush); };
    const auto right = [=](int l) { return flushed(b[l], flush); };
    // x * y - 0 is x * y, of either sign.
    const auto none = [=](int l) { return as<float>(~(as<u32>(left(l)) ^ as<u32>(right(l))) & 0x80000000u); };
    const u32 tiny = flush ? tiny_lanes(mask, flags, left, right, none) : 0;
    write(d, mask, [=](int l) {
      const float x = left(l), y = right(l);
      const float product = x * y;
      const u32 r = finished((tiny >> l & 1) != 0 ? product * 0.0f : product, flags);
      return zero_wins && (x == 0.0f || y == 0.0f) ? 0u : r;
    });
  });
}

void fmul_scaled(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  const FloatReader a = floats(f, op.a), b = floats(f, op.b);
  const u32 flags = op.flags;
  const bool flush = (flags & kFlush) != 0, zero_wins = (flags & kZeroWins) != 0;
  const float factor = as<float>(static_cast<u32>(op.immediate));
  rounded(flags, [=] {
    write(d, mask, [=](int l) {
      const float x = flushed(a[l], flush), y = flushed(b[l], flush);
      const u32 r = finished(flushed(x * y, flush) * factor, flags);
      return zero_wins && (x == 0.0f || y == 0.0f) ? 0u : r;
    });
  });
}

void ffma_general(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  const FloatReader a = floats(f, op.a), b = floats(f, op.b), c = floats(f, op.c);
  const u32 flags = op.flags;
  const bool flush = (flags & kFlush) != 0, zero_wins = (flags & kZeroWins) != 0;
  rounded(flags, [=] {
    const auto zero = [=](int l) {
      return zero_wins && (flushed(a[l], flush) == 0.0f || flushed(b[l], flush) == 0.0f);
    };
    const auto x = [=](int l) { return zero(l) ? 0.0f : flushed(a[l], flush); };
    const auto y = [=](int l) { return zero(l) ? 0.0f : flushed(b[l], flush); };
    const auto z = [=](int l) { return flushed(c[l], flush); };
    const u32 tiny = flush ? tiny_lanes(mask, flags, x, y, z) : 0;
    write(d, mask, [=](int l) {
      const float r = __builtin_fmaf(x(l), y(l), z(l));
      return finished((tiny >> l & 1) != 0 ? r * 0.0f : r, flags);
    });
  });
}

/// Floats in their order as signed integers, -0 before +0.
[[gnu::always_inline]] inline s32 order(u32 bits) {
  return static_cast<s32>(bits ^ (static_cast<u32>(static_cast<s32>(bits) >> 31) & kMagnitude));
}
[[gnu::always_inline]] inline bool is_nan(u32 bits) { return (bits & kMagnitude) > kInfinity; }

/// p_in true: the lesser. A NaN operand loses, unless .NAN.
void fmnmx(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const FloatReader a = floats(f, op.a), b = floats(f, op.b);
  const u32 least = value_of(f, op.p_in);
  const u32 flags = op.flags;
  const u32 *ra = words(f, op.a), *rb = words(f, op.b);
  write(result(f, op), mask, [=](int l) {
    const bool flush = (flags & kFlush) != 0;
    u32 x = as<u32>(flushed(a[l], flush)), y = as<u32>(flushed(b[l], flush));
    const u32 sign = (ra[l] ^ rb[l]) & 0x80000000u;
    if ((flags & kXorSign) != 0) {
      x &= kMagnitude;
      y &= kMagnitude;
    }
    const bool less = order(x) < order(y);
    u32 r = less == (((least >> l) & 1u) != 0) ? x : y;
    if (is_nan(x)) r = y;
    if (is_nan(y)) r = x;
    const bool nan = (flags & kNan) != 0 ? is_nan(x) || is_nan(y) : is_nan(x) && is_nan(y);
    if ((flags & kXorSign) != 0) r |= sign;
    return nan ? kNanBits : r;
  });
}

/// The lanes for which the comparison holds: code bits 1 less, 2 equal, 4 greater, 8 unordered.
[[gnu::always_inline]] inline u32 compared(const LaneFrame& f, const MicroOp& op) {
  const FloatReader a = floats(f, op.a), b = floats(f, op.b);
  const bool flush = (op.flags & kFlush) != 0;
  const u32 less = lanes_where([=](int l) { return flushed(a[l], flush) < flushed(b[l], flush); });
  const u32 equal = lanes_where([=](int l) { return flushed(a[l], flush) == flushed(b[l], flush); });
  const u32 greater = lanes_where([=](int l) { return flushed(a[l], flush) > flushed(b[l], flush); });
  return holds(op, less, equal, greater);
}

void fsetp(const LaneFrame& f, const MicroOp& op, u32 mask) { set_compared(f, op, mask, compared(f, op)); }

void fset(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const u32 x = compared(f, op), with = value_of(f, op.p_in);
  const u32 how = op.flags >> kCombineShift & 3;
  const u32 p = how == 0 ? x & with : how == 1 ? x | with : x ^ with;
  const u32 yes = (op.flags & kAllOnes) != 0 ? ~0u : 0x3f800000u;
  write(result(f, op), mask, [=](int l) { return (0u - ((p >> l) & 1u)) & yes; });
}

/// Passes the bits of a or b, with .FTZ flushed.
void fsel(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const FloatReader a = floats(f, op.a), b = floats(f, op.b);
  const u32 p = value_of(f, op.p_in);
  const bool flush = (op.flags & kFlush) != 0;
  write(result(f, op), mask,
        [=](int l) { return as<u32>(flushed(((p >> l) & 1u) != 0 ? a[l] : b[l], flush)); });
}

/// Whether a / b needs the slow path. True somewhat more often than need be is right: that path is a full division.
void fchk(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const FloatReader a = floats(f, op.a), b = floats(f, op.b);
  const u32 slow = lanes_where([=](int l) {
    const s32 ea = static_cast<s32>(as<u32>(a[l]) >> 23 & 0xff),
              eb = static_cast<s32>(as<u32>(b[l]) >> 23 & 0xff);
    const s32 e = ea - eb;
    return ea < 25 || ea > 253 || eb < 2 || eb > 251 || e > 124 || e < -124;
  });
  set_predicate(f, op.p_out, mask, slow);
}

}  // namespace

void fill_float32(LaneTable& table) {
#define FORETRACE_FLOAT32(name) table.op[static_cast<int>(LaneOp::name)] = name;
#include "sim/emulate/execute/lanes/lane_ops.def"
}

}  // namespace foretrace::emulate::FORETRACE_LANES
