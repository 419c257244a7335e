// Single, double and half precision arithmetic and comparison.
//
// Models:  operand orders of float, double and half instructions as nvcc 13 makes them; HFMA2 also loads constants.
#include <fmt/format.h>

#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;

namespace {

/// .RM, .RP, .RZ; nearest even (.RN or nothing) is 0.
void take_rounding(Decoder& d) {
  d.op().flags |= static_cast<std::uint32_t>(d.printed.take_one({"RN", "RM", "RP", "RZ"}, 0))
                  << kRoundingShift;
}
void take_flush(Decoder& d) {
  d.flag(d.printed.take("FTZ"), kFlush);
  if (d.printed.take("FMZ")) d.op().flags |= kFlush | kZeroWins;
}

/// Comparison with unordered forms. Codes: 1 less, 2 equal, 4 greater, 8 unordered.
void take_comparison(Decoder& d) {
  const int code = d.printed.need_one(
      {"F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T"});
  d.op().flags |= static_cast<std::uint32_t>(code) << kCompareShift;
}
void take_combination(Decoder& d) {
  d.op().flags |= static_cast<std::uint32_t>(d.printed.need_one({"AND", "OR", "XOR"})) << kCombineShift;
}

void single_arithmetic(Decoder& d, int sources, LaneOp simple, LaneOp general) {
  MicroOp& op = d.op();
  take_flush(d);
  take_rounding(d);
  d.flag(d.printed.take("SAT"), kSaturate);
  d.destination();
  op.a = d.source(Style::single);
  op.b = d.source(Style::single);
  if (sources == 3) op.c = d.source(Style::single);
  d.lane(op.flags == 0 ? simple : general);
}

/// FMUL, also with a power of two that the product is multiplied by: the compiler makes it of a product and a second constant
/// factor, whose two roundings it must keep, so the result is that of two multiplications.
void single_product(Decoder& d) {
  const int scale = d.printed.take_one({"D2", "D4", "D8", "M8", "M4", "M2"}, -1);
  if (scale < 0) {
    single_arithmetic(d, 2, LaneOp::fmul, LaneOp::fmul_general);
    return;
  }
  constexpr std::uint32_t kFactors[] = {0x3f000000, 0x3e800000, 0x3e000000,
                                        0x41000000, 0x40800000, 0x40000000};
  single_arithmetic(d, 2, LaneOp::fmul_scaled, LaneOp::fmul_scaled);
  d.op().immediate = kFactors[scale];
}

void single_minimum(Decoder& d) {
  MicroOp& op = d.op();
  take_flush(d);
  d.flag(d.printed.take("NAN"), kNan);
  d.flag(d.printed.take("XORSIGN"), kXorSign);
  d.destination();
  if (d.printed.next_is_predicate()) {
    if (d.predicate_output() != kSinkSlot) PrintedForm::refuse("a predicate result");
  }
  op.a = d.source(Style::single);
  op.b = d.source(Style::single);
  op.p_in = d.predicate_input();
  d.lane(LaneOp::fmnmx);
}

/// What a comparison writes, two predicates or a register, and what it compares.
void take_compared(Decoder& d, bool predicate, Style style) {
  MicroOp& op = d.op();
  if (predicate) {
    op.p_out = d.predicate_output();
    op.q_out = d.predicate_output();
  } else {
    d.destination();
  }
  op.a = d.source(style);
  op.b = d.source(style);
  op.p_in = d.predicate_input();
}

void single_set(Decoder& d, bool predicate) {
  const bool one = d.printed.take("BF");
  d.flag(!one && !predicate, kAllOnes);
  take_comparison(d);
  take_flush(d);
  take_combination(d);
  take_compared(d, predicate, Style::single);
  d.lane(predicate ? LaneOp::fsetp : LaneOp::fset);
}

void single_select(Decoder& d) {
  MicroOp& op = d.op();
  take_flush(d);
  d.destination();
  op.a = d.source(Style::single);
  op.b = d.source(Style::single);
  op.p_in = d.predicate_input();
  d.lane(LaneOp::fsel);
}

void check_division(Decoder& d) {
  MicroOp& op = d.op();
  d.printed.take("DIVIDE");
  op.p_out = d.predicate_output();
  op.a = d.source(Style::single);
  op.b = d.source(Style::single);
  d.lane(LaneOp::fchk);
}

void double_arithmetic(Decoder& d, int sources, LaneOp which) {
  MicroOp& op = d.op();
  take_rounding(d);
  d.destination();
  op.a = d.wide_double();
  op.b = d.wide_double();
  if (sources == 3) op.c = d.wide_double();
  d.lane(which);
}

void double_compare(Decoder& d) {
  MicroOp& op = d.op();
  const int extreme = d.printed.take_one({"MIN", "MAX"}, -1);
  if (extreme >= 0) {
    op.flags |= static_cast<std::uint32_t>(extreme + 1) << kModeShift;
  } else {
    take_comparison(d);
  }
  take_combination(d);
  op.p_out = d.predicate_output();
  op.q_out = d.predicate_output();
  op.a = d.wide_double();
  op.b = d.wide_double();
  op.p_in = d.predicate_input();
  d.lane(LaneOp::dsetp);
}

void take_half_format(Decoder& d) {
  d.flag(d.printed.take("BF16_V2") || d.printed.take("BF16"), kBfloat);
  take_flush(d);
}

/// Whether a * b + c is c to the bit: the product of -0 and 0, and a pair of immediates, neither of them NaN. So the compiler loads
/// constants.
bool loads_pair(Decoder& d, const MicroOp& op) {
  const auto zero = [](const Source& s) { return s.file == File::registers && s.word == kZeroWord; };
  if (op.flags != 0 || !zero(op.a) || !zero(op.b)) return false;
  if (op.a.xor_mask != 0x80008000 || op.b.xor_mask != 0 || !d.printed.next_is(isa::OperandKind::immediate))
    return false;
  const auto pair = static_cast<std::uint32_t>(d.printed.peek().value);
  return (pair & 0x7fff) <= 0x7c00 && (pair >> 16 & 0x7fff) <= 0x7c00;
}

/// HADD2, HMUL2, HFMA2: all as a * b + c.
void half_arithmetic(Decoder& d, Opcode opcode) {
  MicroOp& op = d.op();
  take_half_format(d);
  d.printed.take("MMA");
  const bool single = d.printed.take("F32");
  const bool outside = opcode == Opcode::HFMA2 && d.printed.take("OOB");
  d.flag(d.printed.take("SAT"), kSaturate);
  d.flag(d.printed.take("RELU"), kRelu);
  d.destination();
  const bool bfloat = (op.flags & kBfloat) != 0;
  op.a = d.source(Style::half);
  if (single) {
    if (opcode != Opcode::HADD2) PrintedForm::refuse("a single-precision result");
    op.b = d.source(Style::half);
    if ((op.flags & (kSaturate | kRelu)) != 0) PrintedForm::refuse("a clamped single-precision result");
    d.lane(LaneOp::hadd2_f32);
    return;
  }
  switch (opcode) {
    case Opcode::HADD2:
      op.b = d.literal_source(bfloat ? 0x3f803f80 : 0x3c003c00);
      op.c = d.source(Style::half);
      break;
    case Opcode::HMUL2:
      op.b = d.source(Style::half);
      op.c = d.literal_source(0x80008000);
      break;
    default:
      op.b = d.source(Style::half);
      if (!outside && loads_pair(d, op)) {
        op.a = d.source(Style::half);
        d.lane(LaneOp::mov);
        return;
      }
      op.c = d.source(Style::half);
      break;
  }
  d.lane(outside ? LaneOp::hfma2_oob : LaneOp::hfma2);
}

/// HMNMX2, and VHMNMX of three.
void half_minimum(Decoder& d, bool three) {
  MicroOp& op = d.op();
  take_half_format(d);
  d.flag(d.printed.take("NAN"), kNan);
  if (!three) d.flag(d.printed.take("XORSIGN"), kXorSign);
  d.destination();
  op.a = d.source(Style::half);
  op.b = d.source(Style::half);
  if (three) op.c = d.source(Style::half);
  op.p_in = d.predicate_input();
  d.lane(three ? LaneOp::vhmnmx : LaneOp::hmnmx2);
}

void half_set(Decoder& d, bool predicate) {
  take_half_format(d);
  const bool one = d.printed.take("BF");
  d.flag(!one && !predicate, kAllOnes);
  d.flag(d.printed.take("H_AND"), kBothHalves);
  take_comparison(d);
  take_combination(d);
  take_compared(d, predicate, Style::half);
  d.lane(predicate ? LaneOp::hsetp2 : LaneOp::hset2);
}

}  // namespace

