// Integer arithmetic, comparison, minima and packed elements, 32 lanes at a time.
//
// Models:  integer arithmetic; PT as the carry into IADD3.X adds one; the second-last predicate of a 64-bit IMNMX chooses minimum or maximum.
// Compiled once for each vector instruction set: see vector.h.
#include "sim/emulate/execute/lanes/vector.h"

namespace foretrace::emulate::FORETRACE_LANES {

namespace {

void iadd3(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  if (op.plain) {
    const PlainReader a = plain(f, op.a), b = plain(f, op.b), c = plain(f, op.c);
    write(d, mask, [=](int l) { return a[l] + b[l] + c[l]; });
  } else {
    const Reader a = reader(f, op.a), b = reader(f, op.b), c = reader(f, op.c);
    write(d, mask, [=](int l) { return a[l] + b[l] + c[l]; });
  }
}

/// With carries in and out. -x counts as ~x + 1 in 33 bits, so that a - b carries out when a >= b.
void iadd3_carry(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const u32 in = (op.flags & kCarryIn) != 0 ? value_of(f, op.p_in) : 0;
  const u32 in2 = (op.flags & kCarryIn) != 0 ? value_of(f, op.q_in) : 0;
  const u32 *a = words(f, op.a), *b = words(f, op.b), *c = words(f, op.c);
  const u64 constant = u64{op.a.add} + op.b.add + op.c.add;
  const u32 xa = op.a.xor_mask, xb = op.b.xor_mask, xc = op.c.xor_mask;
  const auto sum = [=](int l) {
    return u64{a[l] ^ xa} + (b[l] ^ xb) + (c[l] ^ xc) + constant + bit(in, l) + bit(in2, l);
  };
  const u32 carry = lanes_where([=](int l) { return sum(l) >> 32 != 0; });
  const u32 carry2 = lanes_where([=](int l) { return sum(l) >> 33 != 0; });
  write(result(f, op), mask, [=](int l) { return static_cast<u32>(sum(l)); });
  set_predicate(f, op.p_out, mask, carry);
  set_predicate(f, op.q_out, mask, carry2);
}

/// a + b + c of register pairs; the carry out is of a + b alone.
void iadd64(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const u32 in = (op.flags & kCarryIn) != 0 ? value_of(f, op.p_in) : 0;
  const WideReader c = wide(f, op.c);
  const u32 *a = words(f, op.a), *b = words(f, op.b);
  const u64 xa = op.a.xor_mask != 0 ? ~u64{0} : 0, xb = op.b.xor_mask != 0 ? ~u64{0} : 0;
  const u64 constant = u64{op.a.add} + op.b.add;
  const auto first = [=](int l) { return (a[l] | u64{a[l + 32]} << 32) ^ xa; };
  const auto second = [=](int l) { return (b[l] | u64{b[l + 32]} << 32) ^ xb; };
  if (op.p_out != kSinkSlot) {
    const u32 carry = lanes_where([=](int l) {
      const u64 x = first(l), y = second(l), add = constant + bit(in, l), partial = x + y;
      return partial < x || partial + add < partial;
    });
    write_wide(result(f, op), mask, [=](int l) { return first(l) + second(l) + constant + bit(in, l); });
    set_predicate(f, op.p_out, mask, carry);
  } else {
    write_wide(result(f, op), mask,
               [=](int l) { return first(l) + second(l) + c[l] + constant + bit(in, l); });
  }
}

void imad(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  if (op.plain) {
    const PlainReader a = plain(f, op.a), b = plain(f, op.b), c = plain(f, op.c);
    write(d, mask, [=](int l) { return a[l] * b[l] + c[l]; });
  } else {
    const Reader a = reader(f, op.a), b = reader(f, op.b), c = reader(f, op.c);
    write(d, mask, [=](int l) { return a[l] * b[l] + c[l]; });
  }
}

void imad_x(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const u32 in = value_of(f, op.p_in);
  const Reader a = reader(f, op.a), b = reader(f, op.b), c = reader(f, op.c);
  write(result(f, op), mask, [=](int l) { return a[l] * b[l] + c[l] + bit(in, l); });
}

void imad_wide(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), b = plain(f, op.b);
  const WideReader c = wide(f, op.c);
  if ((op.flags & kSigned) != 0) {
    write_wide(result(f, op), mask, [=](int l) {
      return static_cast<u64>(s64{static_cast<s32>(a[l])} * s64{static_cast<s32>(b[l])}) + c[l];
    });
  } else {
    write_wide(result(f, op), mask, [=](int l) { return u64{a[l]} * b[l] + c[l]; });
  }
}

__extension__ using u128 = unsigned __int128;

/// The product as 65 bits and more, with the sign that a carry out of bit 64 is told by.
[[gnu::always_inline]] inline u128 product(const MicroOp& op, u32 a, u32 b) {
  if ((op.flags & kSigned) != 0) {
    return static_cast<u64>(s64{static_cast<s32>(a)} * s64{static_cast<s32>(b)});
  }
  return u64{a} * b;
}
void imad_wide_carry(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const u32 in = (op.flags & kCarryIn) != 0 ? value_of(f, op.p_in) : 0;
  const u32 *a = words(f, op.a), *b = words(f, op.b), *c = words(f, op.c);
  const u64 xc = op.c.xor_mask != 0 ? ~u64{0} : 0;
  u32* d = result(f, op);
  u32 carry = 0;
  for (int l = 0; l < 32; ++l) {
    const u128 sum = product(op, a[l], b[l]) + ((c[l] | u64{c[l + 32]} << 32) ^ xc) + op.c.add + bit(in, l);
    carry |= static_cast<u32>(sum >> 64 != 0) << l;
    if (bit(mask, l) != 0) {
      d[l] = static_cast<u32>(sum);
      d[l + 32] = static_cast<u32>(sum >> 32);
    }
  }
  set_predicate(f, op.p_out, mask, carry);
}

/// Bits 32..63 of a * b + c with c a pair whose low word takes part.
void imad_hi(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const u32 in = (op.flags & kCarryIn) != 0 ? value_of(f, op.p_in) : 0;
  const PlainReader a = plain(f, op.a), b = plain(f, op.b);
  const WideReader c = wide(f, op.c);
  if (op.p_out != kSinkSlot) {
    u32 carry = 0;
    for (int l = 0; l < 32; ++l) {
      carry |= static_cast<u32>((product(op, a[l], b[l]) + c[l] + bit(in, l)) >> 64 != 0) << l;
    }
    set_predicate(f, op.p_out, mask, carry);
  }
  if ((op.flags & kSigned) != 0) {
    write(result(f, op), mask, [=](int l) {
      return static_cast<u32>(
          (static_cast<u64>(s64{static_cast<s32>(a[l])} * s64{static_cast<s32>(b[l])}) + c[l] + bit(in, l)) >>
          32);
    });
  } else {
    write(result(f, op), mask,
          [=](int l) { return static_cast<u32>((u64{a[l]} * b[l] + c[l] + bit(in, l)) >> 32); });
  }
}

void idp4a(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), b = plain(f, op.b);
  const Reader c = reader(f, op.c);
  const bool sa = (op.flags & kSigned) != 0, sb = (op.flags & kSignedB) != 0;
  write(result(f, op), mask, [=](int l) {
    u32 sum = c[l];
    for (int i = 0; i < 4; ++i) {
      const u32 x = (a[l] >> (8 * i)) & 0xff, y = (b[l] >> (8 * i)) & 0xff;
      sum += (sa ? (x ^ 0x80) - 0x80 : x) * (sb ? (y ^ 0x80) - 0x80 : y);
    }
    return sum;
  });
}

