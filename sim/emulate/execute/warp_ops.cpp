// Instructions that look across lanes or at the warp's place in the launch.
//
// Models:  shuffles, votes, matches, reductions, special registers, moves between the uniform and
//          the general registers and between predicates and registers.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;
using isa::OperandKind;

namespace {

void set_uniform(std::uint32_t* d, std::uint32_t v) { std::fill(d, d + 32, v); }
/// A result for the whole group: to all lanes of a uniform register, or to the executing lanes of a general one.
void set_group(Execution& x, const MicroOp& op, std::uint32_t mask, std::uint32_t v) {
  std::uint32_t* d = x.result(op);
  if (op.destination_file == File::uniform) {
    set_uniform(d, v);
    return;
  }
  for (std::uint32_t m = mask; m != 0; m &= m - 1) d[std::countr_zero(m)] = v;
}
/// A predicate result likewise.
void set_group_predicate(Execution& x, std::uint8_t slot, std::uint32_t mask, bool v) {
  x.set_predicate(slot, slot >= kUniformSlot && slot < kSinkSlot ? ~0u : mask, v ? ~0u : 0u);
}

/// immediate: the register's number; index2: words (1, or 2 for CS2R of 64 bits).
void read_special(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const auto index = static_cast<std::uint32_t>(op.immediate);
  if (op.destination_file == File::uniform) {
    const int lane = std::countr_zero(x.active);
    set_uniform(x.result(op), x.special_register(index, lane));
    if (op.index2 == 2)
      set_uniform(x.result(op) + 32, index == 255 ? 0 : x.special_register(index + 1, lane));
    return;
  }
  std::uint32_t* d = x.result(op);
  const std::uint32_t* thread = x.thread_coordinates(index);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    d[l] = thread != nullptr ? thread[l] : x.special_register(index, l);
    if (op.index2 == 2) d[l + 32] = index == 255 ? 0 : x.special_register(index + 1, l);
  }
}

/// index2: 0 IDX, 1 UP, 2 DOWN, 3 BFLY.
void shuffle(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t *a = x.words(op.a), *b = x.words(op.b), *c = x.words(op.c);
  std::uint32_t from[32];
  std::copy(a, a + 32, from);
  std::uint32_t* d = x.result(op);
  std::uint32_t valid = 0;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(m));
    const std::uint32_t clamp = c[lane] & 31, segment = c[lane] >> 8 & 31, by = b[lane] & 31;
    const std::uint32_t least = lane & segment, most = least | (clamp & ~segment);
    std::uint32_t j = 0;
    bool inside = false;
    switch (op.index2) {
      case 0:
        j = least | (by & ~segment);
        inside = j <= most;
        break;
      case 1:
        j = lane - by;
        inside = static_cast<std::int32_t>(j) >= static_cast<std::int32_t>(most);
        break;
      case 2:
        j = lane + by;
        inside = j <= most;
        break;
      default:
        j = lane ^ by;
        inside = j <= most;
        break;
    }
    if (!inside) j = lane;
    d[lane] = from[j & 31];
    valid |= static_cast<std::uint32_t>(inside) << lane;
  }
  x.set_predicate(op.p_out, mask, valid);
}

/// index2: 0 ALL, 1 ANY, 2 EQ.
void vote(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t yes = x.predicate(op.p_in) & mask;
  const bool answer = op.index2 == 0 ? yes == mask : op.index2 == 1 ? yes != 0 : yes == 0 || yes == mask;
  set_group(x, op, mask, yes);
  set_group_predicate(x, op.p_out, mask, answer);
}

