// Models:  FADD2, FMUL2, FFMA2: two floats of a register pair, each as FADD, FMUL, FFMA computes it; an operand is a pair (.F32x2.HI_LO), a
//          pair the other way round (.LO_HI), one value for both (.F32, a number), or a pair of which the low half alone is negated
//          (-R.NP). FMNMX3: the least or largest of three. CREDUX: the least or largest of a warp's integers or floats.
// Source:  what ptxas 13.0 makes of the PTX ISA's f32x2 instructions, min and max of three operands, and redux.sync for sm_100a;
//          no such device was asked.
#include "sim/emulate/execute/paired_floats.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"

namespace foretrace::emulate {

using isa::Opcode;
using isa::OperandKind;

namespace {

/// MicroOp::index2 of a pair: a bit for each of three sources.
constexpr std::uint32_t kSwapped = 1, kSingle = 8, kLowNegated = 64;
/// MicroOp::flags beside kFlush and kNan.
constexpr std::uint32_t kLargest = 1, kSignedPair = 2, kFloat = 4, kAbsolute = 8;
constexpr std::uint32_t kPairSign = 0x80000000, kNotANumber = 0x7fffffff;

/// MicroOp::immediate: which of LaneOp computes a half.
MicroOp half_of(const MicroOp& op, std::uint32_t half) {
  MicroOp one = op;
  one.plain = false;
  one.destination += half * kWarpSize;
  Source* const sources[] = {&one.a, &one.b, &one.c};
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t bits = op.index2 >> i;
    const bool swapped = (bits & kSwapped) != 0;
    if ((bits & kSingle) == 0 && (half != 0) != swapped) sources[i]->word += kWarpSize;
    if ((bits & kLowNegated) != 0 && half == 0) sources[i]->xor_mask = kPairSign;
  }
  return one;
}

void paired(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const LaneFunction compute = x.lanes().op[op.immediate];
  std::uint32_t* const d = x.result(op);
  std::uint32_t before[kWarpSize], low[kWarpSize];
  std::copy_n(d, kWarpSize, before);
  compute(x.frame, half_of(op, 0), mask);
  std::copy_n(d, kWarpSize, low);
  std::copy_n(before, kWarpSize, d);  // the high half may read it
  compute(x.frame, half_of(op, 1), mask);
  std::copy_n(low, kWarpSize, d);
}

bool is_nan(std::uint32_t bits) { return (bits & ~kPairSign) > 0x7f800000; }

/// Ascends as the values do; -0 is before +0.
std::int64_t place_of(std::uint32_t bits, bool is_float, bool is_signed) {
  if (!is_float) return is_signed ? std::int64_t{static_cast<std::int32_t>(bits)} : std::int64_t{bits};
  const std::int64_t magnitude = bits & ~kPairSign;
  return (bits & kPairSign) != 0 ? -1 - magnitude : magnitude;
}

/// The least or largest of two; of floats NaN loses, or wins with kNan.
std::uint32_t chosen(std::uint32_t x, std::uint32_t y, std::uint32_t flags, bool largest) {
  const bool is_float = (flags & kFloat) != 0, is_signed = (flags & kSignedPair) != 0;
  if (is_float && (is_nan(x) || is_nan(y))) {
    if ((flags & kNan) != 0 || (is_nan(x) && is_nan(y))) return kNotANumber;
    return is_nan(x) ? y : x;
  }
  const bool less = place_of(x, is_float, is_signed) < place_of(y, is_float, is_signed);
  return less != largest ? x : y;
}

/// A float operand with its sign modifiers; a subnormal is a zero with kFlush.
std::uint32_t float_at(const std::uint32_t* words, const Source& s, int lane, std::uint32_t flags) {
  const std::uint32_t bits = (words[lane] & s.and_mask) ^ s.xor_mask;
  return (flags & kFlush) != 0 && (bits & 0x7f800000) == 0 ? bits & kPairSign : bits;
}

void of_three(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t *a = x.words(op.a), *b = x.words(op.b), *c = x.words(op.c);
  const std::uint32_t least = x.predicate(op.p_in), flags = op.flags | kFloat;
  std::uint32_t* d = x.result(op);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const bool largest = (least >> lane & 1) == 0;
    const std::uint32_t two =
        chosen(float_at(a, op.a, lane, flags), float_at(b, op.b, lane, flags), flags, largest);
    d[lane] = chosen(two, float_at(c, op.c, lane, flags), flags, largest);
  }
}

