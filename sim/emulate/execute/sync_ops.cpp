// Barriers in shared memory (mbarrier) and what arrives at them.
//
// Models:  mbarriers. On sm_90 and sm_120 a 64-bit word: bits 1..20 minus the expected arrivals, 21..42 the transaction
//          count, 43..62 minus the pending arrivals, 63 the phase; when nothing is pending and the transaction count is
//          0 the phase flips and the pending count is loaded anew. On sm_80: low word 2^30 - expected, high word phase and
//          2^31 - pending. A test of a phase that has not ended waits until it has (as TRYWAIT may), and is recorded once; where that
//          brings nothing for long, it fails and gives other warps their turn: such loops hold no YIELD.
//          .TMASK (mbarrier.arrive.noComplete): each lane is told the high word from before the first of the lanes that arrive at its
//          barrier together, and, instead of the low word, which lanes these are; the code around it counts those before it. As ptxas
//          13.0 uses it; not asked of a device.
//          STAS (st.async), REDAS (red.async) and remote arrivals reach the shared memory of other blocks of the cluster.
// Ignores: scopes; asynchronous copies have ended before the next instruction, so their arrival is immediate.
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/translate/address_form.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;

namespace {

constexpr std::uint64_t kField = 0xfffff;  // 20 bits
constexpr std::uint64_t kTransactions = 0x3fffff;

/// Bits of MicroOp::index2: what an arrival does.
enum class Arrival : std::uint32_t { a1tr, a1t0, art0, a0tr, a0t1, a0tx };
constexpr std::uint32_t kCombines = 1u << 28;  ///< of MicroOp::flags: REDAS
constexpr std::uint32_t kDrop = 1 << 8, kOldWord = 1 << 9, kTellsLanes = 1 << 10;

std::uint64_t arrived(std::uint64_t state, std::uint32_t arrivals, std::int64_t transactions, bool drop) {
  std::uint64_t expected = state >> 1 & kField, pending = state >> 43 & kField, phase = state >> 63;
  std::uint64_t count = state >> 21 & kTransactions;
  if (drop) expected = (expected + arrivals) & kField;
  pending = (pending + arrivals) & kField;
  count = (count + static_cast<std::uint64_t>(transactions)) & kTransactions;
  if (pending == 0 && count == 0) {
    phase ^= 1;
    pending = expected;
  }
  return (state & 1) | expected << 1 | count << 21 | pending << 43 | phase << 63;
}

/// Of `mask`, in place of the words from before each lane's arrival: the first one's high word, and the lanes at its barrier.
void tell_lanes(const work::LaneAddresses& barriers, std::uint32_t mask, std::uint64_t* tokens) {
  for (std::uint32_t rest = mask; rest != 0;) {
    const int first = std::countr_zero(rest);
    std::uint32_t together = 0;
    for (std::uint32_t m = rest; m != 0; m &= m - 1) {
      const int l = std::countr_zero(m);
      if (barriers[static_cast<std::size_t>(l)] == barriers[static_cast<std::size_t>(first)])
        together |= 1u << l;
    }
    const std::uint64_t token = tokens[first] >> 32 << 32 | together;
    for (std::uint32_t m = together; m != 0; m &= m - 1) tokens[std::countr_zero(m)] = token;
    rest &= ~together;
  }
}

void arrive(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint32_t* operand = x.words(op.c);
  std::uint32_t* d = x.result(op);
  std::uint64_t token[32];
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    x.addresses[1][static_cast<std::size_t>(l)] = operand[l];
    std::byte* p = x.memory.cluster_shared_at(x.addresses[0][static_cast<std::size_t>(l)], 8, l);
    std::uint64_t state;
    std::memcpy(&state, p, 8);
    token[l] = state;
    if ((op.index2 & kOldWord) != 0) {
      state = arrived_sm80(state);
    } else {
      const std::uint32_t b = operand[l];
      const bool drop = (op.index2 & kDrop) != 0;
      switch (static_cast<Arrival>(op.index2 & 0xff)) {
        case Arrival::a1tr: state = arrived(state, 1, b, drop); break;
        case Arrival::a1t0: state = arrived(state, 1, 0, drop); break;
        case Arrival::art0: state = arrived(state, b, 0, drop); break;
        case Arrival::a0tr: state = arrived(state, 0, b, drop); break;
        case Arrival::a0t1: state = arrived(state, 0, 1, drop); break;
        case Arrival::a0tx: state = arrived(state, 0, -std::int64_t{b}, drop); break;
      }
    }
    std::memcpy(p, &state, 8);
  }
  if ((op.index2 & kTellsLanes) != 0) tell_lanes(x.addresses[0], mask, token);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    d[l] = static_cast<std::uint32_t>(token[l]);
    d[l + 32] = static_cast<std::uint32_t>(token[l] >> 32);
  }
}

