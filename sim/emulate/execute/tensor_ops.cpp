// Matrix multiply-accumulate of a warp: HMMA, QMMA, IMMA, BMMA, DMMA.
//
// Models:  fragments as PTX's mma lays them out (facts sass.md 3.6). Floats into f32 or f16: products are exact; with the
//          accumulator they are aligned to the largest exponent, cut to F bits behind the point, added exactly, and cut to
//          f32 (or rounded to f16). On sm_90 and sm_120 F = 25 and all of a row takes part at once (facts sass.md 3.6,
//          checked bit by bit there); on sm_80 F = 24 and the row is taken in pieces of 16 bytes, one after the other
//          (assumed: the sheet has no source for it). Integers are exact and wrap or saturate. Doubles: a chain of fma
//          in ascending k (assumed).
// Ignores: sparse and block-scaled forms, which are refused.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/execute/number.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;

namespace {

enum class Element : std::uint8_t { f16, bf16, tf32, s8, u8, s4, u4, bit, f64, e4m3, e5m2 };
constexpr int kElementBits[] = {16, 16, 32, 8, 8, 4, 4, 1, 64, 8, 8};

/// MicroOp::flags and index2 of a matrix operation.
constexpr std::uint32_t kHalfResult = 1, kSaturates = 2, kAmpere = 4, kXor = 8;
constexpr int kElementAShift = 8, kElementBShift = 12;
struct Shape {
  int m = 0, n = 0, k = 0;
};
Shape shape_of(const MicroOp& op) {
  return {static_cast<int>(op.index2 & 0xff), static_cast<int>(op.index2 >> 8 & 0xff),
          static_cast<int>(op.index2 >> 16)};
}
Element element_a(const MicroOp& op) { return static_cast<Element>(op.flags >> kElementAShift & 15); }
Element element_b(const MicroOp& op) { return static_cast<Element>(op.flags >> kElementBShift & 15); }

/// Where element (row, k) of A stands. A register holds `per` consecutive k of one row; a quad of lanes the next ones; then
/// rows + 8, then the k beyond. B is the same with columns for rows and without the second half of rows.
struct Place {
  int lane, reg, part;
};
Place place(int row, int k, int per, int row_halves) {
  const int quad = 4 * per;
  return {row % 8 * 4 + k % quad / per, (k / quad) * row_halves + row / 8, k % per};
}

/// Place of accumulator element (row, column): two columns a lane, then rows + 8.
Place accumulator(int row, int col) { return {row % 8 * 4 + col / 2, row / 8 * 2 + col % 2, 0}; }

/// A float operand as sign, significand with `fraction` bits behind the point, and exponent.
struct Term {
  bool negative = false, nan = false, infinite = false;
  std::int32_t significand = 0;
  int exponent = 0;
};
struct Layout {
  int fraction, bias, exponent_bits;
};
Layout layout(Element e) {
  if (e == Element::f16) return {10, 15, 5};
  if (e == Element::bf16) return {7, 127, 8};
  if (e == Element::e4m3) return {3, 7, 4};
  if (e == Element::e5m2) return {2, 15, 5};
  return {10, 127, 8};  // tf32: the low 13 bits of the word are not looked at
}
Term term(std::uint32_t bits, const Layout& l) {
  Term t;
  const int width = l.fraction + l.exponent_bits;
  const std::uint32_t fraction = bits & ((1u << l.fraction) - 1);
  const int biased = static_cast<int>(bits >> l.fraction) & ((1 << l.exponent_bits) - 1);
  t.negative = (bits >> width & 1) != 0;
  if (l.exponent_bits == 4) {  // e4m3 has no infinity and one NaN
    t.nan = (bits & 0x7f) == 0x7f;
    if (t.nan) return t;
  } else if (biased == (1 << l.exponent_bits) - 1) {
    (fraction != 0 ? t.nan : t.infinite) = true;
    return t;
  }
  t.significand = static_cast<std::int32_t>(biased == 0 ? fraction : fraction | 1u << l.fraction);
  t.exponent = std::max(biased, 1) - l.bias;
  return t;
}

/// The fused sum of `count` products and an f32 accumulator.
/// `fraction`: bits behind the point of a product. `to_odd`: what is cut off sets the last bit, for a second rounding.
std::uint32_t fused_sum(const Term* a, const Term* b, int count, int fraction, std::uint32_t c, int kept,
                        bool to_odd) {
  const Term acc = term(c, {23, 127, 8});
  bool nan = acc.nan, plus = acc.infinite && !acc.negative, minus = acc.infinite && acc.negative;
  int largest = acc.significand != 0 ? acc.exponent : -1000;
  for (int i = 0; i < count; ++i) {
    const bool zero_times_infinity = (a[i].infinite && !b[i].infinite && b[i].significand == 0) ||
                                     (b[i].infinite && !a[i].infinite && a[i].significand == 0);
    nan = nan || a[i].nan || b[i].nan || zero_times_infinity;
    if (a[i].infinite || b[i].infinite) (a[i].negative != b[i].negative ? minus : plus) = true;
    if (a[i].significand != 0 && b[i].significand != 0)
      largest = std::max(largest, a[i].exponent + b[i].exponent);
  }
  if (nan || (plus && minus)) return 0x7fffffff;
  if (plus || minus) return plus ? 0x7f800000u : 0xff800000u;
  const auto aligned = [&](std::int64_t significand, int bits, int exponent) {
    const int shift = largest - exponent;
    return shift > 62 ? 0 : (significand << (kept - bits)) >> shift;
  };
  std::int64_t sum = aligned(acc.significand, 23, acc.exponent);
  if (acc.negative) sum = -sum;
  for (int i = 0; i < count; ++i) {
    const std::int64_t product =
        aligned(std::int64_t{a[i].significand} * b[i].significand, fraction, a[i].exponent + b[i].exponent);
    sum += a[i].negative != b[i].negative ? -product : product;
  }
  Number n;
  n.negative = sum < 0;
  n.significand = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  n.exponent = largest - kept;
  const auto bits = static_cast<std::uint32_t>(pack(Format::f32, n, Rounding::zero));
  const bool too_large = n.significand != 0 && n.exponent + 64 - std::countl_zero(n.significand) > 128;
  if (too_large) return (bits & 0x80000000u) | 0x7f800000u;
  const int surplus = 64 - std::countl_zero(n.significand) - 24;
  const bool cut = surplus > 0 && (n.significand & ((std::uint64_t{1} << surplus) - 1)) != 0;
  return to_odd && cut ? bits | 1 : bits;
}
/// The sum as a half, nearest even; a zero is positive.
std::uint16_t half_of_sum(std::uint32_t sum) {
  const std::uint16_t h = float_to_half(std::bit_cast<float>(sum));
  return (h & 0x7fff) == 0 ? std::uint16_t{0} : h;
}

void multiply_floats(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const Shape s = shape_of(op);
  const Element e = element_a(op);
  const Layout la = layout(e), lb = layout(element_b(op));
  const int bits = kElementBits[static_cast<int>(e)], per = 32 / bits;
  const std::uint32_t *ra = x.words(op.a), *rb = x.words(op.b), *rc = x.words(op.c);
  Term a[16][32], b[8][32];
  const auto fetch = [&](const std::uint32_t* r, const Place& p, const Layout& l) {
    const std::uint32_t word = r[p.reg * 32 + p.lane];
    return e == Element::tf32 ? term(word >> 13, l) : term(word >> (bits * p.part) & ((1u << bits) - 1), l);
  };
  for (int k = 0; k < s.k; ++k) {
    for (int i = 0; i < s.m; ++i) a[i][k] = fetch(ra, place(i, k, per, 2), la);
    for (int j = 0; j < s.n; ++j) b[j][k] = fetch(rb, place(j, k, per, 1), lb);
  }
  const bool half = (op.flags & kHalfResult) != 0, ampere = (op.flags & kAmpere) != 0;
  const int piece = ampere ? 16 / (kElementBits[static_cast<int>(e)] / 8) : s.k;
  const bool zero = op.c.word == kZeroWord && op.c.file == File::registers;
  std::uint32_t out[4][32] = {};
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      const Place p = accumulator(i, j);
      std::uint32_t c = 0;
      if (!zero && half) {
        const auto h = static_cast<std::uint16_t>(rc[p.reg / 2 * 32 + p.lane] >> (16 * (p.reg % 2)));
        c = std::bit_cast<std::uint32_t>(half_to_float(h));
      } else if (!zero) {
        c = rc[p.reg * 32 + p.lane];
      }
      for (int k = 0; k < s.k; k += piece) {
        c = fused_sum(a[i] + k, b[j] + k, std::min(piece, s.k - k), la.fraction + lb.fraction, c,
                      ampere ? 24 : 25, half);
        if (half) c = std::bit_cast<std::uint32_t>(half_to_float(half_of_sum(c)));
      }
      if (half) {
        out[p.reg / 2][p.lane] |= static_cast<std::uint32_t>(float_to_half(std::bit_cast<float>(c)))
                                  << (16 * (p.reg % 2));
      } else {
        out[p.reg][p.lane] = c;
      }
    }
  }
  std::uint32_t* d = x.result(op);
  for (int r = 0; r < (half ? 2 : 4); ++r) {
    for (std::uint32_t m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      d[r * 32 + lane] = out[r][lane];
    }
  }
}

