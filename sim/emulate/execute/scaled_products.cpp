// Products of narrow floats of sm_120: QMMA of 8-, 6- and 4-bit elements in bytes, OMMA of packed 4-bit ones, both with a scale for
// each block of K (.SF) and with sparse A (.SP).
//
// Models:  fragments and metadata as PTX lays them out: QMMA's as of 8-bit elements, a 6-bit element in its byte's low bits, a 4-bit one
//          in bits 2 to 5; OMMA's as of 4-bit elements. A row of A has its scales in one lane of its quad (two for rows and rows + 8;
//          a selector says which pair), a column of B in one lane of its quad; 1, 2 or 4 bytes, the first at the selected byte. The
//          selectors stand in one uniform register: byte of A in bits 0 and 1, lanes of A in bit 2, byte of B in 3 and 4, lane of B in
//          5 and 6. Sparse 8-bit elements: two of four; sparse 4-bit ones: two pairs of four.
// Assumed: products with their scales are exact, and are summed as other floats of sm_120 (25 bits); no such chip was asked.
// Source:  PTX ISA, mma and its block scaling; layouts as public kernels for sm_120 use them; ptxas 13.0 for the operands' order.
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <vector>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/execute/number.h"
#include "sim/emulate/tensor/fused_sum.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

namespace {

/// MicroOp::flags. index2: elements of K. immediate: words of the metadata's and of A's scales' registers; target: of B's scales';
/// destination2: of the uniform register of selectors.
constexpr std::uint32_t kScaledHalf = 1, kScaledSparse = 2, kScaled = 4, kPacked = 8, kFloatScale = 16;
constexpr int kScalesShift = 8, kTypeAShift = 12, kTypeBShift = 16;
constexpr int kMostK = 128, kRows = 16, kColumns = 8;

enum Narrow : std::uint8_t { e4m3, e5m2, e3m2, e2m3, e2m1 };
constexpr std::string_view kNames[] = {"E4M3", "E5M2", "E3M2", "E2M3", "E2M1"};
struct ScaledLayout {
  int exponent_bits, fraction, bias;
};
constexpr ScaledLayout kScaledLayouts[] = {{4, 3, 7}, {5, 2, 15}, {3, 2, 3}, {2, 3, 1}, {2, 1, 1}};

/// `bits` of an element in the low bits.
Term narrow_term(std::uint32_t bits, Narrow type) {
  if (type == e4m3) return term(bits, layout_of(Element::e4m3));
  if (type == e5m2) return term(bits, layout_of(Element::e5m2));
  const ScaledLayout l = kScaledLayouts[type];  // neither infinities nor NaN
  const std::uint32_t fraction = bits & ((1u << l.fraction) - 1);
  const int biased = static_cast<int>(bits >> l.fraction) & ((1 << l.exponent_bits) - 1);
  Term t;
  t.negative = (bits >> (l.fraction + l.exponent_bits) & 1) != 0;
  t.significand = static_cast<std::int32_t>(biased == 0 ? fraction : fraction | 1u << l.fraction);
  t.exponent = std::max(biased, 1) - l.bias;
  return t;
}

/// Times a scale: a power of two, or an unsigned float of 4 and 3 bits, which adds three bits behind the point.
void scale(Term& t, std::uint32_t byte, bool is_float) {
  if (is_float) {
    const Term s = term(byte & 0x7f, layout_of(Element::e4m3));
    t.nan = t.nan || s.nan;
    t.significand *= s.significand;
    t.exponent += s.exponent;
  } else {
    t.nan = t.nan || byte == 0xff;
    t.exponent += static_cast<int>(byte) - 127;
  }
}

struct Warp {
  Execution& x;
  const MicroOp& op;
  int k = static_cast<int>(op.index2);
  int per = (op.flags & kPacked) != 0 ? 8 : 4;  // elements per register
  bool sparse = (op.flags & kScaledSparse) != 0;

