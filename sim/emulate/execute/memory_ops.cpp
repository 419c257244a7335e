// Loads, stores, constant loads and asynchronous copies.
//
// Models:  loads, stores and asynchronous copies (LDGSTS writes zeros where its predicate is false; .ZFILL takes the
//          number of zero bytes from the low bits of the source address), address forms.
// Ignores: cache hints, order and scope (memory is sequentially consistent here), the commit groups of asynchronous copies,
//          which happen at once.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "model/isa/indexed_constants.h"
#include "model/work/address_space.h"
#include "sim/emulate/execute/execution.h"
#include "sim/emulate/translate/address_form.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;
using isa::OperandKind;

namespace {

std::uint32_t log2_bytes(const MicroOp& op) { return (op.flags >> kSizeShift) & 7; }
MemorySpace space_of(const MicroOp& op) { return static_cast<MemorySpace>((op.flags >> kSpaceShift) & 3); }

std::byte* lane_at(Execution& x, MemorySpace space, std::uint64_t address, std::uint32_t bytes, int lane) {
  switch (space) {
    case MemorySpace::global: return x.memory.global_at(address, bytes, lane);
    case MemorySpace::shared: return x.memory.shared_at(address, bytes, lane);
    case MemorySpace::local: return x.memory.local_at(address, bytes, lane);
    case MemorySpace::generic: break;
  }
  return x.memory.generic_at(address, bytes, lane);
}

/// Host memory of all lanes' accesses and the address it stands for, if there is one such piece.
std::byte* span_of(Execution& x, MemorySpace space, const AddressRange& range, std::uint32_t bytes) {
  const bool global = range.greatest < kSharedWindow || range.least >= kLocalWindow + kWindowBytes;
  if (space == MemorySpace::global || (space == MemorySpace::generic && global)) {
    return x.memory.global_span(range, bytes);
  }
  if (space == MemorySpace::shared) return x.memory.shared_span(range, bytes);
  return nullptr;
}

/// Words of a lane in consecutive registers: `words` of 4 bytes from `from` into to[lane], to[lane + 32] ...
inline void spread(std::uint32_t* to, const std::byte* from, int lane, std::uint32_t words) {
  for (std::uint32_t i = 0; i < words; ++i) std::memcpy(to + lane + 32 * i, from + 4 * i, 4);
}
inline void gather(std::byte* to, const std::uint32_t* from, int lane, std::uint32_t words) {
  for (std::uint32_t i = 0; i < words; ++i) std::memcpy(to + 4 * i, from + lane + 32 * i, 4);
}

std::uint32_t small_value(const std::byte* from, std::uint32_t bytes, bool is_signed) {
  if (bytes == 1) {
    const auto v = static_cast<std::uint8_t>(*from);
    return is_signed ? static_cast<std::uint32_t>(static_cast<std::int8_t>(v)) : v;
  }
  std::uint16_t v;
  std::memcpy(&v, from, 2);
  return is_signed ? static_cast<std::uint32_t>(static_cast<std::int16_t>(v)) : v;
}

/// Of four words those that are `kept` (a bit each), to one register after the other.
void spread_kept(std::uint32_t* d, const std::byte* from, int lane, std::uint32_t kept) {
  for (std::uint32_t m = kept & 15; m != 0; m &= m - 1, d += 32)
    std::memcpy(d + lane, from + 4 * std::countr_zero(m), 4);
}

void load(Execution& x, const MicroOp& op, std::uint32_t mask) {
  if ((op.flags & kAsksAgain) != 0) x.note_poll();
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint64_t* addresses = x.addresses[0].data();
  const std::uint32_t bytes = 1u << log2_bytes(op);
  const MemorySpace space = space_of(op);
  std::uint32_t* d = x.result(op);
  const AddressRange range = x.lanes().range(addresses, mask);
  const std::byte* memory = span_of(x, space, range, bytes);
  if (bytes == 4 && memory != nullptr) {
    x.lanes().load_words(d, memory, addresses, range.least, range.greatest - range.least, mask);
    return;
  }
  const bool is_signed = (op.flags & kLoadSigned) != 0;
  // Every lane is checked before any is written: a fault leaves the warp as it was.
  std::array<const std::byte*, 32> from;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    from[static_cast<std::size_t>(l)] =
        memory != nullptr ? memory + (addresses[l] - range.least) : lane_at(x, space, addresses[l], bytes, l);
  }
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::byte* p = from[static_cast<std::size_t>(l)];
    if (bytes < 4) {
      d[l] = small_value(p, bytes, is_signed);
    } else if (bytes == 16) {
      spread(d, p, l, 4);
    } else if (bytes == 8) {
      spread(d, p, l, 2);
    } else if (bytes == 32) {  // two groups of four registers: the low 16 bytes in the second one printed
      spread_kept(x.words(op.destination_file, op.destination2), p, l, op.index2 & 15);
      spread_kept(d, p + 16, l, op.index2 >> 4);
    } else {
      spread(d, p, l, 1);
    }
  }
}