std::int32_t integer(std::uint32_t word, int part, Element e) {
  const int bits = kElementBits[static_cast<int>(e)];
  const std::uint32_t v = word >> (part * bits) & ((1u << bits) - 1);
  const std::uint32_t top = 1u << (bits - 1);
  const bool is_signed = e == Element::s8 || e == Element::s4;
  return static_cast<std::int32_t>(is_signed ? (v ^ top) - top : v);
}

void multiply_integers(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const Shape s = shape_of(op);
  const Element ea = element_a(op), eb = element_b(op);
  const std::uint32_t *ra = x.words(op.a), *rb = x.words(op.b), *rc = x.words(op.c);
  const int per = 32 / kElementBits[static_cast<int>(ea)], halves = s.m / 8;
  const bool zero = op.c.word == kZeroWord && op.c.file == File::registers;
  std::uint32_t out[4][32] = {};
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      const Place p = accumulator(i, j);
      std::int64_t sum = zero ? 0 : static_cast<std::int32_t>(rc[p.reg * 32 + p.lane]);
      for (int k = 0; k < s.k; k += per) {
        const Place pa = place(i, k, per, halves), pb = place(j, k, per, 1);
        const std::uint32_t wa = ra[pa.reg * 32 + pa.lane], wb = rb[pb.reg * 32 + pb.lane];
        if (ea == Element::bit) {
          sum += std::popcount((op.flags & kXor) != 0 ? wa ^ wb : wa & wb);
          continue;
        }
        for (int part = 0; part < per; ++part) sum += integer(wa, part, ea) * integer(wb, part, eb);
      }
      if ((op.flags & kSaturates) != 0) {
        sum = std::clamp<std::int64_t>(sum, -std::int64_t{0x80000000}, 0x7fffffff);
      }
      out[p.reg][p.lane] = static_cast<std::uint32_t>(sum);
    }
  }
  std::uint32_t* d = x.result(op);
  for (int r = 0; r < 2 * halves; ++r) {
    for (std::uint32_t m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      d[r * 32 + lane] = out[r][lane];
    }
  }
}