  std::uint32_t element(const std::uint32_t* registers, int line, int at, int halves, Narrow type) const {
    const int quad = 4 * per, lane = line % 8 * 4 + at % quad / per, reg = at / quad * halves + line / 8;
    const std::uint32_t word = registers[reg * 32 + lane] >> (at % per * (32 / per));
    if (per == 8) return word & 15;
    return type == e2m1 ? word >> 2 & 15 : word & (type >= e3m2 ? 63 : 255);
  }
  /// Which k of B stored element `at` of a row of A meets.
  int column(int row, int at) const {
    if (!sparse) return at;
    const int pair = per == 8 ? 2 : 1, piece = at / (2 * pair),
              lane = row % 8 * 4 + row / 8 + 2 * (piece / 8);
    const std::uint32_t bits =
        x.frame.file[0][(op.immediate & 0xffffffff) + static_cast<std::uint32_t>(lane)] >> (4 * (piece % 8));
    return pair * (4 * piece + static_cast<int>(bits >> (2 * (at / pair % 2)) & 3)) + at % pair;
  }
  /// The scale of block `block` of a row of A or a column of B.
  std::uint32_t scale_of(bool of_a, int line, int block) const {
    const std::uint32_t select = x.frame.file[1][op.destination2];
    const std::uint32_t byte = of_a ? select & 3 : select >> 3 & 3,
                        lanes = of_a ? select >> 2 & 1 : select >> 5 & 3;
    const auto lane =
        static_cast<std::uint32_t>(line % 8 * 4 + (of_a ? line / 8 : 0)) + lanes * (of_a ? 2 : 1);
    const auto word = of_a ? static_cast<std::uint32_t>(op.immediate >> 32) : op.target;
    return x.frame.file[0][word + lane] >> (8 * ((byte + static_cast<std::uint32_t>(block)) & 3)) & 255;
  }
};

void multiply_narrow(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const Warp warp{x, op};
  const auto type_a = static_cast<Narrow>(op.flags >> kTypeAShift & 15),
             type_b = static_cast<Narrow>(op.flags >> kTypeBShift & 15);
  const bool scaled = (op.flags & kScaled) != 0, float_scale = (op.flags & kFloatScale) != 0;
  const int stored = warp.sparse ? warp.k / 2 : warp.k;
  const int blocks = std::max(1, static_cast<int>(op.flags >> kScalesShift & 7)), block = warp.k / blocks;
  static thread_local std::array<std::array<Term, kMostK>, kRows> a;
  static thread_local std::array<std::array<Term, kMostK>, kColumns> b;
  static thread_local std::array<std::array<int, kMostK>, kRows> columns;
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < stored; ++i) {
      Term& t = a[row][i];
      columns[row][i] = warp.column(row, i);
      t = narrow_term(warp.element(x.words(op.a), row, i, 2, type_a), type_a);
      if (scaled) scale(t, warp.scale_of(true, row, columns[row][i] / block), float_scale);
    }
  }
  for (int column = 0; column < kColumns; ++column) {
    for (int i = 0; i < warp.k; ++i) {
      Term& t = b[column][i];
      t = narrow_term(warp.element(x.words(op.b), column, i, 1, type_b), type_b);
      if (scaled) scale(t, warp.scale_of(false, column, i / block), float_scale);
    }
  }
  SumRule rule;
  rule.half = (op.flags & kScaledHalf) != 0;
  const int fraction =
      kScaledLayouts[type_a].fraction + kScaledLayouts[type_b].fraction + (scaled && float_scale ? 6 : 0);
  const bool zero = op.c.word == kZeroWord && op.c.file == File::registers;
  const std::uint32_t* c = x.words(op.c);
  std::uint32_t out[4][32] = {};
  std::array<Term, kMostK> met;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const int lane = row % 8 * 4 + column / 2, reg = rule.half ? row / 8 : row / 8 * 2 + column % 2;
      const int shift = rule.half ? column % 2 * 16 : 0;
      for (int i = 0; i < stored; ++i) met[i] = b[column][columns[row][i]];
      std::uint32_t before = zero ? 0 : c[reg * 32 + lane] >> shift;
      if (rule.half) before = std::bit_cast<std::uint32_t>(half_to_float(static_cast<std::uint16_t>(before)));
      out[reg][lane] |= fused_sum(a[row].data(), met.data(), stored, fraction, before, rule) << shift;
    }
  }
  std::uint32_t* d = x.result(op);
  for (int r = 0; r < (rule.half ? 2 : 4); ++r)
    for (std::uint32_t m = mask; m != 0; m &= m - 1)
      d[r * 32 + std::countr_zero(m)] = out[r][std::countr_zero(m)];
}