/// What lane `lane` stores, to `to`.
void gather_stored(const Execution& x, const MicroOp& op, int lane, std::byte* to) {
  const std::uint32_t bytes = 1u << log2_bytes(op);
  const std::uint32_t* s = x.words(op.c);
  if (bytes < 4) {
    std::memcpy(to, s + lane, bytes);
  } else if (bytes == 32) {
    gather(to, s, lane, 4);
    gather(to + 16, x.words(File::registers, op.destination2), lane, 4);
  } else {
    gather(to, s, lane, bytes / 4);
  }
}

void store(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint64_t* addresses = x.addresses[0].data();
  const std::uint32_t bytes = 1u << log2_bytes(op);
  const MemorySpace space = space_of(op);
  const AddressRange range = x.lanes().range(addresses, mask);
  std::byte* memory = span_of(x, space, range, bytes);
  if (bytes == 4 && memory != nullptr) {
    x.lanes().store_words(x.words(op.c), memory, addresses, range.least, range.greatest - range.least, mask);
    return;
  }
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    if (x.memory.shared_checks() != nullptr) gather_stored(x, op, l, x.memory.stored_next(l));
    std::byte* p =
        memory != nullptr ? memory + (addresses[l] - range.least) : lane_at(x, space, addresses[l], bytes, l);
    gather_stored(x, op, l, p);
  }
}

/// As store(). True: something else is there now than was before.
bool replace(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint32_t bytes = 1u << log2_bytes(op);
  bool changed = false;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    std::byte* const value = x.memory.stored_next(l);
    gather_stored(x, op, l, value);
    std::byte* p = lane_at(x, space_of(op), x.addresses[0][static_cast<std::size_t>(l)], bytes, l);
    changed = changed || std::memcmp(p, value, bytes) != 0;
    std::memcpy(p, value, bytes);
  }
  return changed;
}

/// To global memory. In a loop that waits for another block a thread may write in every round what it has found (graph colouring).
void store_far(Execution& x, const MicroOp& op, std::uint32_t mask) {
  if (x.progress.polls == 0) {
    store(x, op, mask);
  } else {
    x.progress.in_vain = !replace(x, op, mask);
  }
}

/// To shared or local memory, which the block alone sees: what was there before is no progress. In a loop that waits for another
/// block a warp may tell the others in every round what it has found (Triton's atomics that give one value).
void store_own(Execution& x, const MicroOp& op, std::uint32_t mask) {
  if (x.progress.polls == 0) {
    store(x, op, mask);
    x.progress.note();
  } else if (replace(x, op, mask)) {
    x.progress.note();
  }
}

/// c[bank][register + offset], lane by lane. index2: bank; a: the register; immediate: offset.
void load_constant(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::vector<std::byte>& bank = x.launch().context.banks[op.index2];
  const std::uint32_t bytes = 1u << log2_bytes(op);
  std::uint32_t* d = x.result(op);
  const std::uint32_t* base = x.words(op.a);
  const std::uint32_t* more = x.words(op.b);
  const bool uniform = op.destination_file == File::uniform;
  for (std::uint32_t m = uniform ? 1 : mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint64_t at = (base[l] + more[l] + op.immediate) & 0xffffffffu;
    x.addresses[0][static_cast<std::size_t>(l)] = at;
    if (at + bytes > bank.size()) {
      x.fault(
          FaultKind::out_of_bounds, std::countr_zero(mask),
          fmt::format("out-of-bounds constant access of {} bytes at c[0x{:x}][0x{:x}]; the bank has {} bytes",
                      bytes, op.index2, at, bank.size()));
    }
    if (at % std::min(bytes, 16u) != 0) {
      x.fault(
          FaultKind::misaligned, std::countr_zero(mask),
          fmt::format("misaligned constant access of {} bytes at c[0x{:x}][0x{:x}]", bytes, op.index2, at));
    }
    const std::byte* p = bank.data() + at;
    if (bytes < 4) {
      d[l] = small_value(p, bytes, (op.flags & kLoadSigned) != 0);
    } else {
      spread(d, p, l, bytes / 4);
    }
  }
  if (uniform) {
    x.addresses[0].fill(x.addresses[0][0]);
    for (std::uint32_t i = 0; i < std::max(bytes / 4, 1u); ++i)
      std::fill(d + 32 * i, d + 32 * i + 32, d[32 * i]);
  }
}

