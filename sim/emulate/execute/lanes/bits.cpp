// Moves, selection, logic, shifts and what looks at single bits and bytes, 32 lanes at a time.
//
// Models:  integer instructions on bits (docs/facts.md).
// Compiled once for each vector instruction set: see vector.h.
#include "sim/emulate/execute/lanes/vector.h"

namespace foretrace::emulate::FORETRACE_LANES {

namespace {

void mov(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a);
  write(result(f, op), mask, [=](int l) { return a[l]; });
}

void mov64(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const WideReader a = wide(f, op.a);
  write_wide(result(f, op), mask, [=](int l) { return a[l]; });
}

/// A function of three bits as two words each for (a,b) = 00, 01, 10, 11: f(c) = (c & x) ^ y.
struct Table {
  u32 x[4], y[4];
  explicit Table(u32 lut) {
    for (u32 i = 0; i < 4; ++i) {
      const u32 at0 = (lut >> (2 * i)) & 1, at1 = (lut >> (2 * i + 1)) & 1;
      y[i] = 0u - at0;
      x[i] = 0u - (at0 ^ at1);
    }
  }
  [[gnu::always_inline]] u32 operator()(u32 a, u32 b, u32 c) const {
    const u32 f0 = (c & x[0]) ^ y[0], f1 = (c & x[1]) ^ y[1], f2 = (c & x[2]) ^ y[2], f3 = (c & x[3]) ^ y[3];
    const u32 low = (b & f1) | (~b & f0), high = (b & f3) | (~b & f2);
    return (a & high) | (~a & low);
  }
};

void lop3(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  const Reader ra = reader(f, op.a), rb = reader(f, op.b), rc = reader(f, op.c);
  if (op.plain) {
    const PlainReader a = plain(f, op.a), b = plain(f, op.b), c = plain(f, op.c);
    switch (op.index2) {
      case 0xc0: write(d, mask, [=](int l) { return a[l] & b[l]; }); return;
      case 0xfc: write(d, mask, [=](int l) { return a[l] | b[l]; }); return;
      case 0x3c: write(d, mask, [=](int l) { return a[l] ^ b[l]; }); return;
      case 0x30: write(d, mask, [=](int l) { return a[l] & ~b[l]; }); return;
      case 0xf8: write(d, mask, [=](int l) { return a[l] | (b[l] & c[l]); }); return;
      case 0xfe: write(d, mask, [=](int l) { return a[l] | b[l] | c[l]; }); return;
      case 0x96: write(d, mask, [=](int l) { return a[l] ^ b[l] ^ c[l]; }); return;
      default: break;
    }
  }
  const Table table(op.index2);
  write(d, mask, [=](int l) { return table(ra[l], rb[l], rc[l]); });
}

/// P = (d != 0) or Pin (.PAND: and Pin).
void lop3_predicate(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a), b = reader(f, op.b), c = reader(f, op.c);
  const Table table(op.index2);
  const u32 some = lanes_where([=](int l) { return table(a[l], b[l], c[l]) != 0; });
  write(result(f, op), mask, [=](int l) { return table(a[l], b[l], c[l]); });
  const u32 with = value_of(f, op.p_in);
  set_predicate(f, op.p_out, mask, (op.flags >> kCombineShift & 3) == 0 ? some & with : some | with);
}

/// Predicates are lane masks, so three words do for all lanes. index2: first table, then second << 8.
void plop3(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const auto input = [&](const PredicateSource& p, const Source& s) {
    if (!s.sign_only) return value_of(f, p);
    return sign_bits(words(f, s)) ^ p.invert;
  };
  const u32 a = input(op.p_in, op.a), b = input(op.q_in, op.b), c = input(op.r_in, op.c);
  const u32 p = Table(op.index2 & 0xff)(a, b, c), q = Table(op.index2 >> 8)(a, b, c);
  set_predicate(f, op.p_out, mask, p);
  set_predicate(f, op.q_out, mask, q);
}

void shl32(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), n = plain(f, op.b);
  write(result(f, op), mask, [=](int l) { return n[l] > 31 ? 0 : a[l] << (n[l] & 31); });
}
void shr32(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader n = plain(f, op.b), c = plain(f, op.c);
  write(result(f, op), mask, [=](int l) { return n[l] > 31 ? 0 : c[l] >> (n[l] & 31); });
}
void sar32(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader n = plain(f, op.b), c = plain(f, op.c);
  write(result(f, op), mask,
        [=](int l) { return static_cast<u32>(static_cast<s32>(c[l]) >> (n[l] > 31 ? 31 : n[l])); });
}

