// Atomics and reductions on global, shared and generic addresses, lane after lane.
//
// Models:  atomics (the result of ATOMS.CAST.SPIN is a register on sm_80 and sm_90, a predicate on
//          sm_120). A lane's operation is whole before the next lane's begins; a warp's is whole before another warp's.
// Ignores: order and scope, since memory is sequentially consistent here.
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/execute/number.h"
#include "sim/emulate/translate/address_form.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;

/// One arrival at sm_80's mbarrier: the high word counts up to overflow; then its phase bit flips and it is reloaded from the low one.
std::uint64_t arrived_sm80(std::uint64_t old) {
  const auto low = static_cast<std::uint32_t>(old), high = static_cast<std::uint32_t>(old >> 32);
  const std::uint32_t phase = high & 0x80000000u, count = (high & 0x7fffffffu) + 1;
  std::uint32_t next = phase | count;
  if (count == 0x80000000u) {
    // low = 2^30 - expected; the pending field is 2^31 - expected.
    next = (phase ^ 0x80000000u) | ((low + 0x40000000u) & 0x7fffffffu);
  }
  return low | std::uint64_t{next} << 32;
}

namespace {

AtomicOp operation(const MicroOp& op) { return static_cast<AtomicOp>(op.flags >> kAtomicOpShift & 15); }
AtomicType type_of(const MicroOp& op) { return static_cast<AtomicType>(op.flags >> kAtomicTypeShift & 15); }

template <class T>
T integer_result(AtomicOp which, T old, T b) {
  switch (which) {
    case AtomicOp::add:
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                            static_cast<std::make_unsigned_t<T>>(b));
    case AtomicOp::min: return old < b ? old : b;
    case AtomicOp::max: return old > b ? old : b;
    case AtomicOp::inc: return old >= b ? T{0} : static_cast<T>(old + 1);
    case AtomicOp::dec: return old == 0 || old > b ? b : static_cast<T>(old - 1);
    case AtomicOp::and_: return static_cast<T>(old & b);
    case AtomicOp::or_: return static_cast<T>(old | b);
    case AtomicOp::xor_: return static_cast<T>(old ^ b);
    default: break;
  }
  return b;  // exch
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

/// The less or the greater of two halves; a number wins over NaN, -0 is less than +0.
std::uint16_t extreme_half(std::uint16_t x, std::uint16_t y, bool least, bool bfloat) {
  const std::uint32_t infinity = bfloat ? 0x7f80 : 0x7c00;
  const bool nan_x = (x & 0x7fff) > infinity, nan_y = (y & 0x7fff) > infinity;
  if (nan_x && nan_y) return 0x7fff;
  if (nan_x || nan_y) return nan_x ? y : x;
  const auto order = [](std::uint16_t h) { return (h & 0x8000) != 0 ? -(h & 0x7fff) - 1 : int{h}; };
  return (order(x) < order(y)) == least ? x : y;
}

std::uint32_t combined_halves(AtomicOp which, std::uint32_t old, std::uint32_t b, bool bfloat) {
  std::uint32_t r = 0;
  for (int part = 0; part < 2; ++part) {
    const auto x = static_cast<std::uint16_t>(old >> (16 * part)),
               y = static_cast<std::uint16_t>(b >> (16 * part));
    if (which != AtomicOp::add) {
      r |= std::uint32_t{extreme_half(x, y, which == AtomicOp::min, bfloat)} << (16 * part);
      continue;
    }
    // Two halves' sum is exact in double but for bits far below a half's last, so one rounding is what remains.
    const double sum = bfloat ? double{bfloat_to_float(x)} + bfloat_to_float(y)
                              : double{half_to_float(x)} + half_to_float(y);
    const std::uint64_t h = pack(bfloat ? Format::bf16 : Format::f16,
                                 unpack(Format::f64, std::bit_cast<std::uint64_t>(sum)), Rounding::nearest);
    r |= static_cast<std::uint32_t>(h) << (16 * part);
  }
  return r;
}

/// What memory holds afterwards.
std::uint64_t combined(AtomicOp which, AtomicType type, std::uint64_t old, std::uint64_t b) {
  switch (type) {
    case AtomicType::u32:
      return integer_result(which, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(b));
    case AtomicType::s32:
      return static_cast<std::uint32_t>(
          integer_result(which, static_cast<std::int32_t>(old), static_cast<std::int32_t>(b)));
    case AtomicType::u64: return integer_result(which, old, b);
    case AtomicType::s64:
      return static_cast<std::uint64_t>(
          integer_result(which, static_cast<std::int64_t>(old), static_cast<std::int64_t>(b)));
    case AtomicType::f32:
    case AtomicType::f32_flush: {
      float x = std::bit_cast<float>(static_cast<std::uint32_t>(old)),
            y = std::bit_cast<float>(static_cast<std::uint32_t>(b));
      if (type == AtomicType::f32_flush) {
        x = flushed(x);
        y = flushed(y);
      }
      float r = x + y;
      if (type == AtomicType::f32_flush) r = flushed(r);
      return std::isnan(r) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(r);
    }
    case AtomicType::f64: {
      const double x = std::bit_cast<double>(old), y = std::bit_cast<double>(b);
      // A NaN is passed on as it is, the register's before that of memory.
      return std::isnan(y) ? b : std::isnan(x) ? old : std::bit_cast<std::uint64_t>(x + y);
    }
    case AtomicType::f16x2:
      return combined_halves(which, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(b), false);
    case AtomicType::bf16x2:
    case AtomicType::b128: break;
  }
  return combined_halves(which, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(b), true);
}

/// What lane `l` changes.
inline std::byte* memory_at(Execution& x, MemorySpace space, std::uint64_t address, std::uint32_t bytes,
                            int l) {
  return space == MemorySpace::shared   ? x.memory.shared_at(address, bytes, l)
         : space == MemorySpace::global ? x.memory.global_at(address, bytes, l)
                                        : x.memory.generic_at(address, bytes, l);
}

/// Whose turn it is among the lanes that try ATOMS.CAST.SPIN at once: one for each bank, of 32 lanes, or of 16 that bring 64 bits. The others
/// fail, those at other words of the bank, too (shared_atomics on H100: as many rounds as lanes want the busiest bank).
class Turns {
 public:
  /// Whether lane `l` is the first that wants the bank of `address`.
  bool take(int l, std::uint64_t address, std::uint32_t bytes) {
    const std::uint32_t banks = 128 / bytes;
    std::uint32_t& taken = taken_[bytes == 8 ? l / 16 : 0];
    const std::uint32_t bank = 1u << (address / bytes % banks);
    const bool first = (taken & bank) == 0;
    taken |= bank;
    return first;
  }