void of_warp(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t* a = x.words(op.a);
  const std::uint32_t keep = (op.flags & kAbsolute) != 0 ? ~kPairSign : ~0u;
  std::uint32_t r = a[std::countr_zero(mask)] & keep;
  for (std::uint32_t m = mask & (mask - 1); m != 0; m &= m - 1)
    r = chosen(r, a[std::countr_zero(m)] & keep, op.flags, (op.flags & kLargest) != 0);
  if ((op.flags & kFloat) != 0 && is_nan(r)) r = kNotANumber;  // a NaN of a warp of one lane, too
  std::fill_n(x.result(op), kWarpSize, r);
}

/// The next operand as source number `index`.
Source pair_source(Decoder& d, std::uint32_t index) {
  const isa::Operand& operand = d.printed.peek();
  const std::string& form = operand.suffix;
  const auto mark = [&](std::uint32_t bit) { d.op().index2 |= bit << index; };
  const bool number = operand.kind == OperandKind::immediate && form.empty();
  const bool mixed = form == "F32x2.HI_LO.NP" && operand.negate;
  if (form == "F32x2.LO_HI") {
    mark(kSwapped);
  } else if (form == "F32" || number) {
    mark(kSingle);
  } else if (mixed) {
    mark(kLowNegated);
  } else if (form != "F32x2.HI_LO") {
    PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
  }
  if (operand.invert || operand.absolute || operand.kind == OperandKind::constant)
    PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
  const bool negate = operand.negate && !mixed;
  Source s = d.sign_source();
  if (negate) s.xor_mask = kPairSign;
  return s;
}

void pairs(Decoder& d, LaneOp which, std::uint32_t sources) {
  MicroOp& op = d.op();
  d.flag(d.printed.take("FTZ"), kFlush);
  op.flags |= static_cast<std::uint32_t>(d.printed.take_one({"RN", "RM", "RP", "RZ"}, 0)) << kRoundingShift;
  d.destination();
  op.a = pair_source(d, 0);
  op.b = pair_source(d, 1);
  if (sources == 3) op.c = pair_source(d, 2);
  op.immediate = static_cast<std::uint64_t>(which);
  d.warp(paired);
}

void three(Decoder& d) {
  MicroOp& op = d.op();
  d.flag(d.printed.take("FTZ"), kFlush);
  d.flag(d.printed.take("NAN"), kNan);
  d.destination();
  op.a = d.source(Style::single);
  op.b = d.source(Style::single);
  op.c = d.source(Style::single);
  op.p_in = d.predicate_input();
  d.warp(of_three);
}

void warp_wide(Decoder& d) {
  MicroOp& op = d.op();
  const int which = d.printed.need_one({"MIN", "MAX", "MINABS", "MAXABS"});
  d.flag(which % 2 == 1, kLargest);
  d.flag(which >= 2, kAbsolute);
  d.flag(d.printed.take("F32"), kFloat);
  d.flag(d.printed.take("S32"), kSignedPair);
  d.flag(d.printed.take("NAN"), kNan);
  d.destination();
  op.a = d.source(Style::raw);
  d.warp(of_warp);
}

}  // namespace

bool translate_paired(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::FADD2: pairs(d, LaneOp::fadd_general, 2); return true;
    case Opcode::FMUL2: pairs(d, LaneOp::fmul_general, 2); return true;
    case Opcode::FFMA2: pairs(d, LaneOp::ffma_general, 3); return true;
    case Opcode::FMNMX3: three(d); return true;
    case Opcode::CREDUX: warp_wide(d); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