/// The funnel shift in general: {c:a} by b.
void shf(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), n = plain(f, op.b), c = plain(f, op.c);
  const u32 width = (op.flags & kShift64) != 0 ? 64 : 32;
  const bool wrap = (op.flags & kWrap) != 0, left = (op.flags & kLeft) != 0, high = (op.flags & kHigh) != 0;
  const bool arithmetic = (op.flags & kSigned) != 0;
  write(result(f, op), mask, [=](int l) {
    const u64 value = a[l] | u64{c[l]} << 32;
    const u32 count = wrap ? n[l] & (width - 1) : (n[l] > width ? width : n[l]);
    u64 shifted;
    if (left) {
      shifted = count > 63 ? 0 : value << (count & 63);
    } else if (arithmetic) {
      shifted = static_cast<u64>(static_cast<s64>(value) >> (count > 63 ? 63 : count));
    } else {
      shifted = count > 63 ? 0 : value >> (count & 63);
    }
    return static_cast<u32>(high ? shifted >> 32 : shifted);
  });
}

void sel(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a), b = reader(f, op.b);
  const u32 p = value_of(f, op.p_in);
  write(result(f, op), mask, [=](int l) { return bit(p, l) != 0 ? a[l] : b[l]; });
}
void sel64(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const WideReader a = wide(f, op.a), b = wide(f, op.b);
  const u32 p = value_of(f, op.p_in);
  write_wide(result(f, op), mask, [=](int l) { return bit(p, l) != 0 ? a[l] : b[l]; });
}

/// The byte of {c:a} that a selector nibble asks for.
[[gnu::always_inline]] inline u32 selected(u64 bytes, u32 nibble) {
  const u32 byte = static_cast<u32>(bytes >> (8 * (nibble & 7))) & 0xff;
  return (nibble & 8) != 0 ? (0u - (byte >> 7)) & 0xff : byte;
}
/// Mode: 0 by nibbles, 1 F4E, 2 B4E, 3 RC8, 4 ECL, 5 ECR, 6 RC16, as PTX prmt.
void prmt(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), s = plain(f, op.b), c = plain(f, op.c);
  const u32 mode = op.flags >> kModeShift & 15;
  write(result(f, op), mask, [=](int l) {
    const u64 bytes = a[l] | u64{c[l]} << 32;
    const u32 n = s[l] & 3;
    u32 packed = 0;
    for (u32 i = 0; i < 4; ++i) {
      u32 nibble = 0;
      switch (mode) {
        case 0: nibble = (s[l] >> (4 * i)) & 15; break;
        case 1: nibble = n + i; break;
        case 2: nibble = (n - i) & 7; break;
        case 3: nibble = n; break;
        case 4: nibble = i > n ? i : n; break;
        case 5: nibble = i < n ? i : n; break;
        default: nibble = (n & 1) * 2 + (i & 1); break;
      }
      packed |= selected(bytes, nibble) << (8 * i);
    }
    return packed;
  });
}

void sgxt(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), n = plain(f, op.b);
  const bool wrap = (op.flags & kWrap) != 0, is_signed = (op.flags & kSigned) != 0;
  write(result(f, op), mask, [=](int l) {
    const u32 count = wrap ? n[l] & 31 : n[l];
    if (count >= 32) return a[l];
    if (count == 0) return u32{0};
    const u32 raised = a[l] << (32 - count);
    return is_signed ? static_cast<u32>(static_cast<s32>(raised) >> (32 - count)) : raised >> (32 - count);
  });
}

void bmsk(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), n = plain(f, op.b);
  const bool wrap = (op.flags & kWrap) != 0;
  write(result(f, op), mask, [=](int l) {
    const u32 at = wrap ? a[l] & 31 : a[l], count = wrap ? n[l] & 31 : n[l];
    if (at >= 32) return u32{0};
    return (count >= 32 ? ~0u : (1u << count) - 1) << at;
  });
}

void popc(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a);
  write(result(f, op), mask, [=](int l) {
    u32 x = a[l];
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    return (x * 0x01010101u) >> 24;
  });
}

/// Highest set bit, or all ones; kHigh (.SH) counts from the top.
void flo(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a);
  const bool from_top = (op.flags & kHigh) != 0, is_signed = (op.flags & kSigned) != 0;
  write(result(f, op), mask, [=](int l) {
    u32 x = a[l];
    if (is_signed && static_cast<s32>(x) < 0) x = ~x;
    if (x == 0) return ~0u;
    const u32 zeros = static_cast<u32>(__builtin_clz(x));
    return from_top ? zeros : 31 - zeros;
  });
}

void brev(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a);
  write(result(f, op), mask, [=](int l) {
    u32 x = a[l];
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    return __builtin_bswap32(x);
  });
}

}  // namespace

void fill_bits(LaneTable& table) {
#define FORETRACE_BITS(name) table.op[static_cast<int>(LaneOp::name)] = name;
#include "sim/emulate/execute/lanes/lane_ops.def"
}

}  // namespace foretrace::emulate::FORETRACE_LANES
