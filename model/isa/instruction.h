// One machine instruction, decoded from its 128-bit word and the line that nvdisasm prints for it.
//
// Models:  opcode and modifiers as printed, operands, guard, and the control bits (stall count, yield, scoreboards, reuse)
//          that the compiler put in the encoding and that drive dependences since Volta.
// Ignores: nothing that a printed operand carries; what is only in the encoding is read from `word`.
// Source:  nvdisasm -c -hex of CUDA 13; control bits are bits 105 to 125 (checked on our corpus).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/units/units.h"

namespace foretrace::isa {

/// Base mnemonics, one enumerator each (FFMA, IADD3, ...); the list is opcodes.def.
enum class Opcode : std::uint16_t {
#define FORETRACE_OPCODE(name) name,
#include "model/isa/opcodes.def"
#undef FORETRACE_OPCODE
  count,
  opaque = count  ///< not understood: Instruction::opaque says why
};

/// "FFMA" -> Opcode::FFMA; false when the mnemonic is not in the list.
bool opcode_from_name(std::string_view mnemonic, Opcode& opcode);
/// "FFMA"; "(unknown)" of an opaque instruction.
std::string_view name_of(Opcode opcode);

/// The compiler's scheduling word: bits 105..125 of the instruction.
struct ControlBits {
  std::uint8_t stall = 0;          ///< cycles before the same warp may issue again, 0..15
  bool yield = false;              ///< true: the scheduler may prefer another warp (the encoded bit is 0)
  std::uint8_t write_barrier = 7;  ///< scoreboard released when the result is written, 0..5; 7: none
  std::uint8_t read_barrier = 7;   ///< scoreboard released when the sources were read, 0..5; 7: none
  std::uint8_t wait_mask = 0;      ///< scoreboards that must be zero before issue, bit i for SBi
  std::uint8_t reuse = 0;          ///< operand slots kept in the register-file cache, bit 0: first source
};

/// The 128 bits. Bit i of the word is bit i of lo (i < 64) or i-64 of hi.
struct Word {
  std::uint64_t lo = 0, hi = 0;
  /// Bits [first, first+count), count <= 64.
  std::uint64_t bits(int first, int count) const;
};
ControlBits control_bits(const Word& word);

enum class OperandKind : std::uint8_t {
  register_,            // R0..R254, RZ: index (255 is RZ)
  uniform_register,     // UR0..., URZ: index (63 or 255 as encoded is normalised to kUrz)
  predicate,            // P0..P6, PT: index (7 is PT)
  uniform_predicate,    // UP0..UP6, UPT
  immediate,            // integer or float bits in `value` (see Operand::is_float)
  constant,             // c[bank][offset], c[bank][Rn+offset], c[bank][URn+offset]
  memory,               // [Rn.64+URm+imm], desc[URd][...]
  label,                // a code address inside the section: byte offset in `value`
  special_register,     // SR_TID.X ...: index in the encoding in `value`, name in `text`
  convergence_barrier,  // B0..B15: index
  scoreboard,           // SB0..SB5 of DEPBAR: index
  scoreboard_list,      // {2,1} of DEPBAR: mask in `value`
  other  // printed text that only some opcodes have (gsb0, gdesc[..], PR, Rpc.LO ...), in `text`
};
inline constexpr int kRz = 255;
inline constexpr int kUrz = 255;
inline constexpr int kPt = 7;

struct Operand {
  OperandKind kind = OperandKind::other;
  std::uint8_t index = 0;   ///< register, predicate, barrier ... number
  bool negate = false;      ///< leading - (arithmetic) or ! (predicate)
  bool invert = false;      ///< leading ~ (bitwise not)
  bool absolute = false;    ///< |x|
  bool reuse = false;       ///< .reuse
  bool is_float = false;    ///< immediate printed as a floating-point number
  bool wide = false;        ///< `.64` on a register operand or address register
  std::uint64_t value = 0;  ///< immediate bits (integer: sign-extended to 64), label offset, mask
  std::string
      suffix;  ///< what follows the operand's dot, .reuse and .64 removed: "H0_H0", "X4", "U32", "ROW", "SIGN", "B1"
  // constant: bank, and index/uniform index register; memory: base register, uniform register, offset
  std::int16_t bank = -1;          ///< constant bank; -1: not a constant operand
  std::int16_t base = -1;          ///< memory/constant: register number of the address base, -1: none
  std::int16_t uniform_base = -1;  ///< memory/constant: uniform register added to the address, -1: none
  std::int16_t descriptor = -1;    ///< memory: uniform register of desc[], -1: none
  std::string base_suffix;         ///< memory: "64", "U32", "X4", "X8", "X16" after the base register
  std::int64_t offset = 0;         ///< memory/constant: byte offset
  std::string text;                ///< as printed
};

struct Instruction {
  std::uint32_t offset = 0;  ///< byte offset from the start of the kernel's section
  Word word;
  Opcode opcode{};
  std::vector<std::string> modifiers;  ///< as printed, without the dots: {"E","64","STRONG","GPU"}
  std::uint8_t guard = kPt;            ///< guard predicate index, kPt: always
  bool guard_negate = false;
  bool guard_uniform = false;     ///< guard is UPn
  std::vector<Operand> operands;  ///< in printed order
  ControlBits control;
  std::string text;  ///< the printed instruction without guard-alignment blanks or semicolon, guard included
  std::string
      opaque;  ///< Opcode::opaque: what of it is not understood; it has no modifiers and operands then
  std::uint32_t file = 0;  ///< 1-based index into Program::files, 0: unknown
  std::uint32_t line = 0;  ///< source line (nvcc -lineinfo), 0: unknown

  bool has(std::string_view modifier) const;
  /// True when the guard can hold lanes back (anything but PT; !PT holds back all).
  bool guarded() const { return guard != kPt || guard_negate; }
};

}  // namespace foretrace::isa
