// Integer, logic, shift, compare, select and move instructions, and their twins of the uniform datapath.
//
// Models:  operand orders of integer instructions as nvcc 13 makes them (docs/facts.md).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;
using isa::OperandKind;

namespace {

/// a + b, with -x exact, clamped to 32 bits.
void add_saturated(const LaneFrame& f, const MicroOp& op, std::uint32_t mask) {
  const auto wide = [&](const Source& s, int l) {
    const std::uint32_t x = f.file[static_cast<int>(s.file)][s.word + static_cast<std::uint32_t>(l)];
    const auto value = [&](std::uint32_t v) {
      return (op.flags & kSigned) != 0 ? std::int64_t{static_cast<std::int32_t>(v)} : std::int64_t{v};
    };
    if (s.xor_mask == 0) return value(x);
    return s.add != 0 ? -value(x) : value(~x);
  };
  const bool is_signed = (op.flags & kSigned) != 0;
  const std::int64_t least = is_signed ? -std::int64_t{0x80000000} : 0,
                     most = is_signed ? 0x7fffffff : 0xffffffff;
  std::uint32_t* d = f.file[static_cast<int>(op.destination_file)] + op.destination;
  for (int l = 0; l < 32; ++l) {
    if ((mask >> l & 1) == 0) continue;
    d[l] = static_cast<std::uint32_t>(std::clamp(wide(op.a, l) + wide(op.b, l), least, most));
  }
}

/// U32 or S32 as a modifier; signed when neither stands there.
void take_sign(Decoder& d) {
  const int which = d.printed.take_one({"U32", "S32"}, 1);
  d.flag(which == 1, kSigned);
}

void take_integer_comparison(Decoder& d) {
  const int code = d.printed.need_one({"F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"});
  d.op().flags |= static_cast<std::uint32_t>(code) << kCompareShift;
  d.op().flags |= static_cast<std::uint32_t>(d.printed.need_one({"AND", "OR", "XOR"})) << kCombineShift;
}

void iadd3(Decoder& d) {
  MicroOp& op = d.op();
  const bool wide = d.printed.take("64"), extended = d.printed.take("X");
  d.destination();
  d.predicate_outputs(2);
  const auto source = [&] { return wide ? d.wide_integer() : d.source(Style::integer); };
  op.a = source();
  op.b = source();
  op.c = source();
  op.p_in.invert = op.q_in.invert = ~0u;
  if (extended) {
    op.flags |= kCarryIn;
    if (d.printed.more()) op.p_in = d.predicate_input();
    if (d.printed.more()) op.q_in = d.predicate_input();
  }
  if (wide) {
    if (op.p_out != kSinkSlot || op.q_out != kSinkSlot)
      PrintedForm::refuse("a carry out of three 64-bit terms");
    d.lane(LaneOp::iadd64);
  } else if (op.p_out == kSinkSlot && op.q_out == kSinkSlot && !extended) {
    d.lane(LaneOp::iadd3);
  } else {
    d.lane(LaneOp::iadd3_carry);
  }
}

/// IADD: two terms, of 32 or 64 bits.
void iadd(Decoder& d) {
  MicroOp& op = d.op();
  const bool wide = d.printed.take("64"), extended = d.printed.take("X");
  d.destination();
  d.predicate_outputs(1);
  const auto source = [&] { return wide ? d.wide_integer() : d.source(Style::integer); };
  op.a = source();
  op.b = source();
  op.c.word = kZeroWord;
  op.p_in.invert = op.q_in.invert = ~0u;
  if (extended) {
    op.flags |= kCarryIn;
    op.p_in = d.predicate_input();
  }
  d.lane(wide ? LaneOp::iadd64 : LaneOp::iadd3_carry);
}

void viadd(Decoder& d) {
  MicroOp& op = d.op();
  const int packed = d.printed.take_one({"16x2", "U8x4", "S8x4"}, -1);
  const bool saturates = d.printed.take("ISAT");
  take_sign(d);
  d.destination();
  op.a = d.source(Style::integer);
  op.b = d.source(Style::integer);
  op.c.word = kZeroWord;
  if (saturates) {
    if (packed >= 0) PrintedForm::refuse("saturation of packed integers");
    d.lane(add_saturated);
  } else if (packed < 0) {
    d.lane(LaneOp::iadd3);
  } else {
    if (op.a.xor_mask != 0) std::swap(op.a, op.b);  // the sum's second term may be negated, part by part
    if (op.a.xor_mask != 0) PrintedForm::refuse("two negated terms");
    d.flag(packed > 0, 1u << kModeShift);
    d.lane(LaneOp::viadd_packed);
  }
}

void imad(Decoder& d) {
  MicroOp& op = d.op();
  const int form = d.printed.take_one({"WIDE", "HI"}, 2);
  const bool extended = d.printed.take("X");
  d.printed.take_one({"MOV", "IADD", "SHL"}, 0);
  take_sign(d);
  d.destination();
  d.predicate_outputs(1);
  op.p_in.invert = ~0u;
  if (form == 2) {
    op.a = d.source(Style::integer);
    op.b = d.source(Style::integer);
    op.c = d.source(Style::integer);
    if (op.p_out != kSinkSlot) PrintedForm::refuse("a carry out of a 32-bit product");
    if (extended) op.p_in = d.predicate_input();
    d.lane(extended ? LaneOp::imad_x : LaneOp::imad);
    return;
  }
  op.a = d.source(Style::raw);
  op.b = d.source(Style::raw);
  if (d.printed.next_is(OperandKind::immediate) && (d.printed.peek().value >> 31) != 0) {
    PrintedForm::refuse("a 32-bit immediate as a 64-bit term");
  }
  op.c = d.wide_integer();
  if (extended) {
    op.flags |= kCarryIn;
    op.p_in = d.predicate_input();
  }
  if (form == 1) {
    d.lane(LaneOp::imad_hi);
  } else {
    d.lane(extended || op.p_out != kSinkSlot ? LaneOp::imad_wide_carry : LaneOp::imad_wide);
  }
}

void idp(Decoder& d) {
  MicroOp& op = d.op();
  const bool four = d.printed.need_one({"4A", "2A"}) == 0;
  if (!four) d.flag(d.printed.need_one({"LO", "HI"}) == 1, kHigh);
  // First type, then second; both may be the same modifier.
  const std::vector<std::string>& m = d.printed.instruction().modifiers;
  std::vector<std::string> types;
  for (const std::string& name : m) {
    if (name == "S8" || name == "U8" || name == "S16" || name == "U16") types.push_back(name);
  }
  if (types.size() != 2) PrintedForm::refuse("factor types");
  d.printed.take(types[0]);
  d.printed.take(types[1]);
  d.flag(types[0][0] == 'S', kSigned);
  d.flag(types[1][0] == 'S', kSignedB);
  d.destination();
  op.a = d.source(Style::raw);
  op.b = d.source(Style::raw);
  op.c = d.source(Style::integer);
  d.lane(four ? LaneOp::idp4a : LaneOp::idp2a);
}

void lea(Decoder& d) {
  MicroOp& op = d.op();
  const bool high = d.printed.take("HI"), extended = d.printed.take("X"), sign = d.printed.take("SX32");
  d.flag(sign, kSignExtend);
  d.destination();
  d.predicate_outputs(1);
  op.a = d.source(Style::integer);
  op.b = d.source(Style::integer);
  if (high && !sign) op.c = d.source(Style::raw);
  op.index2 = d.printed.immediate();
  op.p_in.invert = ~0u;
  if (extended) {
    op.flags |= kCarryIn;
    op.p_in = d.predicate_input();
  }
  if (!high && extended) PrintedForm::refuse("a carry into the low half");
  d.lane(high ? LaneOp::lea_hi : LaneOp::lea);
}

void lop3(Decoder& d) {
  MicroOp& op = d.op();
  d.printed.take("LUT");
  const bool both = d.printed.take("PAND");
  d.predicate_outputs(1);
  d.destination();
  op.a = d.source(Style::integer);
  op.b = d.source(Style::integer);
  op.c = d.source(Style::integer);
  op.index2 = d.printed.immediate() & 0xff;
  op.p_in.invert = ~0u;
  if (d.printed.more()) op.p_in = d.predicate_input();
  d.flag(!both, 1u << kCombineShift);
  d.lane(op.p_out == kSinkSlot ? LaneOp::lop3 : LaneOp::lop3_predicate);
}

/// A predicate, or the sign of a register as one.
void plop3_input(Decoder& d, PredicateSource& p, Source& s) {
  if (d.printed.next_is_predicate()) {
    p = d.predicate_input();
    return;
  }
  const isa::Operand& operand = d.printed.peek();
  if (operand.suffix != "SIGN" || operand.absolute || operand.invert) {
    PrintedForm::refuse(fmt::format("'{}' is no predicate", operand.text));
  }
  p.invert = operand.negate ? ~0u : 0u;
  s = d.sign_source();
  s.sign_only = true;
}

void plop3(Decoder& d) {
  MicroOp& op = d.op();
  d.printed.take("LUT");
  op.p_out = d.predicate_output();
  op.q_out = d.predicate_output();
  plop3_input(d, op.p_in, op.a);
  plop3_input(d, op.q_in, op.b);
  plop3_input(d, op.r_in, op.c);
  op.index2 = d.printed.immediate() & 0xff;
  op.index2 |= (d.printed.immediate() & 0xff) << 8;
  d.lane(LaneOp::plop3);
}

void shf(Decoder& d) {
  MicroOp& op = d.op();
  const bool left = d.printed.need_one({"L", "R"}) == 0;
  const bool wrap = d.printed.take("W");
  const int type = d.printed.need_one({"U32", "S32", "U64", "S64"});
  const bool high = d.printed.take("HI");
  d.destination();
  op.a = d.source(Style::raw);
  op.b = d.source(Style::raw);
  op.c = d.source(Style::raw);
  d.flag(left, kLeft);
  d.flag(wrap, kWrap);
  d.flag(high, kHigh);
  d.flag(type == 1 || type == 3, kSigned);
  d.flag(type >= 2, kShift64);
  if (type < 2 && !wrap && left && !high) {
    d.lane(LaneOp::shl32);
  } else if (type == 0 && !wrap && !left && high) {
    d.lane(LaneOp::shr32);
  } else if (type == 1 && !wrap && !left && high) {
    d.lane(LaneOp::sar32);
  } else {
    d.lane(LaneOp::shf);
  }
}

void isetp(Decoder& d) {
  MicroOp& op = d.op();
  take_integer_comparison(d);
  const int wide = d.printed.take_one({"S64", "U64"}, -1);
  if (wide < 0) {
    take_sign(d);
  } else {
    d.flag(wide == 0, kSigned);
  }
  const bool extended = d.printed.take("EX");
  d.flag(extended, kExtended);
  op.p_out = d.predicate_output();
  op.q_out = d.predicate_output();
  op.a = wide < 0 ? d.source(Style::integer) : d.wide_integer();
  op.b = wide < 0 ? d.source(Style::integer) : d.wide_integer();
  op.p_in = d.predicate_input();
  if (extended) op.q_in = d.predicate_input();
  d.lane(wide < 0 ? LaneOp::isetp : LaneOp::isetp64);
}

/// IMNMX, VIMNMX and the packed forms.
void imnmx(Decoder& d) {
  MicroOp& op = d.op();
  const int wide = d.printed.take_one({"S64", "U64"}, -1);
  const int packed = d.printed.take_one({"S16x2", "U16x2", "S8x4", "U8x4"}, -1);
  if (wide >= 0) {
    d.flag(wide == 0, kSigned);
  } else if (packed >= 0) {
    d.flag(packed == 0 || packed == 2, kSigned);
    d.flag(packed >= 2, 1u << kModeShift);
  } else {
    take_sign(d);
  }
  d.flag(d.printed.take("RELU"), kRelu);
  if (wide >= 0) {  // P, Q, Rd, a, b, which, !PT
    op.p_out = d.predicate_output();
    op.q_out = d.predicate_output();
    if (op.p_out != kSinkSlot || op.q_out != kSinkSlot)
      PrintedForm::refuse("predicate results of a 64-bit minimum");
    d.destination();
    op.a = d.wide_integer();
    op.b = d.wide_integer();
    op.p_in = d.predicate_input();
    const PredicateSource last = d.predicate_input();
    if (last.slot % kUniformSlot != kTrueSlot || last.invert == 0)
      PrintedForm::refuse("a last predicate that is not !PT");
    d.lane(LaneOp::imnmx64);
    return;
  }
  d.destination();
  d.predicate_outputs(2);
  op.a = d.source(packed >= 0 ? Style::raw : Style::integer);
  op.b = d.source(packed >= 0 ? Style::raw : Style::integer);
  op.p_in = d.predicate_input();
  if (packed < 0 && (op.p_out != kSinkSlot || op.q_out != kSinkSlot))
    PrintedForm::refuse("predicate results");
  d.lane(packed >= 0 ? LaneOp::vimnmx_packed : LaneOp::imnmx);
}

void three_minimum(Decoder& d, bool adds) {
  MicroOp& op = d.op();
  const int packed = d.printed.take_one({"S16x2", "U16x2"}, -1);
  if (packed < 0) {
    take_sign(d);
  } else {
    d.flag(packed == 0, kSigned);
    d.flag(adds, kExtended);
  }
  d.flag(d.printed.take("RELU"), kRelu);
  d.destination();
  const Style style = packed < 0 ? Style::integer : Style::raw;
  op.a = d.source(style);
  op.b = d.source(style);
  op.c = d.source(style);
  op.p_in = d.predicate_input();
  d.lane(packed >= 0 ? LaneOp::vimnmx3_packed : adds ? LaneOp::viaddmnmx : LaneOp::vimnmx3);
}

void absolute_difference(Decoder& d, bool bytes) {
  MicroOp& op = d.op();
  if (bytes) {
    d.flag(d.printed.need_one({"U8", "S8"}) == 1, kSigned);
    d.flag(d.printed.take("ACC"), kExtended);
  } else {
    take_sign(d);
  }
  d.destination();
  op.a = d.source(bytes ? Style::raw : Style::integer);
  op.b = d.source(bytes ? Style::raw : Style::integer);
  op.c = d.source(bytes ? Style::raw : Style::integer);
  d.lane(bytes ? LaneOp::vabsdiff4 : LaneOp::vabsdiff);
}

void mov(Decoder& d) {
  MicroOp& op = d.op();
  const bool wide = d.printed.take("64");
  d.printed.take("SPILL");
  d.destination();
  op.a = wide ? d.wide_integer() : d.source(Style::raw);
  if (d.printed.more() && d.printed.immediate() != 0xf) PrintedForm::refuse("a quad mask");
  d.lane(wide ? LaneOp::mov64 : LaneOp::mov);
}

void select(Decoder& d) {
  MicroOp& op = d.op();
  const bool wide = d.printed.take("64");
  d.destination();
  op.a = wide ? d.wide_integer() : d.source(Style::integer);
  op.b = wide ? d.wide_integer() : d.source(Style::integer);
  op.p_in = d.predicate_input();
  d.lane(wide ? LaneOp::sel64 : LaneOp::sel);
}

void permute(Decoder& d) {
  MicroOp& op = d.op();
  const int mode = d.printed.take_one({"IDX", "F4E", "B4E", "RC8", "ECL", "ECR", "RC16"}, 0);
  op.flags |= static_cast<std::uint32_t>(mode) << kModeShift;
  d.destination();
  op.a = d.source(Style::raw);
  op.b = d.source(Style::raw);
  op.c = d.source(Style::raw);
  d.lane(LaneOp::prmt);
}

void two_operands(Decoder& d, LaneOp which) {
  MicroOp& op = d.op();
  d.flag(d.printed.take("W"), kWrap);
  take_sign(d);
  d.destination();
  op.a = d.source(Style::raw);
  op.b = d.source(Style::raw);
  d.lane(which);
}

void one_operand(Decoder& d, LaneOp which) {
  MicroOp& op = d.op();
  if (which == LaneOp::flo) {
    take_sign(d);
    d.flag(d.printed.take("SH"), kHigh);
  }
  d.destination();
  if (which == LaneOp::flo && d.printed.next_is_predicate() && d.predicate_output() != kSinkSlot) {
    PrintedForm::refuse("a predicate result");
  }
  op.a = d.source(Style::integer);
  d.lane(which);
}

void narrow(Decoder& d, bool packed) {
  MicroOp& op = d.op();
  const int mode = packed ? d.printed.need_one({"S8", "U8", "S16", "U16", "S4", "U4", "S2", "U2"})
                          : d.printed.need_one({"S8", "U8", "S16", "U16"});
  if (!d.printed.take("S32") || !d.printed.take("SAT"))
    PrintedForm::refuse("a conversion other than from S32 with .SAT");
  op.flags |= static_cast<std::uint32_t>(mode) << kModeShift;
  d.destination();
  op.a = d.source(Style::raw);
  if (packed) {
    op.b = d.source(Style::raw);
    // The narrow ones print by how much the packed bits leave of c.
    const std::string suffix = mode < 4 ? "" : mode < 6 ? "24" : "28";
    const isa::Operand& rest = d.printed.peek();
    if (rest.kind != isa::OperandKind::register_ || rest.suffix != suffix || rest.negate || rest.invert ||
        rest.absolute) {
      PrintedForm::refuse(fmt::format("operand '{}'", rest.text));
    }
    op.c = d.sign_source();
  }
  d.lane(packed ? LaneOp::i2ip : LaneOp::i2i);
}

}  // namespace