/// flags 1: 64 bits; index2: 0 ANY, 1 ALL.
void match(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t* a = x.words(op.a);
  const bool wide = (op.flags & 1) != 0;
  const auto key = [&](int l) { return a[l] | (wide ? std::uint64_t{a[l + 32]} << 32 : 0); };
  std::uint64_t keys[32];
  for (int l = 0; l < 32; ++l) keys[l] = key(l);
  std::uint32_t* d = x.result(op);
  std::uint32_t same[32] = {};
  bool all = true;
  x.value = 0;  // how many different ones there are
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    for (std::uint32_t n = mask; n != 0; n &= n - 1) {
      const int k = std::countr_zero(n);
      if (keys[k] == keys[l]) same[l] |= 1u << k;
    }
    all = all && same[l] == mask;
    if (std::countr_zero(same[l]) == l) ++x.value;
  }
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    d[l] = op.index2 == 0 ? same[l] : all ? mask : 0;
  }
  if (op.index2 == 1) set_group_predicate(x, op.p_out, mask, all);
}

/// index2: 0 AND, 1 SUM, 2 MIN, 3 MAX, 4 OR, 5 XOR; flags 1: signed.
void reduce(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t* a = x.words(op.a);
  std::uint32_t r = a[std::countr_zero(mask)];
  for (std::uint32_t m = mask & (mask - 1); m != 0; m &= m - 1) {
    const std::uint32_t v = a[std::countr_zero(m)];
    const std::uint32_t move = (op.flags & 1) != 0 ? 0x80000000u : 0;
    switch (op.index2) {
      case 0: r &= v; break;
      case 1: r += v; break;
      case 2: r = (v ^ move) < (r ^ move) ? v : r; break;
      case 3: r = (v ^ move) > (r ^ move) ? v : r; break;
      case 4: r |= v; break;
      default: r ^= v; break;
    }
  }
  set_group(x, op, mask, r);
}

/// The first executing lane's value; with p_out, which lanes hold another one: what loops over a warp's different values
/// (`R2UR P0, UR4, R2; @P1 BRA.U.ANY`) still have to do. flags 1 (.OR): all lanes or-ed; with p_out, those that differ are added to it:
/// the second word of a pair.
void to_uniform(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t* a = x.words(op.a);
  const std::uint32_t first = a[std::countr_zero(mask)];
  std::uint32_t any = 0;
  std::uint32_t differing = 0;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    any |= a[lane];
    if (a[lane] != first) differing |= std::uint32_t{1} << lane;
  }
  const bool adds = (op.flags & 1) != 0;
  const bool compares = op.p_out != kSinkSlot;
  x.set_predicate(op.p_out, mask, adds ? differing | x.frame.predicates[op.p_out] : differing);
  set_uniform(x.result(op), adds && !compares ? any : first);
}

/// P true in the lowest lane that takes part; UR: its number.
void elect(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t part = mask & (op.flags != 0 ? x.words(op.a)[0] : x.predicate(op.p_in));
  const std::uint32_t chosen = part & (0u - part);
  x.set_predicate(op.p_out, mask, chosen);
  if (part != 0) set_uniform(x.result(op), static_cast<std::uint32_t>(std::countr_zero(part)));
}

/// Predicates to bits of a byte of a; c: mask; index2: which byte. `first`: slot of predicate 0.
void pack_predicates(Execution& x, const MicroOp& op, std::uint32_t first) {
  std::uint32_t* d = x.result(op);
  const std::uint32_t *a = x.words(op.a), *c = x.words(op.c);
  const bool uniform = op.destination_file == File::uniform;
  std::uint32_t r[32];
  for (std::size_t l = 0; l < 32; ++l) {
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < 7; ++i) bits |= (x.frame.predicates[first + i] >> l & 1) << i;
    const std::uint32_t shift = 8 * op.index2, keep = c[l] & 0x7f;
    r[l] = (a[l] & ~(keep << shift)) | (bits & keep) << shift;
  }
  for (std::size_t l = 0; l < 32; ++l) {
    if (uniform || (x.active >> l & 1) != 0) d[l] = r[l];
  }
}
void predicates_to_register(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t before = x.active;
  x.active = mask;
  pack_predicates(x, op, 0);
  x.active = before;
}
void uniform_predicates_to_register(Execution& x, const MicroOp& op, std::uint32_t) {
  pack_predicates(x, op, kUniformSlot);
}