void idp2a(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), b = plain(f, op.b);
  const Reader c = reader(f, op.c);
  const bool sa = (op.flags & kSigned) != 0, sb = (op.flags & kSignedB) != 0;
  const int first = (op.flags & kHigh) != 0 ? 16 : 0;
  write(result(f, op), mask, [=](int l) {
    u32 sum = c[l];
    for (int i = 0; i < 2; ++i) {
      const u32 x = (a[l] >> (16 * i)) & 0xffff, y = (b[l] >> (8 * i + first)) & 0xff;
      sum += (sa ? (x ^ 0x8000) - 0x8000 : x) * (sb ? (y ^ 0x80) - 0x80 : y);
    }
    return sum;
  });
}

void lea(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const u32 s = op.index2 & 31;
  const Reader a = reader(f, op.a), b = reader(f, op.b);
  if (op.p_out != kSinkSlot) {
    const u32 *ra = words(f, op.a), *rb = words(f, op.b);
    const u32 xa = op.a.xor_mask, aa = op.a.add, xb = op.b.xor_mask, ab = op.b.add;
    const u32 carry = lanes_where([=](int l) {
      // The shifted value as its 32 bits; -(a << s) then counts as its inverse plus one.
      const u64 sum = u64{(ra[l] << s) ^ xa} + aa + (rb[l] ^ xb) + ab;
      return sum >> 32 != 0;
    });
    write(result(f, op), mask, [=](int l) { return ((ra[l] << s) ^ xa) + aa + (rb[l] ^ xb) + ab; });
    set_predicate(f, op.p_out, mask, carry);
    return;
  }
  write(result(f, op), mask, [=](int l) { return (a[l] << s) + b[l]; });
}

