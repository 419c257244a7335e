// What an instruction reads, writes and accesses, as far as the encoding tells: pure facts of the instruction set.
//
// Models:  memory space, kind and bytes; source registers by slot and destination registers with their widths.
// Ignores: the fourth register of sparse MMAs (metadata) and of block-scaled ones (scales); uniform registers.
// Source:  our probe kernels (docs/facts.md); register widths read from modifiers and operand forms. Slots: the reuse
//          bits of our corpus name a register by its place among the printed sources, whichever field it stands in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/isa/instruction.h"
#include "model/spec/gpu_spec.h"

namespace foretrace::isa {

enum class Space : std::uint8_t { global, shared, local, constant, generic };
enum class Access : std::uint8_t {
  load,
  store,
  atomic,       ///< returns the old value
  reduction,    ///< returns nothing (RED, REDG)
  async_copy,   ///< LDGSTS: address set 0 is the shared destination, address set 1 the global source
  matrix_load,  ///< LDSM: lanes give row addresses
  matrix_store  ///< STSM
};

/// What an atomic is to a memory unit, beyond its size.
enum class AtomicKind : std::uint8_t {
  plain,
  increment,  ///< ATOMS.POPC.INC: counts the lanes of a word at once
  compare,    ///< CAS: two words per lane
  attempt     ///< ATOMS.CAST.SPIN: the same, and of the lanes of a bank only one has its turn
};

/// How an instruction accesses memory.
struct MemoryForm {
  Space space = Space::global;
  Access access = Access::load;
  std::uint8_t bytes = 4;  ///< bytes per lane (LDSM/STSM: bytes of a row, 16); a vector access counts whole
  std::uint8_t matrices = 0;  ///< LDSM, STSM: 1, 2 or 4 8x8 tiles
  std::uint8_t address_sets =
      1;  ///< 1; 2 for LDGSTS, SYNCS (what its operand says), STAS (destination, mbarrier) and lookups in textures
  bool uniform_address = false;  ///< the address comes from uniform registers or an immediate alone
  bool strong = false;           ///< .STRONG or volatile: not served from L1
  bool texture = false;  ///< through the texture unit; set 0: the lowest texel of a lane, set 1: the highest
  AtomicKind atomic = AtomicKind::plain;
  spec::AtomicData data = spec::AtomicData::integer;  ///< what an atomic of global memory works on
};
/// False for instructions that access no memory through the load/store unit (those of the copy engine: isa/asynchronous.h). LDC and
/// c[][] operands are not included.
bool memory_form(const Instruction& instruction, MemoryForm& form);

/// TEX, TLD, TLD4, TXD: lookups in textures, whose cost is the record's number (work::Shape::value).
bool looks_up_texture(Opcode opcode);

/// MATCH.ANY, and WARPSYNC of a mask in a register, which take longer the more different values their lanes have: how many is the
/// record's (work::Shape::value).
bool compares_lanes(const Instruction& in);

/// Operand `index` of a BAR comes from a register, so that it is known only as the warp comes to it: 0 the barrier's number, 1 how many
/// threads it waits for. A register that is printed for both holds both: number | threads << 16.
bool barrier_register(const Instruction& in, std::size_t index);
/// A BAR of which either does: its record says both (work::Shape::value).
bool barrier_in_registers(const Instruction& in);

/// Consecutive registers; count 0: none.
struct RegisterRange {
  std::uint8_t first = 0;
  std::uint8_t count = 0;
};
/// General-purpose registers an instruction touches (RZ left out).
struct RegisterUse {
  std::array<RegisterRange, 3>
      sources{};                ///< by operand slot, as the reuse bits and the register-file cache count them
  std::array<bool, 3> reuse{};  ///< slot is kept in the register-file cache
  RegisterRange destination{};
  RegisterRange second_destination{};  ///< 256-bit loads of sm_120 write two groups of four; else empty
  bool constant_operand = false;       ///< reads c[][] as an operand (not LDC/ULDC/LDCU)
};
RegisterUse register_use(const Instruction& instruction, int sm);

/// 32-bit registers that operand `index` (a register, or a memory operand's address base) spans: 1, 2, 4, ...; 0 for
/// operands of other kinds.
int register_width(const Instruction& instruction, std::size_t index);

/// Index of the operand that is the general-purpose destination, -1: none.
int destination_operand(const Instruction& instruction);

}  // namespace foretrace::isa
