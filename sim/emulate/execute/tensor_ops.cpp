// Matrix multiply-accumulate of a warp: HMMA, QMMA, IMMA, BMMA, DMMA.
//
// Models:  fragments as PTX's mma lays them out. Floats into f32 or f16: products are exact; with the
//          accumulator they are aligned to the largest exponent, cut to F bits behind the point, added exactly, and cut to
//          f32 (or rounded to f16). On sm_90 and sm_120 F = 25 and all of a row takes part at once (docs/vectors.md,
//          checked bit by bit there); on sm_80 F = 24 and the row is taken in pieces of 16 bytes, one after the other
//          (assumed: the sheet has no source for it). Integers are exact and wrap or saturate. Doubles: a chain of fma
//          in ascending k (assumed).
//          Sparse A: the sum of the stored products (compared with an H100 for f16, K 32).
//          Narrow floats of sm_120, scaled or sparse: scaled_products.cpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/tensor/products.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;

namespace {

/// MicroOp::flags and index2 of a matrix operation; immediate, where sparse: word of the metadata register, above it the selector.
constexpr std::uint32_t kHalfResult = 1, kSaturates = 2, kAmpere = 4, kXor = 8, kSparse = 16, kNegateA = 32,
                        kNegateB = 64, kNegateC = 128;
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

/// Place of accumulator element (row, column): two columns per lane, then rows + 8.
Place accumulator(int row, int col) { return {row % 8 * 4 + col / 2, row / 8 * 2 + col % 2, 0}; }

/// Registers of A and B as a tile: `piece` stored elements of a row from `first` on, and what they meet of B; filled up with zeros.
void take_tile(Execution& x, const MicroOp& op, int first, int piece, ProductOperands& o) {
  const Shape s = shape_of(op);
  o.type_a = element_a(op);
  o.type_b = element_b(op);
  o.sparse = (op.flags & kSparse) != 0;
  o.columns = s.n;
  const int bits = bits_of(o.type_a), of_16_bytes = 16 * 8 / bits, ratio = o.sparse ? 2 : 1;
  const int from = first / of_16_bytes, pieces = piece / of_16_bytes;
  std::uint8_t columns[kTileRows * kMostDepth];
  const int whole = s.k / 2;
  if (o.sparse) {  // which columns are meant is told for whole rows
    o.depth = whole;
    read_metadata(x.frame.file[0] + (op.immediate & 0xffffffff), static_cast<int>(op.immediate >> 32), o);
    std::copy_n(o.select, sizeof columns, columns);
  }
  o.depth = (piece + 7) / 8 * 8;
  o.depth_b = o.depth * ratio;
  if (o.depth != piece) {
    std::fill_n(o.a, kTileRows * o.depth, 0);
    std::fill_n(o.b, o.depth_b * s.n, 0);
  }
  x.lanes().fragment_rows({x.words(op.a) + 2 * from * 32, bits, pieces, o.depth}, o.a);
  x.lanes().fragment_columns({x.words(op.b) + ratio * from * 32, bits, ratio * pieces, o.columns}, o.b);
  if (!o.sparse) return;
  for (int i = 0; i < kTileRows; ++i) {
    for (int k = 0; k < o.depth; ++k) {
      const int column = k < piece ? columns[i * whole + first + k] - ratio * first : 0;
      o.select[i * o.depth + k] = static_cast<std::uint8_t>(column);
    }
  }
}

/// The lanes of `mask` of `registers` registers.
void put_result(Execution& x, const MicroOp& op, std::uint32_t mask, const std::uint32_t* out,
                int registers) {
  std::uint32_t* d = x.result(op);
  for (int r = 0; r < registers; ++r) {
    for (std::uint32_t m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      d[r * 32 + lane] = out[r * 32 + lane];
    }
  }
}

const std::uint32_t* accumulator_words(Execution& x, const MicroOp& op) {
  const bool zero = op.c.word == kZeroWord && op.c.file == File::registers;
  return zero ? nullptr : x.words(op.c);
}

void multiply_floats_of_warp(Execution& x, const MicroOp& op, std::uint32_t mask) {
  static thread_local ProductOperands operands;
  const bool ampere = (op.flags & kAmpere) != 0;
  SumRule rule;
  rule.half = (op.flags & kHalfResult) != 0;
  rule.kept = ampere ? 24 : 25;
  const int stored = shape_of(op).k / ((op.flags & kSparse) != 0 ? 2 : 1);
  const int piece = ampere ? std::min(stored, 16 * 8 / bits_of(element_a(op))) : stored;
  const std::uint32_t* c = accumulator_words(x, op);
  std::uint32_t out[4 * 32];
  for (int k = 0; k < stored; k += piece) {
    take_tile(x, op, k, piece, operands);
    multiply_floats(x.lanes(), operands, rule, c, out);
    c = out;
  }
  put_result(x, op, mask, out, rule.half ? 2 : 4);
}

/// Bytes as integers, 16 rows.
void multiply_bytes_of_warp(Execution& x, const MicroOp& op, std::uint32_t mask) {
  static thread_local ProductOperands operands;
  std::uint32_t out[4 * 32];
  take_tile(x, op, 0, shape_of(op).k / ((op.flags & kSparse) != 0 ? 2 : 1), operands);
  multiply_integers(x.lanes(), operands, (op.flags & kSaturates) != 0, accumulator_words(x, op), out);
  put_result(x, op, mask, out, 4);
}

std::int32_t integer(std::uint32_t word, int part, Element e) {
  const int bits = kElementBits[static_cast<int>(e)];
  const std::uint32_t v = word >> (part * bits) & ((1u << bits) - 1);
  const std::uint32_t top = 1u << (bits - 1);
  const bool is_signed = e == Element::s8 || e == Element::s4;
  return static_cast<std::int32_t>(is_signed ? (v ^ top) - top : v);
}

/// Sparse elements of four bits: two pairs of four. The metadata of row g stands in lane 4 g, of row g + 8 in the next; eight pieces a
/// lane, the next eight two lanes on (PTX ISA). Which k of B stored element `at` of a row meets.
int paired_column(Execution& x, const MicroOp& op, int row, int at) {
  const int piece = at / 4, selector = static_cast<int>(op.immediate >> 32);
  const int lane = row % 8 * 4 + (row / 8 + 2 * (piece / 8) + 2 * selector) % 4;
  const std::uint32_t bits =
      x.frame.file[0][(op.immediate & 0xffffffff) + static_cast<std::uint32_t>(lane)] >> (4 * (piece % 8));
  return 8 * piece + 2 * static_cast<int>(bits >> (2 * (at / 2 % 2)) & 3) + at % 2;
}

void multiply_sparse_nibbles(Execution& x, const MicroOp& op, std::uint32_t mask) {
  constexpr int kPer = 8;
  const Shape s = shape_of(op);
  const Element ea = element_a(op), eb = element_b(op);
  const std::uint32_t *ra = x.words(op.a), *rb = x.words(op.b), *rc = accumulator_words(x, op);
  std::uint32_t out[4 * 32] = {};
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      const Place p = accumulator(i, j);
      std::int64_t sum = rc == nullptr ? 0 : static_cast<std::int32_t>(rc[p.reg * 32 + p.lane]);
      for (int at = 0; at < s.k / 2; ++at) {
        const Place pa = place(i, at, kPer, 2), pb = place(j, paired_column(x, op, i, at), kPer, 1);
        sum +=
            integer(ra[pa.reg * 32 + pa.lane], pa.part, ea) * integer(rb[pb.reg * 32 + pb.lane], pb.part, eb);
      }
      if ((op.flags & kSaturates) != 0)
        sum = std::clamp<std::int64_t>(sum, -std::int64_t{0x80000000}, 0x7fffffff);
      out[p.reg * 32 + p.lane] = static_cast<std::uint32_t>(sum);
    }
  }
  put_result(x, op, mask, out, 4);
}