/// ({c:a} << s) >> 32, plus b, plus a carry; .SX32 takes the sign of a for c.
void lea_hi(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const u32 s = op.index2 & 31;
  const u32 in = (op.flags & kCarryIn) != 0 ? value_of(f, op.p_in) : 0;
  const u32 *a = words(f, op.a), *b = words(f, op.b), *c = words(f, op.c);
  const u32 xa = op.a.xor_mask, xb = op.b.xor_mask;
  const bool extend = (op.flags & kSignExtend) != 0;
  const bool negate = op.a.add != 0;  // -a negates the whole shifted 64-bit value; ~a only inverts it
  const u32 ab = op.b.add;
  const auto value = [=](int l) {
    const u32 top = extend ? static_cast<u32>(static_cast<s32>(a[l]) >> 31) : c[l];
    const u64 shifted = (a[l] | u64{top} << 32) << s;
    const u64 changed = negate ? ~shifted + 1 : (xa != 0 ? ~shifted : shifted);
    return static_cast<u32>(changed >> 32);
  };
  if (op.p_out != kSinkSlot) {
    const u32 carry =
        lanes_where([=](int l) { return (u64{value(l)} + (b[l] ^ xb) + ab + bit(in, l)) >> 32 != 0; });
    write(result(f, op), mask, [=](int l) { return value(l) + (b[l] ^ xb) + ab + bit(in, l); });
    set_predicate(f, op.p_out, mask, carry);
    return;
  }
  write(result(f, op), mask, [=](int l) { return value(l) + (b[l] ^ xb) + ab + bit(in, l); });
}

/// Bits of a comparison code: 1 less, 2 equal, 4 greater.
[[gnu::always_inline]] inline u32 compared(u32 code, u32 less, u32 equal) {
  u32 x = 0;
  if ((code & 1) != 0) x |= less;
  if ((code & 2) != 0) x |= equal;
  if ((code & 4) != 0) x |= ~(less | equal);
  return x;
}