bool translate_integer(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::IADD3:
    case Opcode::UIADD3: iadd3(d); return true;
    case Opcode::IADD:
    case Opcode::UIADD: iadd(d); return true;
    case Opcode::VIADD:
    case Opcode::UVIADD: viadd(d); return true;
    case Opcode::IMAD:
    case Opcode::UIMAD: imad(d); return true;
    case Opcode::IDP: idp(d); return true;
    case Opcode::LEA:
    case Opcode::ULEA: lea(d); return true;
    case Opcode::LOP3:
    case Opcode::ULOP3: lop3(d); return true;
    case Opcode::PLOP3:
    case Opcode::UPLOP3: plop3(d); return true;
    case Opcode::SHF:
    case Opcode::USHF: shf(d); return true;
    case Opcode::ISETP:
    case Opcode::UISETP: isetp(d); return true;
    case Opcode::IMNMX:
    case Opcode::UIMNMX:
    case Opcode::VIMNMX:
    case Opcode::UVIMNMX: imnmx(d); return true;
    case Opcode::VIMNMX3: three_minimum(d, false); return true;
    case Opcode::VIADDMNMX: three_minimum(d, true); return true;
    case Opcode::VABSDIFF: absolute_difference(d, false); return true;
    case Opcode::VABSDIFF4: absolute_difference(d, true); return true;
    case Opcode::MOV:
    case Opcode::UMOV: mov(d); return true;
    case Opcode::SEL:
    case Opcode::USEL: select(d); return true;
    case Opcode::PRMT:
    case Opcode::UPRMT: permute(d); return true;
    case Opcode::SGXT:
    case Opcode::USGXT: two_operands(d, LaneOp::sgxt); return true;
    case Opcode::BMSK:
    case Opcode::UBMSK: two_operands(d, LaneOp::bmsk); return true;
    case Opcode::POPC:
    case Opcode::UPOPC: one_operand(d, LaneOp::popc); return true;
    case Opcode::FLO:
    case Opcode::UFLO: one_operand(d, LaneOp::flo); return true;
    case Opcode::BREV:
    case Opcode::UBREV: one_operand(d, LaneOp::brev); return true;
    case Opcode::IABS:
    case Opcode::UIABS: one_operand(d, LaneOp::iabs); return true;
    case Opcode::I2I: narrow(d, false); return true;
    case Opcode::I2IP: narrow(d, true); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