/// Bits of a byte of a to the predicates in mask c. flags: slot of predicate 0.
void register_to_predicates(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t *a = x.words(op.a), *c = x.words(op.c);
  for (std::uint32_t i = 0; i < 7; ++i) {
    std::uint32_t value = 0, written = 0;
    for (std::size_t l = 0; l < 32; ++l) {
      value |= (a[l] >> (8 * op.index2 + i) & 1) << l;
      written |= (c[l] >> i & 1) << l;
    }
    const bool uniform = op.flags != 0;
    x.set_predicate(static_cast<std::uint8_t>(op.flags + i), written & (uniform ? ~0u : mask), value);
  }
}

void barrier_result(Execution& x, const MicroOp& op, std::uint32_t mask) {
  set_group(x, op, mask, x.warp->barrier_result);
  set_group_predicate(x, op.p_out, mask, x.warp->barrier_result != 0);
}

/// Each lane of a quad adds as its two bits of index2 say: 0 a + b, 1 a - b, 2 b - a, 3 b.
void swizzled_add(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t *a = x.words(op.a), *b = x.words(op.b);
  std::uint32_t* d = x.result(op);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int l = std::countr_zero(m);
    const float p = std::bit_cast<float>(a[l]), q = std::bit_cast<float>(b[l]);
    float r = q;
    switch (op.index2 >> (2 * (l & 3)) & 3) {
      case 0: r = p + q; break;
      case 1: r = p - q; break;
      case 2: r = q - p; break;
      default: break;
    }
    d[l] = r != r ? 0x7fffffffu : std::bit_cast<std::uint32_t>(r);
  }
}

/// Transposes an 8x8 tile of halves held one word per lane.
void transpose_tile(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t* a = x.words(op.a);
  std::uint16_t tile[8][8];
  for (std::uint32_t l = 0; l < 32; ++l) {
    tile[l / 4][l % 4 * 2] = static_cast<std::uint16_t>(a[l]);
    tile[l / 4][l % 4 * 2 + 1] = static_cast<std::uint16_t>(a[l] >> 16);
  }
  std::uint32_t* d = x.result(op);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<std::uint32_t>(std::countr_zero(m));
    d[l] = tile[l % 4 * 2][l / 4] | static_cast<std::uint32_t>(tile[l % 4 * 2 + 1][l / 4]) << 16;
  }
}

/// An 8x32 tile of nibbles, a lane holding eight of a row, to bytes as a matrix operand of 8-bit elements stands: four of
/// columns 0..15, four of columns 16..31.
void widen_tile(Execution& x, const MicroOp& op, std::uint32_t mask) {
  std::uint32_t a[32];
  std::copy_n(x.words(op.a), 32, a);
  std::uint32_t* d = x.result(op);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<std::uint32_t>(std::countr_zero(m));
    for (std::uint32_t half = 0; half < 2; ++half) {
      std::uint32_t word = 0;
      for (std::uint32_t i = 0; i < 4; ++i) {
        const std::uint32_t column = half * 16 + l % 4 * 4 + i;
        word |= (a[l / 4 * 4 + column / 8] >> (column % 8 * 4) & 15) << (8 * i);
      }
      d[l + 32 * half] = word;
    }
  }
}

void special(Decoder& d, std::uint32_t words) {
  MicroOp& op = d.op();
  d.destination();
  const isa::Operand& operand = d.printed.next();
  if (operand.kind != OperandKind::special_register) PrintedForm::refuse(fmt::format("'{}'", operand.text));
  static constexpr std::uint8_t kKnown[] = {0,  1,  2,  3,  33, 34, 35, 37, 38, 39, 46, 47,  48,  50, 52,
                                            55, 56, 57, 58, 59, 60, 67, 80, 81, 82, 83, 136, 138, 255};
  if (std::find(std::begin(kKnown), std::end(kKnown), operand.value) == std::end(kKnown) ||
      operand.value > 255) {
    PrintedForm::refuse(fmt::format("special register {}", operand.text));
  }
  op.immediate = operand.value;
  op.index2 = words;
  d.warp(read_special);
}