void isetp(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a), b = reader(f, op.b);
  // A signed comparison is an unsigned one of numbers moved by 2^31, or the other way round.
  const u32 move = (op.flags & kSigned) != 0 ? 0 : 0x80000000u;
  const u32 code = (op.flags >> kCompareShift) & 7;
  u32 less = 0, equal = 0;
  if (code != 2 && code != 5) {
    less = lanes_where([=](int l) { return static_cast<s32>(a[l] ^ move) < static_cast<s32>(b[l] ^ move); });
  }
  if (code != 1 && code != 6) equal = lanes_where([=](int l) { return a[l] == b[l]; });
  if (code == 6) {
    equal = ~less;  // GE needs no more than "not less"
  } else if (code == 5) {
    less = ~equal;
  }
  if ((op.flags & kExtended) != 0) {
    const u32 low = value_of(f, op.q_in);
    less = lanes_where([=](int l) { return static_cast<s32>(a[l] ^ move) < static_cast<s32>(b[l] ^ move); });
    equal = lanes_where([=](int l) { return a[l] == b[l]; });
    const u32 greater = ~(less | equal);
    u32 x = equal & low;
    if ((code & 1) != 0) x |= less;
    if ((code & 4) != 0) x |= greater;
    set_compared(f, op, mask, x);
    return;
  }
  set_compared(f, op, mask, compared(code, less, equal));
}

void isetp64(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const WideReader a = wide(f, op.a), b = wide(f, op.b);
  const u64 move = (op.flags & kSigned) != 0 ? 0 : u64{1} << 63;
  const u32 less =
      lanes_where([=](int l) { return static_cast<s64>(a[l] ^ move) < static_cast<s64>(b[l] ^ move); });
  const u32 equal = lanes_where([=](int l) { return a[l] == b[l]; });
  set_compared(f, op, mask, compared((op.flags >> kCompareShift) & 7, less, equal));
}

/// p_in true: the lesser.
void imnmx(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a), b = reader(f, op.b);
  const u32 least = value_of(f, op.p_in);
  const u32 move = (op.flags & kSigned) != 0 ? 0 : 0x80000000u;
  const u32 floor = (op.flags & kRelu) != 0 ? 0 : 0x80000000u;
  write(result(f, op), mask, [=](int l) {
    const s32 x = static_cast<s32>(a[l] ^ move), y = static_cast<s32>(b[l] ^ move);
    const s32 low = x < y ? x : y, high = x < y ? y : x;
    const s32 v = bit(least, l) != 0 ? low : high;
    const s32 clamped = v < static_cast<s32>(floor) ? static_cast<s32>(floor) : v;
    return static_cast<u32>(clamped) ^ move;
  });
}

void imnmx64(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const WideReader a = wide(f, op.a), b = wide(f, op.b);
  const u32 least = value_of(f, op.p_in);
  const u64 move = (op.flags & kSigned) != 0 ? 0 : u64{1} << 63;
  write_wide(result(f, op), mask, [=](int l) {
    const s64 x = static_cast<s64>(a[l] ^ move), y = static_cast<s64>(b[l] ^ move);
    const s64 low = x < y ? x : y, high = x < y ? y : x;
    return static_cast<u64>(bit(least, l) != 0 ? low : high) ^ move;
  });
}

void vimnmx3(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a), b = reader(f, op.b), c = reader(f, op.c);
  const u32 least = value_of(f, op.p_in);
  const u32 move = (op.flags & kSigned) != 0 ? 0 : 0x80000000u;
  const u32 floor = (op.flags & kRelu) != 0 ? 0 : 0x80000000u;
  write(result(f, op), mask, [=](int l) {
    const s32 x = static_cast<s32>(a[l] ^ move), y = static_cast<s32>(b[l] ^ move),
              z = static_cast<s32>(c[l] ^ move);
    const s32 low = x < y ? x : y, high = x < y ? y : x;
    const s32 v = bit(least, l) != 0 ? (low < z ? low : z) : (high < z ? z : high);
    return static_cast<u32>(v < static_cast<s32>(floor) ? static_cast<s32>(floor) : v) ^ move;
  });
}

