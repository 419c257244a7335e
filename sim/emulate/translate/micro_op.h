// An instruction as the emulator executes it: a function and operands that need no more looking up.
//
// Models:  operands as vectors of 32 lane words. A general register, a uniform register (kept as 32 equal words) and a
//          literal (immediate or constant-bank word, kept as 32 equal words) look the same to the code that computes.
// Ignores: everything that is not needed to compute values.
// Note:    lanes/*.cpp is compiled once for each vector instruction set and includes this header, so it must hold no
//          function: an inline one could be linked into code for a processor without that set.
#pragma once

#include <cstdint>

namespace foretrace::emulate {

/// The three places a lane vector can be in. All are arrays of 32-bit words, 32 words per vector.
enum class File : std::uint8_t { registers, uniform, literal };
inline constexpr int kFiles = 3;

/// A lane vector to read: word `word` of its file on; a 64-bit operand's high words follow at `word` + 32.
/// Its value, for an integer: ((x & and_mask) ^ xor_mask) + add, which covers -x, ~x and x; for a float the masks are
/// those of abs and neg and `add` is 0. In a 64-bit operand the masks of a float are of the high word.
struct Source {
  std::uint32_t word = 0;
  std::uint32_t and_mask = ~0u;
  std::uint32_t xor_mask = 0;
  std::uint32_t add = 0;
  File file = File::registers;
  std::uint8_t swizzle = 0;  ///< packed halves: 0 both as they are, 1 low twice, 2 high twice
  bool sign_only = false;    ///< PLOP3 reads bit 31 of the word as a predicate
};

/// Predicates are lane masks in one array: P0..P6, PT, UP0..UP6, UPT, and a place for results nobody wants.
inline constexpr std::uint8_t kTrueSlot = 7;
inline constexpr std::uint8_t kUniformSlot = 8;
inline constexpr std::uint8_t kSinkSlot = 16;
inline constexpr int kPredicateSlots = 17;

struct PredicateSource {
  std::uint8_t slot = kTrueSlot;
  std::uint32_t invert = 0;  ///< ~0 for !P
};

/// What lane code sees of a warp.
struct LaneFrame {
  std::uint32_t* file[kFiles];
  std::uint32_t* predicates;
};

struct MicroOp;
class Execution;
/// Computes the lanes of `mask` and leaves the others as they are.
using LaneFunction = void (*)(const LaneFrame&, const MicroOp&, std::uint32_t mask);
/// Does the same with access to all of the warp, its block and memory; addresses used go to the execution's record.
using WarpFunction = void (*)(Execution&, const MicroOp&, std::uint32_t mask);

enum class Kind : std::uint8_t {
  lane,             ///< `lane` does it
  warp,             ///< `warp` does it
  nothing,          ///< no effect on values
  branch,           ///< BRA and its kin: guard-true lanes go to `target`
  branch_uniform,   ///< BRA.U: the group goes as one, if all its lanes (.ANY: any of them) say so
  branch_diverged,  ///< BRA.DIV, BRA.CONV
  branch_indirect,  ///< BRX, JMX, RET, CALL through a register
  exit,
  open_barrier,   ///< BSSY
  join_barrier,   ///< BSYNC
  leave_barrier,  ///< BREAK
  move_barrier,   ///< BMOV
  warpsync,
  block_barrier,    ///< BAR: kNumberInRegister and what follows it
  cluster_barrier,  ///< UCGABAR_ARV (flags 0), UCGABAR_WAIT (flags 1)
  yield,
  trap,
  unsupported,
};

/// What a BAR takes from registers (model/isa/operands.h, barrier_register): MicroOp::index2, and MicroOp::immediate.
inline constexpr std::uint32_t kNumberInRegister = 255;
inline constexpr std::uint64_t kThreadsInRegister = ~std::uint64_t{0}, kBothInRegister = ~std::uint64_t{1};

struct MicroOp {
  LaneFunction lane = nullptr;
  WarpFunction warp = nullptr;
  Kind kind = Kind::unsupported;
  bool uniform = false;           ///< of the uniform datapath: done once per group, whatever the lanes' mask
  bool plain = false;             ///< no source is changed on reading (all masks idle, no swizzle)
  bool progress = false;          ///< a store or an atomic: the kernel does not just spin
  std::uint8_t address_sets = 0;  ///< of the record: 0, 1 or 2
  bool transfers = false;  ///< starts a copy: the function fills in Execution::transfer, which is recorded
  bool value_recorded = false;  ///< the record holds a number beside the masks
  PredicateSource guard;
  File destination_file = File::registers;
  std::uint32_t destination = 0;   ///< first word of the result in its file
  std::uint32_t destination2 = 0;  ///< of a second result
  std::uint8_t p_out = kSinkSlot, q_out = kSinkSlot;
  PredicateSource p_in, q_in, r_in;
  Source a, b, c;
  std::uint32_t flags = 0;      ///< what it means is the function's business
  std::uint32_t index2 = 0;     ///< a barrier number, a count: the function's business
  std::uint64_t immediate = 0;  ///< address offset, table, target: the function's business
  std::uint32_t target = 0;     ///< instruction index of a branch target
  std::uint32_t message = 0;    ///< of an unsupported form: 1 + index into the compiled program's messages
};

}  // namespace foretrace::emulate
