// Makes a micro-operation of a printed instruction: every modifier and every operand must be asked for, or the form is refused.
//
// Models:  operand forms of nvcc 13 (RZ, -RZ = -0.0 in float operands, abs before neg, half swizzles).
// Ignores: .reuse and the control bits, which do not change values.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "sim/emulate/translate/compiled.h"
#include "sim/emulate/translate/printed_form.h"

namespace foretrace::emulate {

/// Constants of a launch as lane vectors, each once.
class LiteralPool {
 public:
  explicit LiteralPool(Banks banks) : banks_(banks) {}
  /// First word of `words.size()` consecutive vectors.
  std::uint32_t place(std::initializer_list<std::uint32_t> words);
  /// Four bytes of a constant bank. Throws Unsupported when they are not inside it.
  std::uint32_t constant(int bank, std::int64_t offset) const;
  /// First word of the vectors of `count` words of a bank, which bind_literals() fills in again. Throws Unsupported as constant().
  std::uint32_t place_constant(int bank, std::int64_t offset, int count);
  LaneWords finish() const;
  const std::vector<BoundLiteral>& bound() const { return bound_; }

 private:
  Banks banks_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> placed_;
  std::map<std::array<std::int64_t, 3>, std::uint32_t> placed_constants_;  // bank, offset, count
  std::vector<std::uint32_t> values_;
  std::vector<BoundLiteral> bound_;
};

/// What the modifiers of an operand mean.
enum class Style : std::uint8_t {
  raw,      ///< none allowed
  integer,  ///< -x, ~x
  single,   ///< -x, |x| of a float
  half,     ///< of two halves, with swizzles
};

class Decoder {
 public:
  Decoder(const isa::Instruction& instruction, const isa::Program& program, const LaneTable& lanes,
          LiteralPool& pool, MicroOp& op);

  PrintedForm printed;  ///< what the instruction's text says, as it is asked for

  int sm() const { return program_.sm; }
  MicroOp& op() { return op_; }

  // Operands, in printed order, as what a micro-operation reads and writes.
  void destination();                ///< a register, the first of a pair or more
  void predicate_outputs(int most);  ///< up to `most` leading predicates into p_out, q_out
  std::uint8_t predicate_output();
  PredicateSource predicate_input();
  Source source(Style style);  ///< 32 bits
  Source wide_integer();       ///< 64 bits
  Source sign_source();        ///< 32 bits whose modifiers and suffix the caller has looked at
  Source wide_sign_source();   ///< 64 bits likewise
  Source wide_double();

  void flag(bool on, std::uint32_t bits) {
    if (on) op_.flags |= bits;
  }
  void lane(LaneOp which);  ///< kind lane, from the table
  void lane(LaneFunction function);
  void warp(WarpFunction function);
  std::uint32_t literal(std::initializer_list<std::uint32_t> words) { return pool_.place(words); }
  Source literal_source(std::uint32_t value);
  std::uint32_t constant_literal(int bank, std::int64_t offset, int words) {
    return pool_.place_constant(bank, offset, words);
  }

  void guard();   ///< the guard predicate
  void finish();  ///< refuses what was left over

  static std::uint32_t register_word(int index, bool destination);
  static std::uint32_t uniform_word(int index, bool destination);

 private:
  Source place(const isa::Operand& operand, bool wide, bool is_double);
  const isa::Program& program_;
  const LaneTable& lanes_;
  LiteralPool& pool_;
  MicroOp& op_;
};

/// Each handles some opcodes: false when the opcode is none of its own. Throw Unsupported.
bool translate_integer(Decoder& d, isa::Opcode opcode);
bool translate_float(Decoder& d, isa::Opcode opcode);
bool translate_conversion(Decoder& d, isa::Opcode opcode);
bool translate_warp(Decoder& d, isa::Opcode opcode);
bool translate_control(Decoder& d, isa::Opcode opcode);
bool translate_memory(Decoder& d, isa::Opcode opcode);
bool translate_atomic(Decoder& d, isa::Opcode opcode);
bool translate_sync(Decoder& d, isa::Opcode opcode);
bool translate_tensor(Decoder& d, isa::Opcode opcode);
void translate_narrow(Decoder& d);              ///< QMMA of fewer than eight bits, sparse or scaled; OMMA
void translate_matrix(Decoder& d, bool loads);  ///< LDSM, STSM
bool translate_wgmma(Decoder& d, isa::Opcode opcode);
bool translate_tensor_copy(Decoder& d, isa::Opcode opcode);
bool translate_bulk(Decoder& d, isa::Opcode opcode);
bool translate_texture(Decoder& d, isa::Opcode opcode);

enum class MemorySpace : std::uint8_t;
/// The address operand: base into a, uniform part into b, offset into immediate, form (address_form.h) into `flags`.
void take_memory_address(Decoder& d, std::uint32_t& flags, MemorySpace space);
enum class AtomicOp : std::uint8_t;
enum class AtomicType : std::uint8_t;
/// Each element of `bytes` bytes at `to` combined with the one at `from`; halves in pairs.
void combine_bytes(AtomicOp operation, AtomicType type, std::byte* to, const std::byte* from,
                   std::uint32_t bytes);
/// Takes bytes off the transactions that the mbarrier at that address of the cluster's shared memory waits for.
void signal_bytes(Execution& x, std::uint64_t barrier, std::uint32_t bytes, int lane);
/// One arrival at a barrier word of sm_80.
std::uint64_t arrived_sm80(std::uint64_t state);

}  // namespace foretrace::emulate
