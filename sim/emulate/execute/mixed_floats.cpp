// Models:  FHADD, FHFMA: a sum, or a product and a sum, of floats whose first operands are halves or bfloat16 in one half of a register:
//          converted to single precision, exactly, then computed as FADD and FFMA do. F2FP with .RS: two floats rounded to 16, 8, 6 or 4 bits
//          towards or away from zero by random bits: those that a number gets are added to as many of the highest of its discarded
//          bits, and a carry rounds away from zero (cvt.rs). Of 16 bits they come from the half of the third source that the result goes to,
//          and f16 takes the low 13; of 8 and 6 bits from its upper half, a byte each, and the lower half moves up: ptxas 13.0 rounds
//          four numbers with two such instructions, the second of which reads the first one's result. Of 4 bits they come from the highest
//          byte and the second lowest, and the lower three bytes move up by one: no other two bytes give each number one of its own.
// Source:  PTX ISA, mixed precision add and fma, cvt and its random bits; which bits of a longer discarded part the random ones meet, and
//          which byte is whose, is as docs/sources.md:QUACK found it on a B200 with numbers of 8 bits. Of 4 bits they found these two bytes
//          on a B300, whose order differs in all formats; that the first number has the higher one on a B200 is taken over from 8 bits:
//          assumed. No such device was asked by us.
// Ignores: a float of 65536 or more to f16 without .SATFINITE, of which the PTX ISA does not say whether it becomes infinite: refused.
#include <algorithm>
#include <array>
#include <bit>

#include "sim/emulate/execute/convert.h"
#include "sim/emulate/execute/execution.h"
#include "sim/emulate/execute/number.h"
#include "sim/emulate/execute/paired_floats.h"