/// min or max of a + b and c.
void viaddmnmx(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a), b = reader(f, op.b), c = reader(f, op.c);
  const u32 least = value_of(f, op.p_in);
  const u32 move = (op.flags & kSigned) != 0 ? 0 : 0x80000000u;
  const u32 floor = (op.flags & kRelu) != 0 ? 0 : 0x80000000u;
  write(result(f, op), mask, [=](int l) {
    const s32 x = static_cast<s32>((a[l] + b[l]) ^ move), y = static_cast<s32>(c[l] ^ move);
    const s32 v = bit(least, l) != 0 ? (x < y ? x : y) : (x < y ? y : x);
    return static_cast<u32>(v < static_cast<s32>(floor) ? static_cast<s32>(floor) : v) ^ move;
  });
}

/// Two 16-bit elements: the least or greatest of three, or with kExtended of a + b (wrapping) and c.
void vimnmx3_packed(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), b = plain(f, op.b), c = plain(f, op.c);
  const u32 least = value_of(f, op.p_in);
  const u32 top = (op.flags & kSigned) != 0 ? 0x8000 : 0;
  const bool relu = (op.flags & kRelu) != 0, adds = (op.flags & kExtended) != 0;
  write(result(f, op), mask, [=](int l) {
    u32 packed = 0;
    for (u32 shift = 0; shift < 32; shift += 16) {
      const auto number = [=](u32 x) { return static_cast<s32>((x & 0xffff) ^ top) - static_cast<s32>(top); };
      const auto chosen = [=](s32 x, s32 y) { return (x < y) == (bit(least, l) != 0) ? x : y; };
      const u32 x = a[l] >> shift, y = b[l] >> shift;
      s32 v = adds ? number(x + y) : chosen(number(x), number(y));
      v = chosen(v, number(c[l] >> shift));
      if (relu && v < 0) v = 0;
      packed |= (static_cast<u32>(v) & 0xffff) << shift;
    }
    return packed;
  });
}

/// Mode (kModeShift): element width in bits, 16 or 8, as 0 or 1. Predicates tell for each half which operand was taken.
void vimnmx_packed(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), b = plain(f, op.b);
  const u32 least = value_of(f, op.p_in);
  const bool bytes = (op.flags >> kModeShift & 1) != 0, is_signed = (op.flags & kSigned) != 0;
  const bool relu = (op.flags & kRelu) != 0;
  const int width = bytes ? 8 : 16;
  const u32 ones = bytes ? 0xff : 0xffff, top = is_signed ? (ones + 1) / 2 : 0;
  u32* d = result(f, op);
  u32 taken[2] = {0, 0};
  for (int l = 0; l < 32; ++l) {
    u32 packed = 0;
    for (int i = 0; i < 32 / width; ++i) {
      const s32 x = static_cast<s32>(((a[l] >> (i * width)) & ones) ^ top) - static_cast<s32>(top);
      const s32 y = static_cast<s32>(((b[l] >> (i * width)) & ones) ^ top) - static_cast<s32>(top);
      const bool first = bit(least, l) != 0 ? x <= y : x >= y;
      s32 v = first ? x : y;
      if (relu && v < 0) v = 0;
      packed |= (static_cast<u32>(v) & ones) << (i * width);
      if (!bytes) taken[i] |= static_cast<u32>(first) << l;
    }
    if (bit(mask, l) != 0) d[l] = packed;
  }
  set_predicate(f, op.p_out, mask, taken[0]);
  set_predicate(f, op.q_out, mask, taken[1]);
}

void viadd_packed(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), b = plain(f, op.b);
  const u32 negate = op.b.xor_mask != 0 ? 1 : 0;
  const bool bytes = (op.flags >> kModeShift & 1) != 0;
  const u32 high = bytes ? 0x80808080u : 0x80008000u, ones = bytes ? 0x01010101u : 0x00010001u;
  write(result(f, op), mask, [=](int l) {
    const u32 x = a[l], y = b[l] ^ (0u - negate);
    u32 sum = ((x & ~high) + (y & ~high)) ^ ((x ^ y) & high);  // each lane's carry stops at its top bit
    if (negate != 0) sum = ((sum & ~high) + ones) ^ (sum & high);
    return sum;
  });
}