/// a * b + c; of NaN operands b's is passed on before c's before a's, quieted.
double fused_double(double a, double b, double c) {
  const double r = std::fma(a, b, c);
  if (!std::isnan(r)) return r;
  const auto quiet = [](double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) | std::uint64_t{1} << 51);
  };
  if (std::isnan(b)) return quiet(b);
  if (std::isnan(c)) return quiet(c);
  return std::isnan(a) ? quiet(a) : std::bit_cast<double>(std::uint64_t{0xfff8} << 48);
}

double pair(const std::uint32_t* r, const Place& p) {
  return std::bit_cast<double>(r[p.reg * 64 + p.lane] | std::uint64_t{r[p.reg * 64 + 32 + p.lane]} << 32);
}

void multiply_doubles(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const Shape s = shape_of(op);
  const std::uint32_t *ra = x.words(op.a), *rb = x.words(op.b), *rc = x.words(op.c);
  const int halves = s.m / 8;
  const bool zero = op.c.word == kZeroWord && op.c.file == File::registers;
  std::uint64_t out[4][32] = {};
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      const Place p = accumulator(i, j);
      double sum = zero ? 0.0 : pair(rc, p);
      for (int k = 0; k < s.k; ++k)
        sum = fused_double(pair(ra, place(i, k, 1, halves)), pair(rb, place(j, k, 1, 1)), sum);
      out[p.reg][p.lane] = std::bit_cast<std::uint64_t>(sum);
    }
  }
  std::uint32_t* d = x.result(op);
  for (int r = 0; r < 2 * halves; ++r) {
    for (std::uint32_t m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      d[r * 64 + lane] = static_cast<std::uint32_t>(out[r][lane]);
      d[r * 64 + 32 + lane] = static_cast<std::uint32_t>(out[r][lane] >> 32);
    }
  }
}

/// Rd, Ra, Rb, Rc; "ROW" and "COL" say what the layout always is.
void take_operands(Decoder& d) {
  MicroOp& op = d.op();
  d.destination();
  const auto take = [&](std::string_view layout) {
    const isa::Operand& o = d.peek();
    if (o.negate || o.invert || o.absolute || o.kind != isa::OperandKind::register_ ||
        (!o.suffix.empty() && o.suffix != layout)) {
      Decoder::refuse(fmt::format("operand '{}'", o.text));
    }
    return d.sign_source();
  };
  op.a = take("ROW");
  op.b = take("COL");
  op.c = take("");
}

