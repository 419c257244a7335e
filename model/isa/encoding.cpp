#include "model/isa/encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "model/units/error.h"

namespace foretrace::isa {
namespace {

struct SpecialRegister {
  std::string_view name;
  std::uint32_t index;
};
constexpr std::array kSpecialRegisters = {
    SpecialRegister{"SR_LANEID", 0},          SpecialRegister{"SR_CLOCK", 1},
    SpecialRegister{"SR_VIRTCFG", 2},         SpecialRegister{"SR_VIRTID", 3},
    SpecialRegister{"SR_TID.X", 33},          SpecialRegister{"SR_TID.Y", 34},
    SpecialRegister{"SR_TID.Z", 35},          SpecialRegister{"SR_CTAID.X", 37},
    SpecialRegister{"SR_CTAID.Y", 38},        SpecialRegister{"SR_CTAID.Z", 39},
    SpecialRegister{"SR_NTID", 40},           SpecialRegister{"SR_LWINHI", 46},
    SpecialRegister{"SR_SWINHI", 47},         SpecialRegister{"SR_SWINLO", 48},
    SpecialRegister{"SR_SMEMSZ", 50},         SpecialRegister{"SR_LWINLO", 52},
    SpecialRegister{"SR_LMEMHIOFF", 55},      SpecialRegister{"SR_EQMASK", 56},
    SpecialRegister{"SR_LTMASK", 57},         SpecialRegister{"SR_LEMASK", 58},
    SpecialRegister{"SR_GTMASK", 59},         SpecialRegister{"SR_GEMASK", 60},
    SpecialRegister{"SR_VIRTUALSMID", 67},    SpecialRegister{"SR_CLOCKLO", 80},
    SpecialRegister{"SR_CLOCKHI", 81},        SpecialRegister{"SR_GLOBALTIMERLO", 82},
    SpecialRegister{"SR_GLOBALTIMERHI", 83},  SpecialRegister{"SR_CgaCtaId", 136},
    SpecialRegister{"SR_GpcLocalCgaId", 137}, SpecialRegister{"SR_CgaSize", 138},
    SpecialRegister{"SR_CTARegPoolSz", 139},  SpecialRegister{"SRZ", 255},
};

/// Rounds to a narrow binary format with `mantissa` stored bits and exponents from `minimum` (of the smallest normal).
std::uint64_t narrow_bits(double value, int mantissa, int exponent_bits) {
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (mantissa + exponent_bits) : 0;
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << mantissa;
  if (std::isnan(value)) return sign | infinity | (std::uint64_t{1} << (mantissa - 1));
  if (std::isinf(value)) return sign | infinity;
  if (value == 0.0) return sign;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = 0;
  std::frexp(value, &exponent);  // value = f * 2^exponent, f in [0.5, 1)
  const int scale = std::max(exponent - 1, 1 - bias) - mantissa;
  const auto units = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(std::fabs(value), -scale)));
  // Units of a subnormal are its bits; of a normal they hold the hidden one, which adds one to the exponent field.
  const auto below = static_cast<std::uint64_t>(scale + mantissa - (1 - bias)) << mantissa;
  return sign | std::min(below + units, infinity);
}

bool is_nan_text(std::string_view text) { return text.find("NAN") != std::string_view::npos; }

/// The operand form of bits 9..11 has a 32-bit immediate in bits 32..63 where it is 2 (third source) or 4 (second).
bool has_immediate_form(const Word& word) {
  const auto form = word.bits(9, 3);
  return form == 2 || form == 4;
}

std::int64_t sign_extended(std::uint64_t value, int width) {
  const int shift = 64 - width;
  return static_cast<std::int64_t>(value << shift) >> shift;
}

std::string check_guard(const Instruction& in) {
  if (in.word.bits(12, 3) == in.guard && (in.word.bits(15, 1) != 0) == in.guard_negate) return {};
  return fmt::format("the guard in the encoding is {}P{}", in.word.bits(15, 1) != 0 ? "!" : "",
                     in.word.bits(12, 3));
}