void iabs(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a);
  write(result(f, op), mask, [=](int l) {
    const u32 sign = static_cast<u32>(static_cast<s32>(a[l]) >> 31);
    return (a[l] ^ sign) - sign;
  });
}

void vabsdiff(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a), b = reader(f, op.b), c = reader(f, op.c);
  const u32 move = (op.flags & kSigned) != 0 ? 0 : 0x80000000u;
  write(result(f, op), mask, [=](int l) {
    const bool less = static_cast<s32>(a[l] ^ move) < static_cast<s32>(b[l] ^ move);
    return (less ? b[l] - a[l] : a[l] - b[l]) + c[l];
  });
}

/// Per byte; with kExtended (.ACC) the sum of the four, else the bytes; c is added.
void vabsdiff4(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const PlainReader a = plain(f, op.a), b = plain(f, op.b), c = plain(f, op.c);
  const bool sum = (op.flags & kExtended) != 0, is_signed = (op.flags & kSigned) != 0;
  write(result(f, op), mask, [=](int l) {
    const u32 move = is_signed ? 0x80u : 0u;
    u32 total = 0, packed = 0;
    for (int i = 0; i < 4; ++i) {
      const u32 x = ((a[l] >> (8 * i)) & 0xff) ^ move, y = ((b[l] >> (8 * i)) & 0xff) ^ move;
      const u32 distance = x < y ? y - x : x - y;
      total += distance;
      packed |= distance << (8 * i);
    }
    return sum ? total + c[l] : packed;
  });
}

/// A 32-bit signed number clamped to an element: mode 0 s8, 1 u8, 2 s16, 3 u16. Sign or zero extended.
[[gnu::always_inline]] inline s32 clamped(s32 x, u32 mode) {
  const s32 low = mode == 0 ? -128 : mode == 2 ? -32768 : 0;
  const s32 high = mode == 0 ? 127 : mode == 1 ? 255 : mode == 2 ? 32767 : 65535;
  return x < low ? low : x > high ? high : x;
}
void i2i(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a);
  const u32 mode = op.flags >> kModeShift & 3;
  write(result(f, op), mask, [=](int l) { return static_cast<u32>(clamped(static_cast<s32>(a[l]), mode)); });
}
/// b in the lowest element, a in the next, c above them.
void i2ip(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const Reader a = reader(f, op.a), b = reader(f, op.b), c = reader(f, op.c);
  const u32 mode = op.flags >> kModeShift & 7;  // S8 U8 S16 U16 S4 U4 S2 U2
  const u32 width = mode < 2 ? 8 : mode < 4 ? 16 : mode < 6 ? 4 : 2, ones = (1u << width) - 1;
  const s32 low = (mode & 1) != 0 ? 0 : -(1 << (width - 1));
  const s32 high = (mode & 1) != 0 ? static_cast<s32>(ones) : (1 << (width - 1)) - 1;
  write(result(f, op), mask, [=](int l) {
    const s32 x = static_cast<s32>(a[l]), y = static_cast<s32>(b[l]);
    const u32 first = static_cast<u32>(x < low ? low : x > high ? high : x) & ones;
    const u32 second = static_cast<u32>(y < low ? low : y > high ? high : y) & ones;
    return (width < 16 ? c[l] << (2 * width) : 0) | first << width | second;
  });
}

}  // namespace

void fill_integer(LaneTable& table) {
#define FORETRACE_INTEGER(name) table.op[static_cast<int>(LaneOp::name)] = name;
#include "sim/emulate/execute/lanes/lane_ops.def"
}

}  // namespace foretrace::emulate::FORETRACE_LANES