std::uint32_t register_word(Decoder& d, int further = 0) {
  const isa::Operand& operand = d.printed.next();
  if (operand.kind != isa::OperandKind::register_ || operand.negate || operand.absolute)
    PrintedForm::refuse("operand '" + operand.text + "'");
  const bool is_zero = operand.index == isa::kRz;
  return Decoder::register_word(is_zero ? isa::kRz : operand.index + further, false);
}

}  // namespace

/// Rd, Ra, Rb, Rc; sparse: the metadata; scaled: A's scales (in the register behind the metadata), B's scales, selectors; sparse: 0.
void translate_narrow(Decoder& d) {
  MicroOp& op = d.op();
  const bool sparse = d.printed.take("SP"), scaled = d.printed.take("SF"),
             packed = d.printed.opcode() == isa::Opcode::OMMA;
  d.flag(sparse, kScaledSparse);
  d.flag(scaled, kScaled);
  d.flag(packed, kPacked);
  op.index2 = packed ? (sparse ? 128 : 64) : (sparse ? 64 : 32);
  const std::initializer_list<std::string_view> shapes = {"16832", "16864", "168128"};
  if (32u << d.printed.need_one(shapes) != op.index2) PrintedForm::refuse("a shape of another type");
  d.flag(d.printed.need_one({"F32", "F16"}) == 1, kScaledHalf);
  std::vector<std::uint32_t> types;
  for (const std::string& modifier : d.printed.instruction().modifiers) {
    const auto* const found = std::find(std::begin(kNames), std::end(kNames), modifier);
    if (found != std::end(kNames)) types.push_back(static_cast<std::uint32_t>(found - std::begin(kNames)));
  }
  if (types.size() != 2) PrintedForm::refuse("two element types are needed");
  for (const std::uint32_t type : types) d.printed.take(kNames[type]);
  if (packed && (types[0] != e2m1 || types[1] != e2m1))
    PrintedForm::refuse("elements of more than four bits");
  op.flags |= types[0] << kTypeAShift | types[1] << kTypeBShift;
  if (scaled) {
    const bool is_float = d.printed.need_one({"E8", "UE4M3"}) == 1;
    d.flag(is_float, kFloatScale);
    const bool four = d.printed.take("4X");
    op.flags |= (four ? 4u : packed ? 2u : 1u) << kScalesShift;
  } else if (packed) {
    PrintedForm::refuse("packed elements without scales");
  }
  d.destination();
  for (Source* source : {&op.a, &op.b, &op.c}) *source = Source{.word = register_word(d)};
  if (sparse) {
    const isa::Operand metadata = d.printed.peek();
    op.immediate = register_word(d);
    if (scaled)
      op.immediate |= static_cast<std::uint64_t>(Decoder::register_word(metadata.index + 1, false)) << 32;
  } else if (scaled) {
    op.immediate = static_cast<std::uint64_t>(register_word(d)) << 32;
  }
  if (scaled) {
    op.target = register_word(d);
    const isa::Operand& selectors = d.printed.next();
    if (selectors.kind != isa::OperandKind::uniform_register)
      PrintedForm::refuse("operand '" + selectors.text + "'");
    op.destination2 = Decoder::uniform_word(selectors.index, false);
  }
  if (sparse && d.printed.immediate() != 0) PrintedForm::refuse("a selector of metadata");
  d.warp(multiply_narrow);
}

}  // namespace foretrace::emulate