template <std::size_t kBytes>
void copy_lanes(std::byte* to, const std::byte* from, const Execution& x, const AddressRange& shared,
                const AddressRange& global, std::uint32_t mask) {
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(m));
    std::memcpy(to + (x.addresses[0][i] - shared.least), from + (x.addresses[1][i] - global.least), kBytes);
  }
}

/// Copies `bytes` for each lane, from addresses[1] to addresses[0], if all of them are aligned and in one piece of host memory each: the
/// host then waits for all lanes' lines at once.
bool copy_together(Execution& x, std::uint32_t bytes, std::uint32_t mask) {
  const AddressRange shared = x.lanes().range(x.addresses[0].data(), mask);
  const AddressRange global = x.lanes().range(x.addresses[1].data(), mask);
  std::byte* const to = x.memory.shared_span(shared, bytes);
  const std::byte* const from = x.memory.global_span(global, bytes);
  if (to == nullptr || from == nullptr) return false;
  if (bytes == 16) {
    copy_lanes<16>(to, from, x, shared, global, mask);
  } else if (bytes == 8) {
    copy_lanes<8>(to, from, x, shared, global, mask);
  } else {
    copy_lanes<4>(to, from, x, shared, global, mask);
  }
  return true;
}

/// cp.async. a + the uniform register at destination + index2: shared; b + c + immediate: global; p_in false: zeros are written.
void copy_to_shared(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t bytes = 1u << log2_bytes(op);
  x.form_addresses(op.a, Source{.word = op.destination, .file = File::uniform},
                   (op.flags >> kSharedShift & 7) << kBaseShift,
                   static_cast<std::uint64_t>(static_cast<std::int32_t>(op.index2)) & 0xffffffffu, 0);
  x.form_addresses(op.b, op.c, op.flags, op.immediate, 1);
  const std::uint32_t full = x.predicate(op.p_in);
  if ((mask & ~full) == 0 && copy_together(x, bytes, mask)) return;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const auto i = static_cast<std::size_t>(l);
    std::byte* to = x.memory.shared_at(x.addresses[0][i], bytes, l);
    const std::uint64_t from = x.addresses[1][i];
    const std::uint32_t zeros =
        (op.flags & kZeroFill) != 0 ? static_cast<std::uint32_t>(from & (bytes - 1)) : 0;
    if ((full >> l & 1) == 0 || zeros == bytes) {
      std::memset(to, 0, bytes);
      x.addresses[1][i] = work::kNoAddress;
      continue;
    }
    if (zeros == 0) {
      std::memcpy(to, x.memory.global_at(from, bytes, l), bytes);
      continue;
    }
    std::byte buffer[16] = {};
    const std::uint64_t start = from - zeros;
    // Only what is copied has to be there.
    if (start % bytes != 0) x.memory.fault_access(FaultKind::misaligned, l, "global", from, bytes);
    for (std::uint32_t k = 0; k < bytes - zeros; ++k) buffer[k] = *x.memory.global_at(start + k, 1, l);
    std::memcpy(to, buffer, bytes);
  }
}

/// P = the address lies in that space. index2: 0 shared memory of the block, 1 of the cluster, 2 local, 3 any other.
void query_space(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  std::uint32_t inside = 0;
  for (std::uint32_t l = 0; l < 32; ++l) {
    const std::uint64_t a = x.addresses[0][l];
    const bool shared = a - kSharedWindow < kWindowBytes, local = a - kLocalWindow < kWindowBytes;
    const bool own = shared && (a - kSharedWindow) >> kClusterRankShift == x.cluster_rank();
    const bool answers[] = {own, shared, local, !shared && !local};
    inside |= std::uint32_t{answers[op.index2]} << l;
  }
  x.set_predicate(op.p_out, mask, inside);
}