/// The arrivals that a barrier's word expects; 0: it is no barrier any more.
std::uint64_t expected_of(std::uint64_t word) { return (0 - (word >> 1)) & kField; }

/// Done once for the group: c (a uniform pair) to memory, the old word to the destination.
void exchange(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const int l = std::countr_zero(mask);
  std::byte* p = x.memory.shared_at(x.addresses[0][static_cast<std::size_t>(l)], 8, l);
  std::uint32_t old[2];
  std::memcpy(old, p, 8);
  const std::uint32_t* c = x.words(op.c);
  const std::uint64_t expected = expected_of(c[l] | std::uint64_t{c[l + 32]} << 32);
  for (std::uint64_t& each : x.addresses[1]) each = expected;
  std::memcpy(p, c + l, 4);
  std::memcpy(p + 4, c + l + 32, 4);
  std::uint32_t* d = x.result(op);
  for (std::uint32_t i = 0; i < 64; ++i) d[i] = old[i / 32];
}

/// The unit forgets what it holds of a barrier, whose word was stored before: sm_120's way to begin one.
void forget(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    std::uint64_t word;
    std::memcpy(&word, x.memory.shared_at(x.addresses[0][static_cast<std::size_t>(l)], 8, l), 8);
    x.addresses[1][static_cast<std::size_t>(l)] = expected_of(word);
  }
}

void check_phase(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint32_t* parity = x.words(op.c);
  std::uint32_t done = 0;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    std::uint32_t high;
    std::memcpy(&high, x.memory.shared_at(x.addresses[0][static_cast<std::size_t>(l)], 8, l) + 4, 4);
    done |= ((high ^ parity[l]) >> 31) << l;
    x.addresses[1][static_cast<std::size_t>(l)] =
        (parity[l] >> 31 ? work::kAskedParity : 0) | (done >> l & 1 ? work::kPhaseEnded : 0);
  }
  if ((mask & ~done) != 0 && x.may_wait()) return;
  x.set_predicate(op.p_out, mask, done);
  if ((mask & ~done) != 0) x.turn = true;
}

/// st.async and red.async: c to the address in register a, then its bytes are taken off the transactions of the mbarrier in register a + 1. Both
/// are in the shared memory of any block of the cluster.
void store_and_signal(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint32_t bytes = 1u << (op.flags >> kSizeShift & 7);
  const std::uint32_t* barriers = x.words(op.a) + 32;
  const std::uint32_t* data = x.words(op.c);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    std::byte* to = x.memory.cluster_shared_at(x.addresses[0][static_cast<std::size_t>(l)], bytes, l);
    std::array<std::byte, 16> value;
    for (std::uint32_t i = 0; i < bytes / 4; ++i) std::memcpy(value.data() + 4 * i, data + l + 32 * i, 4);
    if ((op.flags & kCombines) != 0) {
      combine_bytes(static_cast<AtomicOp>(op.flags >> kAtomicOpShift & 15),
                    static_cast<AtomicType>(op.flags >> kAtomicTypeShift & 15), to, value.data(), bytes);
    } else {
      std::memcpy(to, value.data(), bytes);
    }
    x.addresses[1][static_cast<std::size_t>(l)] = barriers[l];
    signal_bytes(x, barriers[l], bytes, l);
  }
}

/// The address operand of STAS, whose 64-bit base is two 32-bit addresses: the data's and, in the next register, the barrier's.
void take_cluster_address(Decoder& d, std::uint32_t& flags) {
  MicroOp& op = d.op();
  const isa::Operand& operand = d.printed.next();
  op.a = Source{.word = Decoder::register_word(operand.base < 0 ? isa::kRz : operand.base, false)};
  op.b = Source{
      .word = Decoder::uniform_word(operand.uniform_base < 0 ? isa::kUrz : operand.uniform_base, false),
      .file = File::uniform};
  op.immediate = static_cast<std::uint64_t>(operand.offset);
  flags = 0;
}