 private:
  std::uint32_t taken_[2] = {};
};

/// Whether a lane adds anything: an addition of zero only asks.
bool adds(const std::uint32_t* operand, std::uint32_t mask) {
  for (std::uint32_t m = mask; m != 0; m &= m - 1)
    if (operand[std::countr_zero(m)] != 0) return true;
  return false;
}

/// a, b (address), c: operand; CAS: c compared, register destination2 new. p_out: sm_120's success, or PT.
void atomic(Execution& x, const MicroOp& op, std::uint32_t mask) {
  if ((op.flags & kTellsCount) != 0 && adds(x.words(op.c), mask) && x.gives_way()) return;
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const AtomicOp which = operation(op);
  const AtomicType type = type_of(op);
  const auto space = static_cast<MemorySpace>(op.flags >> kSpaceShift & 3);
  const std::uint32_t bytes = 1u << (op.flags >> kSizeShift & 7);
  const std::uint32_t* operand = x.words(op.c);
  const std::uint32_t* replacement = x.words(File::registers, op.destination2);
  std::uint32_t* d = x.result(op);
  std::uint32_t success = 0, changed = 0;
  std::uint32_t results[2][32];
  Turns turns;
  const auto value = [&](const std::uint32_t* w, int l) {
    return w[l] | (bytes == 8 ? std::uint64_t{w[l + 32]} << 32 : 0);
  };
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint64_t address = x.addresses[0][static_cast<std::size_t>(l)];
    std::byte* p = memory_at(x, space, address, bytes, l);
    std::uint64_t old = 0;
    std::memcpy(&old, p, bytes);
    std::uint64_t next = old, answer = old;
    const std::uint64_t b = value(operand, l);
    switch (which) {
      case AtomicOp::cas:
        if (old == b) next = value(replacement, l);
        break;
      case AtomicOp::cast_spin:
        answer = turns.take(l, address, bytes) && old == b ? 1 : 0;
        if (answer != 0) next = value(replacement, l);
        success |= static_cast<std::uint32_t>(answer) << l;
        break;
      case AtomicOp::popc_inc: next = static_cast<std::uint32_t>(old) + 1; break;
      case AtomicOp::arrive: next = arrived_sm80(old); break;
      default: next = combined(which, type, old, b); break;
    }
    if (next != old) changed |= 1u << l;
    std::memcpy(p, &next, bytes);
    results[0][l] = static_cast<std::uint32_t>(answer);
    results[1][l] = static_cast<std::uint32_t>(answer >> 32);
  }
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    d[l] = results[0][l];
    if (bytes == 8) d[l + 32] = results[1][l];
  }
  changed != 0 ? x.progress.note() : x.note_poll();
  if (which == AtomicOp::add && (op.flags & kTellsCount) == 0) x.warp->told_before = true;
  x.value = changed;  // what the record of one in a loop that tries again says
  // Elsewhere P tells that the operation was done here, which it always is.
  x.set_predicate(op.p_out, mask, which == AtomicOp::cast_spin ? success : ~0u);
}

