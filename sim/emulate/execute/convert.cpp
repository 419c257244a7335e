// Conversions between number formats, and the multifunction unit.
//
// Models:  conversions (docs/facts.md), and NaNs as an H100 converts them (docs/vectors.md). The unit's functions are in special_functions.h;
//          those of halves are taken from single precision and rounded.
#include "sim/emulate/execute/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/emulate/execute/lanes/lane_table.h"
#include "sim/emulate/execute/number.h"

namespace foretrace::emulate {

namespace {

const std::uint32_t* words(const LaneFrame& f, const Source& s) {
  return f.file[static_cast<int>(s.file)] + s.word;
}
std::uint32_t* result(const LaneFrame& f, const MicroOp& op) {
  return f.file[static_cast<int>(op.destination_file)] + op.destination;
}
Rounding rounding(const MicroOp& op) { return static_cast<Rounding>(op.flags >> kRoundingShift & 3); }

/// The operand's bits with abs and neg applied, in its own format.
std::uint64_t operand(const LaneFrame& f, const Source& s, Format format, int l) {
  const std::uint32_t* x = words(f, s);
  if (format == Format::f64) { return x[l] | std::uint64_t{(x[l + 32] & s.and_mask) ^ s.xor_mask} << 32; }
  const std::uint32_t v = (x[l] & s.and_mask) ^ s.xor_mask;
  if (format == Format::f32) return v;
  return (s.swizzle == 2 ? v >> 16 : v) & 0xffff;
}

void put(const LaneFrame& f, const MicroOp& op, bool wide, int l, std::uint64_t v) {
  std::uint32_t* d = result(f, op);
  d[l] = static_cast<std::uint32_t>(v);
  if (wide) d[l + 32] = static_cast<std::uint32_t>(v >> 32);
}

std::uint64_t flushed(Format format, std::uint64_t bits, bool flush) {
  if (!flush || format != Format::f32) return bits;
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

/// A NaN of another format: sign, and as much of the payload as there is room for, quieted.
std::uint64_t converted_nan(Format from, std::uint64_t bits, Format to) {
  struct Shape {
    int width, fraction;
  };
  constexpr Shape kShapes[] = {{32, 23}, {64, 52}, {16, 10}, {16, 7}};  // in the order of Format
  const Shape a = kShapes[static_cast<int>(from)], b = kShapes[static_cast<int>(to)];
  const std::uint64_t sign = bits >> (a.width - 1) & 1;
  const std::uint64_t payload = bits & ((std::uint64_t{1} << a.fraction) - 1);
  const std::uint64_t kept =
      b.fraction >= a.fraction ? payload << (b.fraction - a.fraction) : payload >> (a.fraction - b.fraction);
  const std::uint64_t exponent = (std::uint64_t{1} << (b.width - 1)) - (std::uint64_t{1} << b.fraction);
  return sign << (b.width - 1) | exponent | kept | std::uint64_t{1} << (b.fraction - 1);
}

}  // namespace

void convert_integer_to_float(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const Conversion c = conversion_of(op.index2);
  const auto format = static_cast<Format>(c.to);
  const std::uint32_t* x = words(f, op.a);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    std::uint64_t v = x[l] >> (8 * c.part);
    if (c.width == 64) { v = x[l] | std::uint64_t{x[l + 32]} << 32; }
    if (c.width < 64) {
      v &= (std::uint64_t{1} << c.width) - 1;
      const std::uint64_t top = std::uint64_t{1} << (c.width - 1);
      if (c.is_signed) v = (v ^ top) - top;
    }
    Number n = from_integer(v, c.is_signed);
    if (op.a.xor_mask != 0 && n.significand != 0) n.negative = !n.negative;
    put(f, op, format == Format::f64, l, pack(format, n, rounding(op)));
  }
}

void convert_float_to_integer(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const Conversion c = conversion_of(op.index2);
  const auto format = static_cast<Format>(c.from);
  const bool nan_is_zero = (op.flags & kNan) != 0;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint64_t bits = flushed(format, operand(f, op.a, format, l), (op.flags & kFlush) != 0);
    std::uint64_t v = to_integer(unpack(format, bits), rounding(op), c.width, c.is_signed, nan_is_zero);
    if (c.is_signed && c.width < 32) {
      const std::uint64_t top = std::uint64_t{1} << (c.width - 1);
      v = (v ^ top) - top;
    }
    put(f, op, c.width == 64, l, v);
  }
}