/// "P2R.B1" writes a byte, "R2P PR, Rn.B1" reads one; 0 when none is named.
std::uint32_t take_byte(Decoder& d) {
  for (const char* name : {"B1", "B2", "B3"}) {
    if (d.printed.take(name)) return static_cast<std::uint32_t>(name[1] - '0');
  }
  const isa::Operand& operand = d.printed.peek();
  if (operand.suffix.empty() || operand.suffix == "B0") return 0;
  if (operand.suffix == "B1") return 1;
  if (operand.suffix == "B2") return 2;
  if (operand.suffix == "B3") return 3;
  PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
}

/// Which predicates; all where no mask is printed.
void take_predicate_mask(Decoder& d) {
  MicroOp& op = d.op();
  if (d.printed.next_is(OperandKind::immediate) || d.printed.next_is_register()) {
    op.c = d.source(Style::raw);
  } else {
    op.c.file = File::literal;
    op.c.word = d.literal({0xff});
  }
}

void take_predicate_register(Decoder& d) {
  const isa::Operand& operand = d.printed.next();
  if (operand.text != "PR" && operand.text != "UPR")
    PrintedForm::refuse(fmt::format("'{}' is not PR", operand.text));
}

void move_rpc(Decoder& d) {
  MicroOp& op = d.op();
  d.printed.take("32");
  const auto rpc = [](const isa::Operand& o) -> int {
    return o.text == "Rpc.LO" ? 0 : o.text == "Rpc.HI" ? 1 : -1;
  };
  if (rpc(d.printed.peek()) >= 0) {
    op.destination_file = File::registers;
    op.destination = kRpcWord + 32 * static_cast<std::uint32_t>(rpc(d.printed.next()));
    op.a = d.source(Style::raw);
  } else {
    d.destination();
    const int which = rpc(d.printed.peek());
    if (which < 0) PrintedForm::refuse(fmt::format("'{}'", d.printed.peek().text));
    d.printed.next();
    op.a = Source{.word = kRpcWord + 32 * static_cast<std::uint32_t>(which)};
  }
  d.lane(LaneOp::mov);
}

/// What lanes find out together: shuffles, votes, matches, reductions.
bool translate_exchange(Decoder& d, Opcode opcode) {
  MicroOp& op = d.op();
  switch (opcode) {
    case Opcode::SHFL:
      op.index2 = static_cast<std::uint32_t>(d.printed.need_one({"IDX", "UP", "DOWN", "BFLY"}));
      op.p_out = d.predicate_output();
      d.destination();
      op.a = d.source(Style::raw);
      op.b = d.source(Style::raw);
      op.c = d.source(Style::raw);
      d.warp(shuffle);
      return true;
    case Opcode::VOTE:
    case Opcode::VOTEU:
      op.index2 = static_cast<std::uint32_t>(d.printed.need_one({"ALL", "ANY", "EQ"}));
      op.destination = kSinkWord;
      if (opcode == Opcode::VOTEU) op.destination_file = File::uniform;
      if (d.printed.next_is_register()) d.destination();
      op.p_out = d.predicate_output();
      op.p_in = d.predicate_input();
      d.warp(vote);
      return true;
    case Opcode::MATCH:
      op.index2 = static_cast<std::uint32_t>(d.printed.need_one({"ANY", "ALL"}));
      op.value_recorded = op.index2 == 0;
      d.flag(d.printed.take("U64"), 1);
      d.predicate_outputs(1);
      d.destination();
      op.a = d.source(Style::raw);
      d.warp(match);
      return true;
    case Opcode::REDUX:
      op.index2 =
          static_cast<std::uint32_t>(d.printed.take_one({"AND", "SUM", "MIN", "MAX", "OR", "XOR"}, 0));
      d.flag(d.printed.take("S32"), 1);
      d.printed.take("U32");
      d.destination();
      op.a = d.source(Style::raw);
      d.warp(reduce);
      return true;
    case Opcode::R2UR:
      d.flag(d.printed.take("OR"), 1);
      d.printed.take("FILL");
      d.printed.take("BROADCAST");  // of the first lane that executes it, as without it
      d.predicate_outputs(1);
      d.destination();
      op.a = d.source(Style::raw);
      d.warp(to_uniform);
      return true;
    case Opcode::ELECT:
      d.printed.take("IGNOREKILL");
      op.p_out = d.predicate_output();
      d.destination();
      if (d.printed.next_is_predicate()) {
        op.p_in = d.predicate_input();
      } else {
        op.a = d.source(Style::raw);
        op.flags = 1;
      }
      d.warp(elect);
      return true;
    default: return false;
  }
}

}  // namespace

