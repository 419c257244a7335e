// From the line that nvdisasm prints, and the 128-bit word beside it, to an Instruction.
//
// Models:  the printed forms that CUDA 13's nvdisasm uses for sm_80, sm_90(a) and sm_120, its irregularities included
//          (docs/facts.md lists them).
// Ignores: nothing silently: what holds a mnemonic or an operand form that is not known, or a printed operand that contradicts
//          the encoding, becomes an opaque instruction, at which a warp that comes to it stops by name.
// Source:  our own corpus (tests/frontend/data), field positions as in encoding.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/isa/instruction.h"

namespace foretrace::isa {

/// Code labels and function symbols of a section: byte offset from the section's start.
using Labels = std::unordered_map<std::string, std::uint64_t>;

/// Decodes one instruction. `text` is the printed form with its guard, with or without " ;" at the end. Immediates, as they arrive in Operand::value:
///  - integers: printed value, sign-extended to 64 bits ("-0x1" is 2^64 - 1), also under unsigned compares;
///  - f32: the 32-bit pattern; f64 (DADD, DMUL, DFMA, DSETP): the 64-bit pattern, whose low word is always 0;
///    MUFU.RCP64H and RSQ64H print a double and read its high word: these 32 bits;
///  - f16 and bf16 (HADD2, HFMA2, ...): nvdisasm prints two numbers, high half first; they become one operand that
///    holds the 32-bit pattern, so that `HFMA2 R2, -RZ, RZ, 1, 2` has four operands.
/// `BRX R4 -0xe0` has two operands, the register and the immediate: target = offset + 16 + immediate + register pair.
/// `RET.REL.NODEC R6 `(k)` has two: the register pair and the label, offset 0 of the section.
/// Where the text is not understood or disagrees with the word: Opcode::opaque, with its text, guard and control bits.
Instruction parse_instruction(const Word& word, std::string_view text, std::uint32_t offset, int sm,
                              const Labels& labels);

/// The same from the text alone, for hand-made programs: word stays 0, control bits hold their defaults, floats are
/// rounded from their decimal form (a NaN becomes the canonical one of its width). Throws InputError, which begins with `where`, when
/// the text is not understood.
Instruction parse_text(std::string_view text, std::uint32_t offset, const Labels& labels,
                       std::string_view where);

/// "SR_TID.X" -> 33; false when the name is not known. Indices as in the encoding.
bool special_register_from_name(std::string_view name, std::uint32_t& index);

/// Width and form of the floating-point immediates of an opcode.
enum class FloatFormat : std::uint8_t {
  none,
  f32,
  f64,
  f64_high,  ///< the high word of a double (MUFU.RCP64H, MUFU.RSQ64H): printed as the double, 32 bits wide
  f16,
  bf16,
  f16x2,
  bf16x2
};
FloatFormat float_format(const Instruction& instruction);

}  // namespace foretrace::isa