/// The address operand into a (base), b (uniform part), immediate (offset) and the flags.
void take_address(Decoder& d, Source& base, Source& uniform, std::uint32_t& flags, std::uint64_t& offset,
                  MemorySpace space) {
  const isa::Operand& operand = d.printed.next();
  if (operand.kind != OperandKind::memory)
    PrintedForm::refuse(fmt::format("'{}' is no address", operand.text));
  const bool far = space == MemorySpace::global || space == MemorySpace::generic;
  base = Source{.word = Decoder::register_word(operand.base < 0 ? isa::kRz : operand.base, false)};
  uniform = Source{
      .word = Decoder::uniform_word(operand.uniform_base < 0 ? isa::kUrz : operand.uniform_base, false),
      .file = File::uniform};
  offset = static_cast<std::uint64_t>(operand.offset);
  if (operand.base_suffix == "64") {
    flags |= kBase64;
  } else if (operand.base_suffix.empty()) {
    if (far) flags |= kBase64;
  } else if (operand.base_suffix == "X4") {
    flags |= 2u << kBaseShift;
  } else if (operand.base_suffix == "X8") {
    flags |= 3u << kBaseShift;
  } else if (operand.base_suffix == "X16") {
    flags |= 4u << kBaseShift;
  } else if (operand.base_suffix != "U32") {
    PrintedForm::refuse(fmt::format("address '{}'", operand.text));
  }
  if (far) flags |= kUniform64;
  if (!far && (flags & kBase64) != 0) PrintedForm::refuse(fmt::format("address '{}'", operand.text));
}

void take_size(Decoder& d, MicroOp& op) {
  if (d.printed.take("256")) {
    d.printed.take_one({"ENL2", "EFL2", "ELL2"}, 0);
    op.flags |= 5u << kSizeShift;
    return;
  }
  switch (d.printed.take_one({"U8", "S8", "U16", "S16", "32", "64", "128"}, 4)) {
    case 0: break;
    case 1: op.flags |= kLoadSigned; break;
    case 2: op.flags |= 1u << kSizeShift; break;
    case 3: op.flags |= 1u << kSizeShift | kLoadSigned; break;
    case 4: op.flags |= 2u << kSizeShift; break;
    case 5: op.flags |= 3u << kSizeShift; break;
    default: op.flags |= 4u << kSizeShift; break;
  }
}

/// Modifiers that change no value: hints, order, scope.
void take_hints(Decoder& d) {
  d.printed.take("E");
  d.printed.take_one({"CONSTANT", "STRONG", "WEAK", "MMIO"}, 0);
  d.printed.take_one({"CTA", "SM", "GPU", "SYS", "VC", "PRIVATE"}, 0);
  d.printed.take_one({"EF", "EL", "LU", "EU", "NA"}, 0);
  d.printed.take_one({"LTC64B", "LTC128B", "LTC256B"}, 0);
}

MemorySpace space_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::LDG:
    case Opcode::STG: return MemorySpace::global;
    case Opcode::LDS:
    case Opcode::STS: return MemorySpace::shared;
    case Opcode::LDL:
    case Opcode::STL: return MemorySpace::local;
    default: return MemorySpace::generic;
  }
}

void translate_load(Decoder& d) {
  MicroOp& op = d.op();
  const MemorySpace space = space_of(d.printed.opcode());
  if (d.printed.instruction().has("STRONG") || d.printed.instruction().has("MMIO")) op.flags |= kAsksAgain;
  take_hints(d);
  take_size(d, op);
  op.flags |= static_cast<std::uint32_t>(space) << kSpaceShift;
  d.destination();
  if ((op.flags >> kSizeShift & 7) == 5)
    op.destination2 = Decoder::register_word(d.printed.next().index, true);
  take_address(d, op.a, op.b, op.flags, op.immediate, space);
  const bool some = d.printed.next_is(OperandKind::immediate);  // of 32 bytes: which words (PTX's _ is none)
  op.index2 = some ? static_cast<std::uint32_t>(d.printed.next().value) : 0xff;
  op.address_sets = 1;
  d.warp(load);
}

void translate_store(Decoder& d) {
  MicroOp& op = d.op();
  const MemorySpace space = space_of(d.printed.opcode());
  take_hints(d);
  take_size(d, op);
  op.flags |= static_cast<std::uint32_t>(space) << kSpaceShift;
  take_address(d, op.a, op.b, op.flags, op.immediate, space);
  op.c = d.source(Style::raw);
  if ((op.flags >> kSizeShift & 7) == 5)
    op.destination2 = Decoder::register_word(d.printed.next().index, false);
  op.address_sets = 1;
  const bool own = space == MemorySpace::shared || space == MemorySpace::local;
  op.progress = !own;  // store_own says so itself
  d.warp(own ? store_own : store_far);
}