bool translate_float(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::FADD:
    case Opcode::UFADD: single_arithmetic(d, 2, LaneOp::fadd, LaneOp::fadd_general); return true;
    case Opcode::FMUL:
    case Opcode::UFMUL: single_product(d); return true;
    case Opcode::FFMA:
    case Opcode::UFFMA: single_arithmetic(d, 3, LaneOp::ffma, LaneOp::ffma_general); return true;
    case Opcode::FMNMX:
    case Opcode::UFMNMX: single_minimum(d); return true;
    case Opcode::FSETP:
    case Opcode::UFSETP: single_set(d, true); return true;
    case Opcode::FSET:
    case Opcode::UFSET: single_set(d, false); return true;
    case Opcode::FSEL:
    case Opcode::UFSEL: single_select(d); return true;
    case Opcode::FCHK: check_division(d); return true;
    case Opcode::DADD: double_arithmetic(d, 2, LaneOp::dadd); return true;
    case Opcode::DMUL: double_arithmetic(d, 2, LaneOp::dmul); return true;
    case Opcode::DFMA: double_arithmetic(d, 3, LaneOp::dfma); return true;
    case Opcode::DSETP: double_compare(d); return true;
    case Opcode::HADD2:
    case Opcode::HMUL2:
    case Opcode::HFMA2: half_arithmetic(d, opcode); return true;
    case Opcode::HMNMX2: half_minimum(d, false); return true;
    case Opcode::VHMNMX: half_minimum(d, true); return true;
    case Opcode::HSET2: half_set(d, false); return true;
    case Opcode::HSETP2: half_set(d, true); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