/// Several words per lane: 128 bits to exchange or to compare and exchange, or vectors whose parts are combined one by one.
void atomic_words(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const AtomicOp which = operation(op);
  const AtomicType type = type_of(op);
  const auto space = static_cast<MemorySpace>(op.flags >> kSpaceShift & 3);
  const std::uint32_t bytes = 1u << (op.flags >> kSizeShift & 7), words = bytes / 4;
  const std::uint32_t* operand = x.words(op.c);
  const std::uint32_t* replacement = x.words(File::registers, op.destination2);
  bool changed = false;
  std::uint32_t results[4][32];
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint64_t address = x.addresses[0][static_cast<std::size_t>(l)];
    std::byte* p = memory_at(x, space, address, bytes, l);
    std::uint32_t old[4], next[4];
    std::memcpy(old, p, bytes);
    bool same = true;
    for (std::uint32_t i = 0; i < words; ++i)
      same = same && old[i] == operand[static_cast<std::uint32_t>(l) + 32 * i];
    for (std::uint32_t i = 0; i < words; ++i) {
      const std::uint32_t at = static_cast<std::uint32_t>(l) + 32 * i;
      if (which == AtomicOp::cas) {
        next[i] = same ? replacement[at] : old[i];
      } else if (which == AtomicOp::exch) {
        next[i] = operand[at];
      } else {
        next[i] = static_cast<std::uint32_t>(combined(which, type, old[i], operand[at]));
      }
      results[i][l] = old[i];
    }
    changed = changed || std::memcmp(next, old, bytes) != 0;
    std::memcpy(p, next, bytes);
  }
  changed ? x.progress.note() : x.note_poll();
  std::uint32_t* d = x.result(op);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    for (std::uint32_t i = 0; i < words; ++i) d[static_cast<std::uint32_t>(l) + 32 * i] = results[i][l];
  }
  x.set_predicate(op.p_out, mask, ~0u);
}

AtomicOp take_operation(Decoder& d) {
  // .POPC.INC has the name of another operation in it, so it is asked for first.
  const bool counts = d.printed.take("POPC");
  const int which = counts ? static_cast<int>(AtomicOp::popc_inc)
                           : d.printed.take_one({"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR",
                                                 "EXCH", "CAS", "CAST", "", "ARRIVE"},
                                                -1);
  if (which < 0) PrintedForm::refuse("no operation that is known");
  const auto operation = static_cast<AtomicOp>(which);
  if (operation == AtomicOp::cast_spin && !d.printed.take("SPIN")) PrintedForm::refuse(".CAST without .SPIN");
  if (operation == AtomicOp::popc_inc && !d.printed.take("INC")) PrintedForm::refuse(".POPC without .INC");
  return operation;
}