namespace foretrace::emulate {

using isa::Opcode;

namespace {

constexpr std::uint32_t kLanes = 32;

/// MicroOp::immediate: which of LaneOp computes; index2: how many sources are halves.
void mixed(Execution& x, const MicroOp& op, std::uint32_t mask) {
  alignas(64) std::array<std::uint32_t, 3 * kLanes> operands;
  const Source* const sources[] = {&op.a, &op.b, &op.c};
  MicroOp one = op;
  one.plain = false;
  Source* const singles[] = {&one.a, &one.b, &one.c};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint32_t* words = x.words(*sources[i]);
    for (std::uint32_t l = 0; l < kLanes; ++l) {
      std::uint32_t word = (words[l] & sources[i]->and_mask) ^ sources[i]->xor_mask;
      if (i < op.index2) {
        const auto half = static_cast<std::uint16_t>(sources[i]->swizzle == 2 ? word >> 16 : word);
        word = std::bit_cast<std::uint32_t>((op.flags & kBfloat) != 0 ? bfloat_to_float(half)
                                                                      : half_to_float(half));
      }
      operands[i * kLanes + l] = word;
    }
    *singles[i] = Source{.word = i * kLanes, .file = File::literal};
  }
  LaneFrame frame = x.frame;
  frame.file[static_cast<int>(File::literal)] = operands.data();
  x.lanes().op[op.immediate](frame, one, mask);
}

void mixes(Decoder& d, LaneOp which, std::uint32_t halves) {
  MicroOp& op = d.op();
  d.flag(d.printed.take("BF16"), kBfloat);
  op.flags |= static_cast<std::uint32_t>(d.printed.take_one({"RN", "RM", "RP", "RZ"}, 0)) << kRoundingShift;
  d.flag(d.printed.take("SAT"), kSaturate);
  d.destination();
  op.a = d.source(Style::half);
  if (halves == 2) op.b = d.source(Style::half);
  (halves == 2 ? op.c : op.b) = d.source(Style::single);
  op.index2 = halves;
  op.immediate = static_cast<std::uint64_t>(which);
  d.warp(mixed);
}

/// A format that is rounded to: bits of its fraction, its bias, its largest finite number, its NaN, and how many random bits it takes.
struct Target {
  int fraction, bias, sign;
  std::uint32_t largest, nan, random_bits;
};
/// By NarrowFormat without e2m1; then f16 and bf16, and e2m1.
constexpr Target kTargets[] = {
    {3, 7, 7, 0x7e, 0x7f, 8}, {2, 15, 7, 0x7b, 0x7f, 8},        {2, 3, 5, 0x1f, 0x1f, 8},
    {3, 1, 5, 0x1f, 0x1f, 8}, {10, 15, 15, 0x7bff, 0x7fff, 13}, {7, 127, 15, 0x7f7f, 0x7fff, 16},
    {1, 1, 3, 0x7, 0x7, 8}};
constexpr std::uint32_t kToHalf = 4, kToBfloat = 5, kToE2m1 = 6;

/// The magnitude of a finite number in the format, which may be beyond its largest.
std::uint64_t rounded(const Number& n, const Target& to, std::uint32_t random) {
  if (n.significand == 0) return 0;
  const int leading = std::countl_zero(n.significand);
  const std::uint64_t significand = n.significand << leading;
  const int exponent = n.exponent - leading;
  const int quantum = std::max(exponent + 63, 1 - to.bias) - to.fraction;
  const int drop = quantum - exponent;  // 53 or more
  const int bits = static_cast<int>(to.random_bits);
  const std::uint64_t kept = drop >= 64 ? 0 : significand >> drop;
  const std::uint64_t rest = drop >= 64 ? significand : significand & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t highest = drop - bits >= 64 ? 0 : rest >> (drop - bits);
  const std::uint64_t m = kept + ((highest + random) >> bits);
  const std::uint64_t hidden = std::uint64_t{1} << to.fraction;
  if (m < hidden) return m;
  return (static_cast<std::uint64_t>(quantum + to.fraction + to.bias) << to.fraction) + (m - hidden);
}

/// MicroOp::index2: of kTargets.
std::uint32_t round_by(Execution& x, const MicroOp& op, std::uint32_t bits, std::uint32_t random, int lane) {
  const Target& to = kTargets[op.index2];
  const Number n = unpack(Format::f32, bits);
  const bool saturates = (op.flags & kSaturate) != 0;
  if (n.kind == Number::Class::nan) return to.nan;
  std::uint64_t magnitude = to.largest + 1;  // an infinity
  if (n.kind == Number::Class::finite) {
    magnitude = rounded(n, to, random & ((1u << to.random_bits) - 1));
    if (!saturates && rounded(n, to, 0) > to.largest)
      x.fault(FaultKind::unsupported, lane,
              "unsupported: stochastic rounding of 65536 or more to f16 without .satfinite, of which the PTX "
              "ISA does not say "
              "what it gives");
  }
  if (saturates) magnitude = std::min<std::uint64_t>(magnitude, to.largest);
  if (n.negative && (op.flags & kRelu) != 0) return 0;
  return static_cast<std::uint32_t>(magnitude) | (n.negative ? 1u << to.sign : 0);
}

void round_stochastically(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t *a = x.words(op.a), *b = x.words(op.b), *c = x.words(op.c);
  std::uint32_t* d = x.result(op);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint32_t high = (a[l] & op.a.and_mask) ^ op.a.xor_mask,
                        low = (b[l] & op.b.and_mask) ^ op.b.xor_mask, random = c[l];
    if (op.index2 == kToE2m1) {
      d[l] = round_by(x, op, low, random >> 8 & 0xff, l) | round_by(x, op, high, random >> 24, l) << 4 |
             random << 8;
    } else if (op.index2 >= kToHalf) {
      d[l] = round_by(x, op, low, random & 0xffff, l) | round_by(x, op, high, random >> 16, l) << 16;
    } else {
      d[l] = round_by(x, op, low, random >> 16 & 0xff, l) | round_by(x, op, high, random >> 24, l) << 8 |
             random << 16;
    }
  }
}

}  // namespace

void take_stochastic_rounding(Decoder& d) {
  MicroOp& op = d.op();
  d.printed.take("RS");
  d.flag(d.printed.take("SATFINITE"), kSaturate);
  d.flag(d.printed.take("RELU"), kRelu);
  const int narrow = d.printed.take_one({"E4M3", "E5M2", "E3M2", "E2M3", "E2M1"}, -1);
  if (narrow >= 0) {
    if ((op.flags & kSaturate) == 0) PrintedForm::refuse("a narrow form without .SATFINITE");
    op.index2 = narrow == static_cast<int>(kToHalf) ? kToE2m1 : static_cast<std::uint32_t>(narrow);
  } else {
    op.index2 = d.printed.take("BF16") ? kToBfloat : kToHalf;
    d.printed.take("F16");
  }
  if (!d.printed.take("F32") || !d.printed.take(narrow >= 0 ? "PACK_AB_MERGE_C" : "PACK_AB"))
    PrintedForm::refuse("random bits for such a conversion: which number gets which is not known");
  d.destination();
  op.a = d.source(Style::single);
  op.b = d.source(Style::single);
  op.c = d.source(Style::raw);
  d.warp(round_stochastically);
}

bool translate_mixed(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::FHADD: mixes(d, LaneOp::fadd_general, 1); return true;
    case Opcode::FHFMA: mixes(d, LaneOp::ffma_general, 2); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