bool translate_warp(Decoder& d, Opcode opcode) {
  MicroOp& op = d.op();
  switch (opcode) {
    case Opcode::S2R:
    case Opcode::S2UR: special(d, 1); return true;
    case Opcode::CS2R:
    case Opcode::UCS2R:
    case Opcode::CS2UR: special(d, d.printed.take("32") ? 1 : 2); return true;
    case Opcode::P2R:
    case Opcode::UP2UR:
      d.destination();
      take_predicate_register(d);
      op.index2 = take_byte(d);
      op.a = d.sign_source();
      take_predicate_mask(d);
      d.warp(opcode == Opcode::P2R ? predicates_to_register : uniform_predicates_to_register);
      return true;
    case Opcode::R2P:
    case Opcode::UR2UP:
      take_predicate_register(d);
      op.index2 = take_byte(d);
      op.a = d.sign_source();
      take_predicate_mask(d);
      op.flags = opcode == Opcode::R2P ? 0 : kUniformSlot;
      d.warp(register_to_predicates);
      return true;
    case Opcode::B2R:
      if (!d.printed.take("RESULT")) PrintedForm::refuse("anything but .RESULT");
      d.destination();
      d.predicate_outputs(1);
      d.warp(barrier_result);
      return true;
    case Opcode::FSWZADD: {
      d.printed.take("NDV");
      d.destination();
      op.a = d.source(Style::raw);
      op.b = d.source(Style::raw);
      const isa::Operand& which = d.printed.next();
      if (which.kind != OperandKind::immediate)
        PrintedForm::refuse(fmt::format("'{}' is no number", which.text));
      op.index2 = static_cast<std::uint32_t>(which.value);
      d.warp(swizzled_add);
      return true;
    }
    case Opcode::MOVM:
      if (d.printed.take("U4TO8")) {
        if (!d.printed.take("M832")) PrintedForm::refuse("a form other than .U4TO8.M832");
        d.destination();
        op.a = d.source(Style::raw);
        d.warp(widen_tile);
        return true;
      }
      if (!d.printed.take("16") || !d.printed.take("MT88")) PrintedForm::refuse("a form other than .16.MT88");
      d.destination();
      op.a = d.source(Style::raw);
      d.warp(transpose_tile);
      return true;
    case Opcode::RPCMOV: move_rpc(d); return true;
    case Opcode::LEPC: {
      d.destination();
      std::uint64_t address = d.printed.instruction().offset;  // without an operand: its own
      if (d.printed.next_is(OperandKind::label)) address = d.printed.next().value;
      op.a.file = File::literal;
      op.a.word = d.literal({static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32)});
      d.lane(LaneOp::mov64);
      return true;
    }
    default: return translate_exchange(d, opcode);
  }
}

}  // namespace foretrace::emulate