void convert_float(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const Conversion c = conversion_of(op.index2);
  const auto from = static_cast<Format>(c.from), to = static_cast<Format>(c.to);
  const bool flush = (op.flags & kFlush) != 0, integral = (op.flags & kRelu) != 0;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint64_t bits = flushed(from, operand(f, op.a, from, l), flush);
    Number n = unpack(from, bits);
    if (integral) n = rounded_to_integral(n, rounding(op));
    std::uint64_t v = flushed(to, pack(to, n, rounding(op)), flush);
    // Where a double is read or made, a NaN keeps its sign and the upper bits of its payload, quieted; else it is canonical.
    if (n.kind == Number::Class::nan && (from == Format::f64 || to == Format::f64))
      v = converted_nan(from, bits, to);
    if ((op.flags & kSaturate) != 0) {
      const Number r = unpack(to, v);
      Number one;
      one.significand = 1;
      const std::uint64_t top = pack(to, one, Rounding::nearest);
      if (r.kind == Number::Class::nan || r.negative) {
        v = 0;
      } else {
        v = std::min(v, top);
      }
    }
    put(f, op, to == Format::f64, l, v);
  }
}

void pack_floats(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const Conversion c = conversion_of(op.index2);
  const auto to = static_cast<Format>(c.to);
  const auto narrow = [&](const Source& s, int l) {
    std::uint64_t h = pack(to, unpack(Format::f32, operand(f, s, Format::f32, l)), rounding(op));
    const std::uint64_t infinity = to == Format::bf16 ? 0x7f80 : 0x7c00;
    if ((op.flags & kSaturate) != 0 && (h & 0x7fff) == infinity) --h;
    if ((op.flags & kRelu) != 0 && h != 0x7fff && (h & 0x8000) != 0) h = 0;
    return static_cast<std::uint32_t>(h);
  };
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint32_t high = narrow(op.a, l), low = narrow(op.b, l);
    put(f, op, false, l, low | high << 16);
  }
}

void round_to_tf32(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    auto bits = static_cast<std::uint32_t>(operand(f, op.b, Format::f32, l));
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
      bits = 0x7fffe000u;
    } else {
      if (rounding(op) == Rounding::nearest) bits += 0xfffu + (bits >> 13 & 1);
      bits &= 0xffffe000u;
      if ((op.flags & kSaturate) != 0 && (bits & 0x7fffffffu) == 0x7f800000u) bits -= 0x2000u;
      if ((op.flags & kRelu) != 0 && (bits >> 31) != 0) bits = 0;
    }
    put(f, op, false, l, bits);
  }
}

void pack_narrows(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const auto format = static_cast<NarrowFormat>(op.index2 & 7);
  const bool fours = format == NarrowFormat::e2m1;
  const auto narrow = [&](Number n) {
    if ((op.flags & kRelu) != 0 && n.negative && n.kind != Number::Class::nan) n = Number{};
    return std::uint32_t{pack_narrow(n, format)};
  };
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    Number low, high;
    if ((op.index2 & kFromHalves) != 0) {
      const std::uint32_t b = words(f, op.b)[l];
      const Format from = (op.index2 & kBfloats) != 0 ? Format::bf16 : Format::f16;
      low = unpack(from, b & 0xffff);
      high = unpack(from, b >> 16);
    } else {
      low = unpack(Format::f32, operand(f, op.b, Format::f32, l));
      high = unpack(Format::f32, operand(f, op.a, Format::f32, l));
    }
    put(f, op, false, l,
        narrow(low) | narrow(high) << (fours ? 4 : 8) | words(f, op.c)[l] << (fours ? 8 : 16));
  }
}