void translate_constant(Decoder& d) {
  MicroOp& op = d.op();
  take_size(d, op);
  d.destination();
  const isa::Operand& operand = d.printed.next();
  if (operand.kind != OperandKind::constant || operand.negate || operand.absolute ||
      !operand.suffix.empty()) {
    PrintedForm::refuse(fmt::format("'{}' is no constant", operand.text));
  }
  const std::uint32_t size = op.flags >> kSizeShift & 7;
  if (size == 5 || operand.bank < 0 || operand.bank >= kConstantBanks) {
    PrintedForm::refuse(fmt::format("constant operand '{}'", operand.text));
  }
  if (operand.base_suffix != "" && operand.base >= 0)
    PrintedForm::refuse(fmt::format("address '{}'", operand.text));
  const bool indexed = (operand.base >= 0 && operand.base != isa::kRz) ||
                       (operand.uniform_base >= 0 && operand.uniform_base != isa::kUrz);
  if (!indexed && (size == 2 || size == 3)) {
    op.a.file = File::literal;
    op.flags = 0;
    op.a.word = d.constant_literal(operand.bank, operand.offset, size == 2 ? 1 : 2);
    d.lane(size == 2 ? LaneOp::mov : LaneOp::mov64);
    return;
  }
  op.index2 = static_cast<std::uint32_t>(operand.bank);
  op.a = Source{.word = Decoder::register_word(operand.base < 0 ? isa::kRz : operand.base, false)};
  op.b = Source{
      .word = Decoder::uniform_word(operand.uniform_base < 0 ? isa::kUrz : operand.uniform_base, false),
      .file = File::uniform};
  op.immediate = static_cast<std::uint64_t>(operand.offset);
  op.address_sets = isa::indexes_constants(d.printed.instruction()) ? 1 : 0;
  d.warp(load_constant);
}

void translate_copy(Decoder& d) {
  MicroOp& op = d.op();
  take_hints(d);
  d.printed.take("BYPASS");
  d.printed.take("ACCESS");
  if (d.printed.take("ZFILL")) op.flags |= kZeroFill;
  take_size(d, op);
  const std::uint32_t size = op.flags >> kSizeShift & 7;
  if (size < 2 || size > 4) PrintedForm::refuse("a copy of that size");
  std::uint32_t form = 0;
  std::uint64_t offset = 0;
  Source uniform;
  take_address(d, op.a, uniform, form, offset, MemorySpace::shared);
  op.destination = uniform.word;
  op.index2 = static_cast<std::uint32_t>(offset);
  op.flags |= (form >> kBaseShift & 7) << kSharedShift;
  take_address(d, op.b, op.c, op.flags, op.immediate, MemorySpace::global);
  if (d.printed.more()) op.p_in = d.predicate_input();
  op.address_sets = 2;
  op.progress = true;
  d.warp(copy_to_shared);
}

}  // namespace

void take_memory_address(Decoder& d, std::uint32_t& flags, MemorySpace space) {
  MicroOp& op = d.op();
  take_address(d, op.a, op.b, flags, op.immediate, space);
}

bool translate_memory(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::LDG:
    case Opcode::LD:
    case Opcode::LDS:
    case Opcode::LDL: translate_load(d); return true;
    case Opcode::STG:
    case Opcode::ST:
    case Opcode::STS:
    case Opcode::STL: translate_store(d); return true;
    case Opcode::LDC:
    case Opcode::ULDC:
    case Opcode::LDCU: translate_constant(d); return true;
    case Opcode::LDGSTS: translate_copy(d); return true;
    case Opcode::LDSM: translate_matrix(d, true); return true;
    case Opcode::STSM: translate_matrix(d, false); return true;
    case Opcode::QSPC: {
      take_hints(d);
      d.op().index2 = static_cast<std::uint32_t>(d.printed.need_one({"S", "D", "L", "G"}));
      d.op().p_out = d.predicate_output();
      d.destination();
      if (d.op().destination != kSinkWord) PrintedForm::refuse("a register result");
      std::uint32_t flags = 0;
      take_memory_address(d, flags, MemorySpace::generic);
      d.op().flags = flags;
      d.warp(query_space);
      return true;
    }
    default: return false;
  }
}

}  // namespace foretrace::emulate