/// `words`: more than one of a vector, or of 128 bits.
AtomicType take_type(Decoder& d, std::uint32_t& words) {
  AtomicType type = AtomicType::u32;
  words = 1;
  switch (d.printed.take_one({"32", "U32", "S32", "64", "U64", "S64", "F32", "F64", "F16x2", "BF16x2",
                              "BF16_V2", "128", "F32x2", "F32x4", "F16x4", "F16x8", "BF16x4", "BF16x8"},
                             0)) {
    case 2: type = AtomicType::s32; break;
    case 3:
    case 4: type = AtomicType::u64; break;
    case 5: type = AtomicType::s64; break;
    case 6: type = AtomicType::f32; break;
    case 7: type = AtomicType::f64; break;
    case 8: type = AtomicType::f16x2; break;
    case 9:
    case 10: type = AtomicType::bf16x2; break;
    case 11:
      type = AtomicType::b128;
      words = 4;
      break;
    case 12:
    case 13:
      type = AtomicType::f32;
      words = d.printed.instruction().has("F32x2") ? 2 : 4;
      break;
    case 14:
    case 15:
      type = AtomicType::f16x2;
      words = d.printed.instruction().has("F16x4") ? 2 : 4;
      break;
    case 16:
    case 17:
      type = AtomicType::bf16x2;
      words = d.printed.instruction().has("BF16x4") ? 2 : 4;
      break;
    default: break;
  }
  return type;
}

void translate(Decoder& d, MemorySpace space, bool returns) {
  MicroOp& op = d.op();
  d.printed.take("E");
  const AtomicOp operation = take_operation(d);
  std::uint32_t words = 1;
  AtomicType type = take_type(d, words);
  const bool is_float = type >= AtomicType::f32 && type != AtomicType::b128;
  const bool halves = type == AtomicType::f16x2 || type == AtomicType::bf16x2;
  if (is_float) {
    if (d.printed.take("FTZ") && type == AtomicType::f32) type = AtomicType::f32_flush;
    d.printed.take("RN");
    if (operation != AtomicOp::add && operation != AtomicOp::exch &&
        !(halves && (operation == AtomicOp::min || operation == AtomicOp::max))) {
      PrintedForm::refuse("such an operation on floats");
    }
  }
  d.printed.take_one({"STRONG", "WEAK", "MMIO"}, 0);
  d.printed.take_one({"CTA", "SM", "GPU", "SYS"}, 0);
  const bool wide = type == AtomicType::u64 || type == AtomicType::s64 || type == AtomicType::f64;
  const std::uint32_t size = words == 4 ? 4 : wide || words == 2 ? 3 : 2;
  op.flags = size << kSizeShift | static_cast<std::uint32_t>(space) << kSpaceShift |
             static_cast<std::uint32_t>(operation) << kAtomicOpShift |
             static_cast<std::uint32_t>(type) << kAtomicTypeShift;
  op.destination = kSinkWord;
  if (returns) {
    d.predicate_outputs(1);
    if (d.printed.next_is_register()) d.destination();
  }
  std::uint32_t form = op.flags;
  take_memory_address(d, form, space);
  op.flags = form;
  op.c.word = kZeroWord;
  if (operation != AtomicOp::popc_inc && operation != AtomicOp::arrive) op.c = d.source(Style::raw);
  if (operation == AtomicOp::cas || operation == AtomicOp::cast_spin) {
    const isa::Operand& replacement = d.printed.next();
    if (replacement.kind != isa::OperandKind::register_)
      PrintedForm::refuse(fmt::format("'{}'", replacement.text));
    op.destination2 = Decoder::register_word(replacement.index, false);
  }
  op.address_sets = 1;
  if (type == AtomicType::b128 && operation != AtomicOp::cas && operation != AtomicOp::exch) {
    PrintedForm::refuse("such an operation on 128 bits");
  }
  d.warp(words > 1 ? atomic_words : atomic);
}

}  // namespace

void combine_bytes(AtomicOp operation, AtomicType type, std::byte* to, const std::byte* from,
                   std::uint32_t bytes) {
  const bool wide = type == AtomicType::u64 || type == AtomicType::s64 || type == AtomicType::f64;
  const std::uint32_t element = wide ? 8 : 4;
  for (std::uint32_t i = 0; i < bytes; i += element) {
    std::uint64_t old = 0, b = 0;
    std::memcpy(&old, to + i, element);
    std::memcpy(&b, from + i, element);
    const std::uint64_t next = combined(operation, type, old, b);
    std::memcpy(to + i, &next, element);
  }
}

bool translate_atomic(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::ATOMG: translate(d, MemorySpace::global, true); return true;
    case Opcode::ATOM: translate(d, MemorySpace::generic, true); return true;
    case Opcode::ATOMS: translate(d, MemorySpace::shared, true); return true;
    case Opcode::REDG:
    case Opcode::RED: translate(d, MemorySpace::global, false); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
