// F2F, F2I, I2F, I2FP, FRND, F2FP, F2IP and MUFU.
//
// Models:  operand and modifier orders of conversions as nvcc 13 makes them (docs/facts.md).
#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/emulate/execute/convert.h"
#include "sim/emulate/execute/number.h"
#include "sim/emulate/execute/paired_floats.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;

namespace {

void take_conversion_rounding(Decoder& d) {
  const int which = d.printed.take_one({"RN", "RM", "RP", "RZ", "FLOOR", "CEIL", "TRUNC"}, 0);
  const int mode = which < 4 ? which : which - 3;
  d.op().flags |= static_cast<std::uint32_t>(mode) << kRoundingShift;
}

/// The integer type among the modifiers; S32 when none stands there.
void take_integer(Decoder& d, Conversion& c) {
  const int which = d.printed.take_one({"U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64"}, 5);
  c.width = static_cast<std::uint8_t>(8 << (which / 2));
  c.is_signed = which % 2 == 1;
}

std::uint8_t format(int which) { return static_cast<std::uint8_t>(which); }
/// F32, F64, F16, BF16; F32 when none stands there.
std::uint8_t take_format(Decoder& d) { return format(d.printed.take_one({"F32", "F64", "F16", "BF16"}, 0)); }

/// The float operand in its format.
Source take_operand(Decoder& d, std::uint8_t from) {
  switch (static_cast<Format>(from)) {
    case Format::f64: return d.wide_double();
    case Format::f32: return d.source(Style::single);
    case Format::f16:
    case Format::bf16: break;
  }
  return d.source(Style::half);
}

void integer_to_float(Decoder& d) {
  MicroOp& op = d.op();
  Conversion c;
  c.to = take_format(d);
  take_integer(d, c);
  take_conversion_rounding(d);
  d.destination();
  const isa::Operand& operand = d.printed.peek();
  const std::string suffix = operand.suffix;
  if (operand.absolute || operand.invert) PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
  const bool negate = operand.negate;
  if (suffix.size() == 2 && suffix[0] == 'B' && suffix[1] >= '0' && suffix[1] <= '3') {
    c.part = static_cast<std::uint8_t>(suffix[1] - '0');
  } else if (suffix == "H1") {
    c.part = 2;
  } else if (!suffix.empty() && suffix != "H0") {
    PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
  }
  op.a = c.width == 64 ? d.wide_sign_source() : d.sign_source();
  if (negate) op.a.xor_mask = ~0u;
  op.index2 = encode(c);
  d.lane(convert_integer_to_float);
}

void float_to_integer(Decoder& d) {
  MicroOp& op = d.op();
  Conversion c;
  d.flag(d.printed.take("FTZ"), kFlush);
  d.flag(d.printed.take("NTZ"), kNan);
  // The source's format may stand before or after the integer type.
  c.from = format(d.printed.take_one({"F32", "F64", "F16", "BF16"}, 0));
  take_integer(d, c);
  take_conversion_rounding(d);
  d.destination();
  op.a = take_operand(d, c.from);
  op.index2 = encode(c);
  d.lane(convert_float_to_integer);
}

void float_to_float(Decoder& d) {
  MicroOp& op = d.op();
  Conversion c;
  d.flag(d.printed.take("FTZ"), kFlush);
  d.flag(d.printed.take("SAT"), kSaturate);
  // Result first, then source: the order of the modifiers says which is which.
  std::uint8_t found[2] = {0, 0};
  int count = 0;
  for (const std::string& m : d.printed.instruction().modifiers) {
    const std::string_view names[] = {"F32", "F64", "F16", "BF16"};
    for (std::uint8_t i = 0; i < 4; ++i) {
      if (m == names[i] && count < 2) {
        found[count++] = i;
        d.printed.take(m);
      }
    }
  }
  if (count != 2) PrintedForm::refuse("two number formats are needed");
  c.to = found[0];
  c.from = found[1];
  take_conversion_rounding(d);
  if (c.from == c.to) PrintedForm::refuse("a conversion within one format");
  d.destination();
  op.a = take_operand(d, c.from);
  op.index2 = encode(c);
  d.lane(convert_float);
}

void round_integral(Decoder& d) {
  MicroOp& op = d.op();
  Conversion c;
  d.flag(d.printed.take("FTZ"), kFlush);
  c.from = c.to = take_format(d);
  take_conversion_rounding(d);
  op.flags |= kRelu;
  d.destination();
  op.a = take_operand(d, c.from);
  op.index2 = encode(c);
  d.lane(convert_float);
}

/// The source of an .UNPACK_B: which byte or half of a register.
void take_narrow_source(Decoder& d, bool fours) {
  MicroOp& op = d.op();
  const isa::Operand& operand = d.printed.peek();
  constexpr std::string_view kHalves[] = {"H0", "H1"}, kBytes[] = {"B0", "B1", "B2", "B3"};
  const std::span<const std::string_view> parts = fours ? std::span<const std::string_view>(kBytes) : kHalves;
  const auto part = std::find(parts.begin(), parts.end(), operand.suffix);
  if (operand.negate || operand.absolute || operand.invert ||
      (part == parts.end() && !operand.suffix.empty()))
    PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
  if (part != parts.end()) op.index2 |= static_cast<std::uint32_t>(part - parts.begin()) << kNarrowPartShift;
  op.b = d.sign_source();
}

/// The scales of an .UNPACK_B to bf16: which half of a register or constant.
void take_scales(Decoder& d) {
  MicroOp& op = d.op();
  const isa::Operand& operand = d.printed.peek();
  if (operand.negate || operand.absolute || operand.invert ||
      (operand.suffix != "H0" && operand.suffix != "H1"))
    PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
  if (operand.suffix == "H1") op.index2 |= kScalesAbove;
  op.c = d.sign_source();
}

/// F2FP from two floats of eight bits or fewer, or (`scales`) two ue8m0.
void unpack_narrow_two(Decoder& d, bool scales) {
  MicroOp& op = d.op();
  const bool fours = op.index2 == static_cast<std::uint32_t>(NarrowFormat::e2m1);
  const bool bfloats = d.printed.take("BF16");
  if (!bfloats && !d.printed.take("F16")) PrintedForm::refuse("a result other than F16 or BF16");
  if (scales && !bfloats) PrintedForm::refuse("a result other than BF16");
  d.flag(bfloats && d.printed.take("SATFINITE"), kSaturate);
  d.destination();
  take_narrow_source(d, fours);
  if (bfloats && !scales) {
    op.index2 |= kBfloats;
    take_scales(d);
  }
  d.lane(scales ? unpack_scales : unpack_narrows);
}

/// F2FP to or from two floats of eight bits or fewer, or (`scales`) two ue8m0.
void pack_or_unpack_narrow(Decoder& d, std::uint32_t format, bool scales) {
  MicroOp& op = d.op();
  op.index2 = format;
  d.flag(d.printed.take("RELU"), kRelu);
  if (d.printed.take("UNPACK_B")) {
    unpack_narrow_two(d, scales);
    return;
  }
  const bool saturates = d.printed.take("SATFINITE");
  d.flag(saturates, kSaturate);
  if (scales) {
    take_conversion_rounding(d);
  } else if (!saturates) {
    PrintedForm::refuse("a narrow form");
  }
  d.destination();
  if (const int halves = d.printed.take_one({"F16", "BF16"}, -1);
      halves >= (scales ? 1 : 0)) {  // from the two halves of one register
    if (!d.printed.take("UNPACK_B_MERGE_C")) PrintedForm::refuse("a narrow form");
    op.b = d.source(Style::raw);
    op.index2 |= kFromHalves | (halves == 1 ? kBfloats : 0);
  } else {
    if (!d.printed.take("F32") || !d.printed.take("PACK_AB_MERGE_C")) PrintedForm::refuse("a narrow form");
    op.a = d.source(Style::single);
    op.b = d.source(Style::single);
  }
  op.c = d.source(Style::raw);
  d.lane(scales ? pack_scales : pack_narrows);
}

void pack_two(Decoder& d) {
  MicroOp& op = d.op();
  Conversion c;
  if (d.printed.instruction().has("RS")) {
    take_stochastic_rounding(d);
    return;
  }
  if (const int narrow = d.printed.take_one({"E4M3", "E5M2", "E3M2", "E2M3", "E2M1", "E8"}, -1);
      narrow >= 0) {
    const bool scales = narrow == 5;
    pack_or_unpack_narrow(d, scales ? 0 : static_cast<std::uint32_t>(narrow), scales);
    return;
  }
  if (d.printed.take("TF32")) {
    if (!d.printed.take("F32") || !d.printed.take("PACK_B"))
      PrintedForm::refuse("a form other than .F32.PACK_B");
    take_conversion_rounding(d);
    d.flag(d.printed.take("RELU"), kRelu);
    d.flag(d.printed.take("SATFINITE"), kSaturate);
    d.destination();
    op.b = d.source(Style::single);
    d.lane(round_to_tf32);
    return;
  }
  const bool bfloat = d.printed.take("BF16");
  d.printed.take("F16");
  d.printed.take("F32");
  const bool one =
      d.printed.take("MERGE_C");  // Rd, b, c: the high half is c's, which is RZ wherever it has been seen
  if (!one && !d.printed.take("PACK_AB")) PrintedForm::refuse("a form other than .PACK_AB");
  take_conversion_rounding(d);
  d.flag(d.printed.take("RELU"), kRelu);
  d.flag(d.printed.take("SATFINITE"), kSaturate);
  c.to = static_cast<std::uint8_t>(bfloat ? Format::bf16 : Format::f16);
  d.destination();
  op.a = one ? d.literal_source(0) : d.source(Style::single);
  op.b = d.source(Style::single);
  if (one) {
    const isa::Operand& merged = d.printed.next();
    if (merged.kind != isa::OperandKind::register_ || merged.index != isa::kRz) {
      PrintedForm::refuse(fmt::format("operand '{}'", merged.text));
    }
  }
  op.index2 = encode(c);
  d.lane(pack_floats);
}

void pack_integers(Decoder& d) {
  MicroOp& op = d.op();
  Conversion c;
  c.is_signed = d.printed.need_one({"U8", "S8"}) == 1;
  if (!d.printed.take("F32")) PrintedForm::refuse("a source other than F32");
  d.flag(d.printed.take("NTZ"), kNan);
  take_conversion_rounding(d);
  d.destination();
  op.a = d.source(Style::single);
  op.b = d.source(Style::single);
  op.c = d.source(Style::raw);
  op.index2 = encode(c);
  d.lane(pack_bytes);
}

void mufu(Decoder& d) {
  MicroOp& op = d.op();
  const int which =
      d.printed.need_one({"COS", "SIN", "EX2", "LG2", "RCP", "RSQ", "RCP64H", "RSQ64H", "SQRT", "TANH"});
  const std::uint8_t how = take_format(d);
  op.index2 = static_cast<std::uint32_t>(which) | static_cast<std::uint32_t>(how) << 8;
  d.destination();
  if (how == static_cast<std::uint8_t>(Format::f32)) {
    op.a = d.source(Style::single);
  } else {
    const isa::Operand& operand = d.printed.peek();
    const bool high = operand.suffix == "H1";
    if (!high && !operand.suffix.empty() && operand.suffix != "H0") {
      PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
    }
    const bool negate = operand.negate, absolute = operand.absolute;
    op.a = d.sign_source();
    if (absolute) op.a.and_mask = 0x7fff7fff;
    if (negate) op.a.xor_mask = 0x80008000;
    if (high) op.a.swizzle = 2;
  }
  d.lane(multifunction);
}

}  // namespace

bool translate_conversion(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::I2F:
    case Opcode::I2FP:
    case Opcode::UI2F:
    case Opcode::UI2FP: integer_to_float(d); return true;
    case Opcode::F2I:
    case Opcode::UF2I: float_to_integer(d); return true;
    case Opcode::F2F:
    case Opcode::UF2F: float_to_float(d); return true;
    case Opcode::FRND:
    case Opcode::UFRND: round_integral(d); return true;
    case Opcode::F2FP:
    case Opcode::UF2FP: pack_two(d); return true;
    case Opcode::F2IP: pack_integers(d); return true;
    case Opcode::MUFU: mufu(d); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