void multiply_integers_of_warp(Execution& x, const MicroOp& op, std::uint32_t mask) {
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
  const double sign = ((op.flags & kNegateA) != 0) != ((op.flags & kNegateB) != 0) ? -1 : 1,
               sign_c = (op.flags & kNegateC) != 0 ? -1 : 1;
  std::uint64_t out[4][32] = {};
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      const Place p = accumulator(i, j);
      double sum = zero ? 0.0 : sign_c * pair(rc, p);
      for (int k = 0; k < s.k; ++k)
        sum = fused_double(sign * pair(ra, place(i, k, 1, halves)), pair(rb, place(j, k, 1, 1)), sum);
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

/// Rd, Ra, Rb, Rc; "ROW" and "COL" say what the layout always is. `signs`: A, B and C may be negated.
void take_operands(Decoder& d, bool signs = false) {
  MicroOp& op = d.op();
  d.destination();
  const auto take = [&](std::string_view layout, std::uint32_t negated = 0) {
    const isa::Operand& o = d.printed.peek();
    d.flag(signs && o.negate, negated);
    if ((o.negate && !signs) || o.invert || o.absolute || o.kind != isa::OperandKind::register_ ||
        (!o.suffix.empty() && o.suffix != layout)) {
      PrintedForm::refuse(fmt::format("operand '{}'", o.text));
    }
    return d.sign_source();
  };
  op.a = take("ROW", kNegateA);
  op.b = take("COL", kNegateB);
  op.c = take("", kNegateC);
  if ((op.flags & kSparse) == 0) return;
  op.immediate = take("").word;
  if (d.printed.next_is(isa::OperandKind::immediate))
    op.immediate |= std::uint64_t{d.printed.immediate()} << 32;
}

void take_shape(Decoder& d, std::initializer_list<std::string_view> names,
                std::initializer_list<Shape> shapes) {
  const Shape s = shapes.begin()[d.printed.need_one(names)];
  d.op().index2 = static_cast<std::uint32_t>(s.m | s.n << 8 | s.k << 16);
}

void set_elements(MicroOp& op, Element a, Element b) {
  op.flags |= static_cast<std::uint32_t>(a) << kElementAShift | static_cast<std::uint32_t>(b)
                                                                    << kElementBShift;
}

void hmma(Decoder& d) {
  MicroOp& op = d.op();
  d.flag(d.printed.take("SP"), kSparse);
  take_shape(d, {"16816", "1688", "1684", "16832"}, {{16, 8, 16}, {16, 8, 8}, {16, 8, 4}, {16, 8, 32}});
  // The first of F32 and F16 is the result's.
  d.flag(d.printed.need_one({"F32", "F16"}) == 1, kHalfResult);
  d.flag(d.sm() < 90, kAmpere);
  const int type = d.printed.take_one({"BF16", "TF32"}, -1);
  const Element e = type == 0 ? Element::bf16 : type == 1 ? Element::tf32 : Element::f16;
  const int k = shape_of(op).k / ((op.flags & kSparse) != 0 ? 2 : 1);
  if (e == Element::tf32 ? k != 4 && k != 8 : k != 8 && k != 16)
    PrintedForm::refuse("a shape of another type");
  set_elements(op, e, e);
  take_operands(d);
  d.warp(multiply_floats_of_warp);
}

void qmma(Decoder& d) {
  MicroOp& op = d.op();
  const auto& modifiers = d.printed.instruction().modifiers;
  if (std::any_of(modifiers.begin(), modifiers.end(), [](const std::string& m) {
        return m == "SP" || m == "SF" || m == "E3M2" || m == "E2M3" || m == "E2M1";
      })) {
    translate_narrow(d);
    return;
  }
  take_shape(d, {"16832", "16816"}, {{16, 8, 32}, {16, 8, 16}});
  d.flag(d.printed.need_one({"F32", "F16"}) == 1, kHalfResult);
  std::vector<Element> types;
  for (const std::string& m : d.printed.instruction().modifiers) {
    if (m == "E4M3") types.push_back(Element::e4m3);
    if (m == "E5M2") types.push_back(Element::e5m2);
  }
  if (types.size() != 2) PrintedForm::refuse("two element types of eight bits are needed");
  d.printed.take_one({"E4M3", "E5M2"}, 0);
  d.printed.take_one({"E4M3", "E5M2"}, 0);
  set_elements(op, types[0], types[1]);
  take_operands(d);
  d.warp(multiply_floats_of_warp);
}

void imma(Decoder& d) {
  MicroOp& op = d.op();
  d.flag(d.printed.take("SP"), kSparse);
  take_shape(d, {"16832", "16816", "8816", "16864", "8832", "168128"},
             {{16, 8, 32}, {16, 8, 16}, {8, 8, 16}, {16, 8, 64}, {8, 8, 32}, {16, 8, 128}});
  std::vector<Element> types;
  for (const std::string& m : d.printed.instruction().modifiers) {
    const std::string_view names[] = {"S8", "U8", "S4", "U4"};
    for (int i = 0; i < 4; ++i) {
      if (m == names[i]) {
        types.push_back(static_cast<Element>(static_cast<int>(Element::s8) + i));
        d.printed.take(m);
      }
    }
  }
  if (types.size() != 2) PrintedForm::refuse("two element types are needed");
  if (kElementBits[static_cast<int>(types[0])] != kElementBits[static_cast<int>(types[1])]) {
    PrintedForm::refuse("elements of different widths");
  }
  d.flag(d.printed.take("SAT"), kSaturates);
  set_elements(op, types[0], types[1]);
  const bool bytes = bits_of(types[0]) == 8 && shape_of(op).m == 16;
  const bool sparse = (op.flags & kSparse) != 0;
  if ((sparse && shape_of(op).m != 16) || (shape_of(op).k == 128 && (!sparse || bytes)))
    PrintedForm::refuse("a shape of another type");
  take_operands(d);
  d.warp(bytes ? multiply_bytes_of_warp : sparse ? multiply_sparse_nibbles : multiply_integers_of_warp);
}

void bmma(Decoder& d) {
  MicroOp& op = d.op();
  take_shape(d, {"168256", "168128", "88128"}, {{16, 8, 256}, {16, 8, 128}, {8, 8, 128}});
  d.flag(d.printed.need_one({"AND", "XOR"}) == 1, kXor);
  if (!d.printed.take("POPC")) PrintedForm::refuse("an operation other than POPC");
  set_elements(op, Element::bit, Element::bit);
  take_operands(d);
  d.warp(multiply_integers_of_warp);
}

void dmma(Decoder& d) {
  MicroOp& op = d.op();
  take_shape(d, {"884", "8x8x4", "16x8x4", "16x8x8", "16x8x16"},
             {{8, 8, 4}, {8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}});
  set_elements(op, Element::f64, Element::f64);
  take_operands(d, true);
  d.warp(multiply_doubles);
}

}  // namespace

bool translate_tensor(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::HMMA: hmma(d); return true;
    case Opcode::QMMA: qmma(d); return true;
    case Opcode::OMMA: translate_narrow(d); return true;
    case Opcode::IMMA: imma(d); return true;
    case Opcode::BMMA: bmma(d); return true;
    case Opcode::DMMA: dmma(d); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