void stores_and_signals(Decoder& d, bool reduces) {
  MicroOp& op = d.op();
  std::uint32_t combines = 0;
  if (reduces) {
    const auto operation = static_cast<std::uint32_t>(
        d.printed.need_one({"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"}));
    combines = kCombines | operation << kAtomicOpShift;
  }
  const bool is_signed = reduces && d.printed.take("S32");
  const int size = d.printed.take_one({"32", "64", "128"}, 0);
  if (reduces) {
    if (size == 2) PrintedForm::refuse("a reduction of 128 bits");
    const AtomicType type = size == 1 ? AtomicType::u64 : is_signed ? AtomicType::s32 : AtomicType::u32;
    combines |= static_cast<std::uint32_t>(type) << kAtomicTypeShift;
  }
  const isa::Operand& address = d.printed.peek();
  if (address.kind != isa::OperandKind::memory || address.base_suffix != "64") {
    PrintedForm::refuse(fmt::format("address '{}'", address.text));
  }
  std::uint32_t form = 0;
  take_cluster_address(d, form);
  op.flags = form | combines | static_cast<std::uint32_t>(size + 2) << kSizeShift;
  op.c = d.source(Style::raw);
  op.address_sets = 2;
  op.progress = true;
  d.warp(store_and_signal);
}

void syncs(Decoder& d) {
  MicroOp& op = d.op();
  const auto address = [&] {
    std::uint32_t form = 0;
    take_memory_address(d, form, MemorySpace::shared);
    op.flags = form;
    op.address_sets = 2;
  };
  if (d.printed.take("CCTL")) {
    // sm_120 stores an mbarrier's first state with STS and has the unit forget what it holds: no value changes.
    if (d.printed.take("IV")) {
      address();
      d.warp(forget);
      return;
    }
    if (!d.printed.take("IVALL")) PrintedForm::refuse("a form other than .CCTL.IV and .CCTL.IVALL");
    while (d.printed.more()) d.printed.next();
    op.kind = Kind::nothing;
    return;
  }
  if (d.printed.take("EXCH")) {
    if (!d.printed.take("64")) PrintedForm::refuse("an exchange that is not of 64 bits");
    d.destination();
    address();
    op.c = d.source(Style::raw);
    op.progress = true;
    d.warp(exchange);
    return;
  }
  if (d.printed.take("PHASECHK")) {
    if (!d.printed.take("TRANS64")) PrintedForm::refuse("a word other than .TRANS64");
    d.printed.take("TRYWAIT");
    op.p_out = d.predicate_output();
    address();
    op.c = d.source(Style::raw);
    d.warp(check_phase);
    return;
  }
  if (!d.printed.take("ARRIVE") || !d.printed.take("TRANS64"))
    PrintedForm::refuse("an operation that is not known");
  d.printed.take("RED");
  op.index2 =
      static_cast<std::uint32_t>(d.printed.take_one({"A1TR", "A1T0", "ART0", "A0TR", "A0T1", "A0TX"}, 0));
  if (d.printed.take("OPTOUT")) op.index2 |= kDrop;
  if (d.printed.take("TMASK")) op.index2 |= kTellsLanes;
  d.destination();
  address();
  op.c = d.source(Style::raw);
  op.progress = true;
  d.warp(arrive);
}

void arrives(Decoder& d) {
  MicroOp& op = d.op();
  if (!d.printed.take("LDGSTSBAR") || !d.printed.take("64"))
    PrintedForm::refuse("a form other than .LDGSTSBAR.64");
  op.destination = kSinkWord;
  op.c.word = kZeroWord;
  switch (d.printed.take_one({"ARVCNT", "TRANSCNT"}, -1)) {
    case 0: op.index2 = static_cast<std::uint32_t>(Arrival::a1t0); break;
    case 1:
      op.index2 = static_cast<std::uint32_t>(Arrival::a0tx);
      op.c = d.literal_source(1);
      break;
    default:
      if (d.sm() >= 90) PrintedForm::refuse("neither .ARVCNT nor .TRANSCNT");
      op.index2 = kOldWord;
      break;
  }
  std::uint32_t form = 0;
  take_memory_address(d, form, MemorySpace::shared);
  op.flags = form;
  op.address_sets = 1;
  op.progress = true;
  d.warp(arrive);
}

}  // namespace

void signal_bytes(Execution& x, std::uint64_t barrier, std::uint32_t bytes, int lane) {
  std::byte* p = x.memory.mbarrier_at(barrier, lane);
  std::uint64_t state;
  std::memcpy(&state, p, 8);
  state = arrived(state, 0, -std::int64_t{bytes}, false);
  std::memcpy(p, &state, 8);
}

bool translate_sync(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::SYNCS: syncs(d); return true;
    case Opcode::STAS: stores_and_signals(d, false); return true;
    case Opcode::REDAS: stores_and_signals(d, true); return true;
    case Opcode::ARRIVES: arrives(d); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