void take_shape(Decoder& d, std::initializer_list<std::string_view> names,
                std::initializer_list<Shape> shapes) {
  const Shape s = shapes.begin()[d.need_one(names)];
  d.op().index2 = static_cast<std::uint32_t>(s.m | s.n << 8 | s.k << 16);
}

void set_elements(MicroOp& op, Element a, Element b) {
  op.flags |= static_cast<std::uint32_t>(a) << kElementAShift | static_cast<std::uint32_t>(b)
                                                                    << kElementBShift;
}

void hmma(Decoder& d) {
  MicroOp& op = d.op();
  if (d.take("SP")) Decoder::refuse("sparse operands");
  take_shape(d, {"16816", "1688", "1684"}, {{16, 8, 16}, {16, 8, 8}, {16, 8, 4}});
  // The first of F32 and F16 is the result's.
  d.flag(d.need_one({"F32", "F16"}) == 1, kHalfResult);
  d.flag(d.sm() < 90, kAmpere);
  const int type = d.take_one({"BF16", "TF32"}, -1);
  const Element e = type == 0 ? Element::bf16 : type == 1 ? Element::tf32 : Element::f16;
  const int k = shape_of(op).k;
  if ((e == Element::tf32) != (k == 4) && !(e == Element::tf32 && k == 8))
    Decoder::refuse("a shape of another type");
  set_elements(op, e, e);
  take_operands(d);
  d.warp(multiply_floats);
}

void qmma(Decoder& d) {
  MicroOp& op = d.op();
  if (d.take("SP")) Decoder::refuse("sparse operands");
  if (d.take("SF")) Decoder::refuse("block-scaled operands");
  take_shape(d, {"16832", "16816"}, {{16, 8, 32}, {16, 8, 16}});
  d.flag(d.need_one({"F32", "F16"}) == 1, kHalfResult);
  std::vector<Element> types;
  for (const std::string& m : d.instruction().modifiers) {
    if (m == "E4M3") types.push_back(Element::e4m3);
    if (m == "E5M2") types.push_back(Element::e5m2);
  }
  if (types.size() != 2) Decoder::refuse("two element types of eight bits are needed");
  d.take_one({"E4M3", "E5M2"}, 0);
  d.take_one({"E4M3", "E5M2"}, 0);
  set_elements(op, types[0], types[1]);
  take_operands(d);
  d.warp(multiply_floats);
}

void imma(Decoder& d) {
  MicroOp& op = d.op();
  if (d.take("SP")) Decoder::refuse("sparse operands");
  take_shape(d, {"16832", "16816", "8816", "16864", "8832"},
             {{16, 8, 32}, {16, 8, 16}, {8, 8, 16}, {16, 8, 64}, {8, 8, 32}});
  std::vector<Element> types;
  for (const std::string& m : d.instruction().modifiers) {
    const std::string_view names[] = {"S8", "U8", "S4", "U4"};
    for (int i = 0; i < 4; ++i) {
      if (m == names[i]) {
        types.push_back(static_cast<Element>(static_cast<int>(Element::s8) + i));
        d.take(m);
      }
    }
  }
  if (types.size() != 2) Decoder::refuse("two element types are needed");
  if (kElementBits[static_cast<int>(types[0])] != kElementBits[static_cast<int>(types[1])]) {
    Decoder::refuse("elements of different widths");
  }
  d.flag(d.take("SAT"), kSaturates);
  set_elements(op, types[0], types[1]);
  take_operands(d);
  d.warp(multiply_integers);
}

void bmma(Decoder& d) {
  MicroOp& op = d.op();
  take_shape(d, {"168256", "168128", "88128"}, {{16, 8, 256}, {16, 8, 128}, {8, 8, 128}});
  d.flag(d.need_one({"AND", "XOR"}) == 1, kXor);
  if (!d.take("POPC")) Decoder::refuse("an operation other than POPC");
  set_elements(op, Element::bit, Element::bit);
  take_operands(d);
  d.warp(multiply_integers);
}

void dmma(Decoder& d) {
  MicroOp& op = d.op();
  take_shape(d, {"884", "8x8x4", "16x8x4", "16x8x8", "16x8x16"},
             {{8, 8, 4}, {8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}});
  set_elements(op, Element::f64, Element::f64);
  take_operands(d);
  d.warp(multiply_doubles);
}

}  // namespace

bool translate_tensor(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::HMMA: hmma(d); return true;
    case Opcode::QMMA: qmma(d); return true;
    case Opcode::IMMA: imma(d); return true;
    case Opcode::BMMA: bmma(d); return true;
    case Opcode::DMMA: dmma(d); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