std::string settle_floats(Instruction& in) {
  const FloatFormat format = float_format(in);
  for (Operand& operand : in.operands) {
    if (operand.kind != OperandKind::immediate || !operand.is_float) continue;
    const std::uint64_t pattern = in.word.bits(32, 32);
    const std::uint64_t encoded = format == FloatFormat::f64 ? pattern << 32 : pattern;
    // nvdisasm prints a double's high word as a number of twenty digits: exact. A NaN's payload is not printed.
    if (encoded != operand.value && !is_nan_text(operand.text)) {
      return fmt::format("the encoding holds 0x{:x}, the text 0x{:x}", encoded, operand.value);
    }
    operand.value = encoded;
  }
  return {};
}

std::string check_integers(const Instruction& in) {
  if (in.opcode == Opcode::MOV || in.opcode == Opcode::UMOV) {
    if (in.has("64") && in.operands.size() == 2 && in.operands[1].kind == OperandKind::immediate) {
      const std::uint64_t encoded = in.word.bits(24, 64);
      if (encoded != in.operands[1].value) return fmt::format("the encoding holds 0x{:x}", encoded);
      return {};
    }
  }
  static constexpr Opcode kChecked[] = {
      Opcode::MOV,    Opcode::UMOV,  Opcode::IADD3, Opcode::UIADD3, Opcode::IMAD, Opcode::UIMAD,
      Opcode::LOP3,   Opcode::ULOP3, Opcode::ISETP, Opcode::SHF,    Opcode::USHF, Opcode::UISETP,
      Opcode::PRMT,   Opcode::UPRMT, Opcode::IMNMX, Opcode::VIADD,  Opcode::SEL,  Opcode::USEL,
      Opcode::VIMNMX, Opcode::IADD,  Opcode::FSEL};
  bool checked = false;
  for (const Opcode opcode : kChecked) checked = checked || opcode == in.opcode;
  if (!checked || !has_immediate_form(in.word)) return {};
  for (const Operand& operand : in.operands) {
    if (operand.kind != OperandKind::immediate || operand.is_float) continue;
    const std::uint64_t encoded = in.word.bits(32, 32);
    if (encoded != (operand.value & 0xffffffffu)) return fmt::format("the encoding holds 0x{:x}", encoded);
    break;  // later immediates of these opcodes are tables and shift counts in other fields
  }
  return {};
}

std::string check_constants(const Instruction& in) {
  // LDCU counts its offset one bit lower, bindless and indexed forms stand elsewhere.
  if (in.opcode == Opcode::LDCU || in.word.bits(9, 3) == 6 || in.word.bits(9, 3) == 7) return {};
  for (const Operand& operand : in.operands) {
    if (operand.kind != OperandKind::constant || operand.base >= 0 || operand.uniform_base >= 0) continue;
    const std::uint64_t bank = in.word.bits(54, 5);
    const std::uint64_t offset = in.word.bits(38, 16);
    if (bank != static_cast<std::uint64_t>(operand.bank) ||
        offset != static_cast<std::uint64_t>(operand.offset)) {
      return fmt::format("the encoding holds c[0x{:x}][0x{:x}]", bank, offset);
    }
  }
  return {};
}

std::string settle_special_registers(Instruction& in) {
  for (Operand& operand : in.operands) {
    if (operand.kind != OperandKind::special_register) continue;
    const std::uint64_t encoded = in.word.bits(72, 8);
    std::uint32_t known = 0;
    if (special_register_from_name(operand.text, known) && known != encoded) {
      return fmt::format("the encoding holds special register {}", encoded);
    }
    operand.value = encoded;
  }
  return {};
}

std::string check_target(const Instruction& in, int sm) {
  std::uint64_t encoded = 0;
  if (!encoded_target(in, sm, encoded)) return {};
  for (const Operand& operand : in.operands) {
    if (operand.kind == OperandKind::label && operand.value != encoded) {
      return fmt::format("the encoding leads to 0x{:x}, the label to 0x{:x}", encoded, operand.value);
    }
  }
  return {};
}

}  // namespace

bool special_register_from_name(std::string_view name, std::uint32_t& index) {
  for (const SpecialRegister& special : kSpecialRegisters) {
    if (special.name != name) continue;
    index = special.index;
    return true;
  }
  return false;
}