void unpack_narrows(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const auto format = static_cast<NarrowFormat>(op.index2 & 7);
  const std::uint32_t bits = format == NarrowFormat::e2m1 ? 4 : 8;
  const std::uint32_t first = (op.index2 >> kNarrowPartShift & 3) * 2 * bits;
  const bool bfloats = (op.index2 & kBfloats) != 0;
  const Format to = bfloats ? Format::bf16 : Format::f16;
  const std::uint32_t infinity = bfloats ? 0x7f80 : 0x7c00;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint32_t x = words(f, op.b)[l] >> first;
    const std::uint32_t scales =
        bfloats ? words(f, op.c)[l] >> ((op.index2 & kScalesAbove) != 0 ? 16 : 0) : 0;
    std::uint32_t r = 0;
    for (std::uint32_t i = 0; i < 2; ++i) {
      Number n = unpack_narrow(static_cast<std::uint8_t>(x >> (bits * i)), format);
      if (bfloats) {
        const std::uint32_t scale = scales >> (8 * i) & 255;
        if (scale == 255) n.kind = Number::Class::nan;
        n.exponent += static_cast<int>(scale) - 127;
      }
      auto half = static_cast<std::uint32_t>(pack(to, n, Rounding::nearest));
      if ((op.flags & kSaturate) != 0 && (half & 0x7fff) == infinity) --half;
      if ((op.flags & kRelu) != 0 && half != 0x7fff && (half & 0x8000) != 0) half = 0;
      r |= half << (16 * i);
    }
    put(f, op, false, l, r);
  }
}

void pack_scales(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const bool up = rounding(op) == Rounding::up, finite = (op.flags & kSaturate) != 0;
  const auto scale = [&](std::uint32_t single) {
    const std::uint32_t magnitude = single & 0x7fffffff;
    std::uint32_t exponent = magnitude >> 23;
    // 2^-127, the least scale, is a subnormal single.
    if (up && exponent < 255 && (magnitude & 0x7fffff) != 0 && magnitude > 0x400000) ++exponent;
    if (finite && exponent == 255 && magnitude <= 0x7f800000) exponent = 254;
    return exponent;
  };
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint32_t b = words(f, op.b)[l];
    const bool halves = (op.index2 & kFromHalves) != 0;
    const auto single = [&](const Source& s) {
      return static_cast<std::uint32_t>(operand(f, s, Format::f32, l));
    };
    const std::uint32_t low = scale(halves ? b << 16 : single(op.b)),
                        high = scale(halves ? b & 0xffff0000 : single(op.a));
    put(f, op, false, l, low | high << 8 | words(f, op.c)[l] << 16);
  }
}

void unpack_scales(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const auto half = [](std::uint32_t scale) {
    return scale == 255 ? 0x7fffu : scale == 0 ? 0x40u : scale << 7;
  };
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint32_t x = words(f, op.b)[l] >> (op.index2 >> kNarrowPartShift & 3) * 16;
    put(f, op, false, l, half(x & 255) | half(x >> 8 & 255) << 16);
  }
}

void pack_bytes(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const Conversion c = conversion_of(op.index2);
  const auto narrow = [&](const Source& s, int l) {
    const Number n = unpack(Format::f32, operand(f, s, Format::f32, l));
    return static_cast<std::uint32_t>(to_integer(n, rounding(op), 8, c.is_signed, (op.flags & kNan) != 0)) &
           0xff;
  };
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint32_t rest = words(f, op.c)[l] << 16;
    put(f, op, false, l, narrow(op.b, l) | narrow(op.a, l) << 8 | rest);
  }
}

void multifunction(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const auto which = static_cast<MufuFunction>(op.index2 & 0xff);
  const auto format = static_cast<Format>(op.index2 >> 8);
  std::uint32_t* d = result(f, op);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint64_t bits = operand(f, op.a, format, l);
    if (format == Format::f32) {
      d[l] = special_function(which, static_cast<std::uint32_t>(bits));
    } else {
      const auto half = static_cast<std::uint16_t>(bits);
      const float x = format == Format::f16 ? half_to_float(half) : bfloat_to_float(half);
      // Single precision's answer, cut; too large a one is infinite.
      std::uint32_t r = special_function(which, std::bit_cast<std::uint32_t>(x));
      if (format == Format::f16 && r >= 0x47800000 && r < 0x7f800000) r = 0x7f800000;
      d[l] = static_cast<std::uint32_t>(pack(format, unpack(Format::f32, r), Rounding::zero));
    }
  }
}

}  // namespace foretrace::emulate