namespace {

/// Conversions print the result's type first and the source's last: F2F.F64.F32 reads a float. A packing one's last
/// may be its result's (F2FP.BF16.PACK_AB).
FloatFormat source_format(const Instruction& instruction, std::string_view name) {
  const bool packs = name == "F2FP";
  for (auto type = instruction.modifiers.rbegin(); type != instruction.modifiers.rend(); ++type) {
    if (*type == "F64") return FloatFormat::f64;
    if (*type == "F32") return FloatFormat::f32;
    if (*type == "F16") return packs ? FloatFormat::f32 : FloatFormat::f16;
    if (*type == "BF16" && !packs) return FloatFormat::bf16;
  }
  return FloatFormat::f32;
}

}  // namespace

FloatFormat float_format(const Instruction& instruction) {
  std::string_view name = name_of(instruction.opcode);
  if (name == "DEPBAR" || name == "FLO" || name == "FENCE") return FloatFormat::none;
  if (name.substr(0, 2) == "UF" || name.substr(0, 2) == "VH") name.remove_prefix(1);
  switch (name.front()) {
    case 'D': return FloatFormat::f64;
    case 'H': return instruction.has("BF16_V2") ? FloatFormat::bf16x2 : FloatFormat::f16x2;
    case 'M':  // MUFU
      if (instruction.has("RCP64H") || instruction.has("RSQ64H")) return FloatFormat::f64_high;
      if (instruction.has("F16")) return FloatFormat::f16;
      return instruction.has("BF16") ? FloatFormat::bf16 : FloatFormat::f32;
    case 'F': return source_format(instruction, name);
    default: return FloatFormat::none;
  }
}

std::uint64_t float_bits(std::string_view text, FloatFormat format) {
  FORETRACE_ASSERT(format != FloatFormat::none,
                   "only an instruction with a float format has float immediates");
  const bool negative = text.front() == '-';
  const std::string_view digits = text.substr(negative || text.front() == '+' ? 1 : 0);
  double value = 0.0;
  if (digits == "INF") {
    value = std::numeric_limits<double>::infinity();
  } else if (is_nan_text(digits)) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::string copy(digits);
    // Straight to the narrow type: rounding through double first could round twice.
    if (format == FloatFormat::f32) {
      const auto bits = std::bit_cast<std::uint32_t>(std::strtof(copy.c_str(), nullptr));
      return bits | (negative ? 0x80000000u : 0u);
    }
    value = std::strtod(copy.c_str(), nullptr);
  }
  if (negative) value = -value;
  switch (format) {
    case FloatFormat::f16:
    case FloatFormat::f16x2: return narrow_bits(value, 10, 5);
    case FloatFormat::bf16:
    case FloatFormat::bf16x2: return narrow_bits(value, 7, 8);
    case FloatFormat::f32: return narrow_bits(value, 23, 8);
    case FloatFormat::f64_high: return std::bit_cast<std::uint64_t>(value) >> 32;
    default: return std::bit_cast<std::uint64_t>(value);
  }
}

bool encoded_target(const Instruction& instruction, int sm, std::uint64_t& target) {
  const Word& word = instruction.word;
  const std::uint64_t next = instruction.offset + kInstructionBytes;
  switch (instruction.opcode) {
    case Opcode::BRA:
    case Opcode::CALL:
    case Opcode::RET: break;
    case Opcode::BSSY:
      // Counted in words; the low 32 bits suffice for any section.
      target = next + 4 * static_cast<std::uint64_t>(sign_extended(word.bits(34, 30), 30));
      return true;
    default: return false;
  }
  if (instruction.has("ABS")) return false;
  // sm_90 and later keep the low eight bits of the word count where sm_80 has zeros.
  const std::int64_t high = sign_extended(word.bits(34, 48), 48);
  const std::int64_t words = sm >= 90 ? high * 256 + static_cast<std::int64_t>(word.bits(16, 8)) : high;
  target = next + 4 * static_cast<std::uint64_t>(words);
  return true;
}

std::string settle_with_word(Instruction& instruction, int sm) {
  for (std::string disagreement :
       {check_guard(instruction), settle_floats(instruction), check_integers(instruction),
        check_constants(instruction), settle_special_registers(instruction), check_target(instruction, sm)}) {
    if (!disagreement.empty()) return disagreement;
  }
  return {};
}

}  // namespace foretrace::isa
