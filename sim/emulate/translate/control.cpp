// Control flow, synchronisation, and instructions without effect on values; and the translation as a whole.
//
// Models:  branches, barriers and calls as nvcc 13 makes them (docs/facts.md: WARPSYNC.COLLECTIVE, BRA.DIV, CALL).
#include <algorithm>

#include <fmt/format.h>

#include "model/isa/matrix_shapes.h"
#include "model/isa/operands.h"
#include "model/isa/spin_loops.h"
#include "model/isa/work_counters.h"
#include "sim/emulate/execute/paired_floats.h"
#include "sim/emulate/translate/address_form.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;
using isa::Operand;
using isa::OperandKind;

namespace {

void nothing(Decoder& d) {
  // Fences, cache control, padding: no operand or modifier of theirs changes a value.
  for (const std::string& modifier : d.printed.instruction().modifiers) d.printed.take(modifier);
  while (d.printed.more()) d.printed.next();
  d.op().kind = Kind::nothing;
}

void bra(Decoder& d) {
  MicroOp& op = d.op();
  const bool uniform = d.printed.take("U"), any = d.printed.take("ANY");
  const bool diverged = d.printed.take("DIV"), converged = d.printed.take("CONV");
  op.kind = Kind::branch;
  if (diverged || converged) {
    op.kind = Kind::branch_diverged;
    op.flags = converged ? 1 : 0;
    op.a = d.source(Style::integer);
  } else if (uniform) {
    op.kind = Kind::branch_uniform;
    op.flags = any ? 1 : 0;
  }
  if (d.printed.next_is_predicate()) op.p_in = d.predicate_input();
  op.target = d.printed.branch_target();
}

/// A register pair and what is added to it; `relative` to the next instruction.
void indirect(Decoder& d, bool relative) {
  MicroOp& op = d.op();
  op.kind = Kind::branch_indirect;
  const Operand& target = d.printed.next();
  if (target.kind == OperandKind::register_) {
    op.a = Source{.word = Decoder::register_word(target.index, false)};
  } else if (target.kind == OperandKind::uniform_register) {
    op.a = Source{.word = Decoder::uniform_word(target.index, false), .file = File::uniform};
  } else {
    PrintedForm::refuse(fmt::format("'{}' is no jump target", target.text));
  }
  if (relative) op.immediate = d.printed.instruction().offset + 16;
  while (d.printed.more()) {
    const Operand& more = d.printed.next();
    if (more.kind != OperandKind::immediate && more.kind != OperandKind::label) {
      PrintedForm::refuse(fmt::format("'{}' is no code address", more.text));
    }
    op.immediate += more.value;
  }
}

void call(Decoder& d) {
  // Absolute addresses count from the kernel's start, too; the driver's functions are beyond (driver_functions.h).
  if (!d.printed.take("REL") && !d.printed.take("ABS")) PrintedForm::refuse("neither .REL nor .ABS");
  d.printed.take("NOINC");
  if (d.printed.next_is(OperandKind::label)) {
    d.op().kind = Kind::branch;
    d.op().target = d.printed.branch_target();
  } else if (d.printed.next_is(OperandKind::immediate)) {
    d.op().kind = Kind::branch_indirect;
    d.op().a = Source{.word = Decoder::register_word(isa::kRz, false)};
    d.op().immediate = d.printed.next().value;
  } else {
    indirect(d, false);
  }
}

void ret(Decoder& d) {
  if (!d.printed.take("REL") && !d.printed.take("ABS")) PrintedForm::refuse("neither .REL nor .ABS");
  d.printed.take("NODEC");
  indirect(d, false);
}

std::uint32_t barrier_number(Decoder& d) {
  const Operand& operand = d.printed.next();
  if (operand.kind != OperandKind::convergence_barrier || operand.index >= 16) {
    PrintedForm::refuse(fmt::format("'{}' is no convergence barrier", operand.text));
  }
  return operand.index;
}

void convergence(Decoder& d, Opcode opcode) {
  MicroOp& op = d.op();
  const bool reconvergent = d.printed.take("RECONVERGENT");
  d.printed.take("RELIABLE");
  if (opcode == Opcode::BREAK) {
    op.kind = Kind::leave_barrier;
    if (d.printed.next_is_predicate()) op.p_in = d.predicate_input();
    op.index2 = barrier_number(d);
    return;
  }
  if (d.printed.next_is_predicate()) PrintedForm::refuse("a predicate beside the guard");
  op.index2 = barrier_number(d);
  if (opcode == Opcode::BSSY) {
    op.kind = Kind::open_barrier;
    d.printed.branch_target();
  } else {
    op.kind = Kind::join_barrier;
    op.flags = reconvergent ? 0 : 1;  // on sm_120 only the bare form may be left early
  }
}

void bmov(Decoder& d) {
  MicroOp& op = d.op();
  d.printed.take("32");
  const bool clear = d.printed.take("CLEAR");
  op.kind = Kind::move_barrier;
  if (d.printed.next_is(OperandKind::convergence_barrier)) {
    op.flags = 1;
    op.index2 = barrier_number(d);
    op.a = d.source(Style::raw);
  } else {
    d.destination();
    op.index2 = barrier_number(d);
    op.flags = clear ? 2 : 0;
  }
}

void warpsync(Decoder& d) {
  MicroOp& op = d.op();
  op.kind = Kind::warpsync;
  const bool exclusive = d.printed.take("EXCLUSIVE"), all = d.printed.take("ALL"),
             collective = d.printed.take("COLLECTIVE");
  op.flags = exclusive || collective ? 1 : 0;
  op.a = all ? d.literal_source(~0u) : d.source(Style::raw);
  if (collective) d.printed.branch_target();
  op.value_recorded = isa::compares_lanes(d.printed.instruction());
}

void bar(Decoder& d) {
  MicroOp& op = d.op();
  const isa::Instruction& instruction = d.printed.instruction();
  op.kind = Kind::block_barrier;
  op.value_recorded = isa::barrier_in_registers(instruction);
  op.flags = static_cast<std::uint32_t>(d.printed.need_one({"SYNC", "ARV", "RED"}));
  op.destination2 =
      op.flags == 2 ? static_cast<std::uint32_t>(d.printed.need_one({"POPC", "AND", "OR"})) + 1 : 0;
  d.printed.take("DEFER_BLOCKING");
  if (d.printed.next_is(OperandKind::immediate)) {
    op.index2 = d.printed.immediate();
    if (op.index2 > 15) PrintedForm::refuse("a barrier number above 15");
  } else {
    op.index2 = kNumberInRegister;
    op.a = d.source(Style::raw);
  }
  if (d.printed.next_is(OperandKind::immediate)) {
    op.immediate = d.printed.immediate();
  } else if (d.printed.next_is(OperandKind::register_)) {
    // The encoding has room for one register: printed for both operands it holds both.
    const bool both = op.index2 == kNumberInRegister;
    if (both && d.printed.peek().index != instruction.operands[0].index) PrintedForm::refuse("two registers");
    op.b = d.source(Style::raw);
    op.immediate = both ? kBothInRegister : kThreadsInRegister;
  }
  if (d.printed.next_is_predicate()) op.p_in = d.predicate_input();
}

void nanosleep(Decoder& d) {
  MicroOp& op = d.op();
  d.printed.take("SYNCS");
  op.kind = Kind::yield;
  op.value_recorded = d.printed.next_is(OperandKind::register_) && d.printed.peek().index != isa::kRz;
  if (d.printed.next_is_predicate()) d.predicate_input();
  op.a = d.source(Style::raw);
}

}  // namespace

bool translate_control(Decoder& d, Opcode opcode) {
  MicroOp& op = d.op();
  switch (opcode) {
    case Opcode::BRA: bra(d); return true;
    case Opcode::JMP:
      op.kind = Kind::branch;
      op.target = d.printed.branch_target();
      return true;
    case Opcode::BRX:
    case Opcode::BRXU: indirect(d, true); return true;
    case Opcode::CALL: call(d); return true;
    case Opcode::RET: ret(d); return true;
    case Opcode::EXIT:
      d.printed.take_one({"KEEPREFCOUNT", "PREEMPTED"}, 0);
      op.kind = Kind::exit;
      if (d.printed.next_is_predicate()) op.p_in = d.predicate_input();
      return true;
    case Opcode::BSSY:
    case Opcode::BSYNC:
    case Opcode::BREAK: convergence(d, opcode); return true;
    case Opcode::BMOV: bmov(d); return true;
    case Opcode::WARPSYNC: warpsync(d); return true;
    case Opcode::BAR: bar(d); return true;
    case Opcode::UCGABAR_ARV:
    case Opcode::UCGABAR_WAIT:
      op.kind = Kind::cluster_barrier;
      op.flags = opcode == Opcode::UCGABAR_WAIT ? 1 : 0;
      return true;
    case Opcode::YIELD: op.kind = Kind::yield; return true;
    case Opcode::NANOSLEEP: nanosleep(d); return true;
    case Opcode::BPT:
      if (!d.printed.take("TRAP")) PrintedForm::refuse("a breakpoint");
      if (d.printed.more()) d.printed.immediate();
      op.kind = Kind::trap;
      return true;
    case Opcode::NOP:
    case Opcode::CCTL:
    case Opcode::MEMBAR:
    case Opcode::ERRBAR:
    case Opcode::CGAERRBAR:
    case Opcode::FENCE:
    case Opcode::LDGDEPBAR:
    case Opcode::DEPBAR:
    case Opcode::ENDCOLLECTIVE:
    case Opcode::PMTRIG:
    case Opcode::ACQBULK:
    case Opcode::PREEXIT:
    case Opcode::UTMAPF:
    case Opcode::UTMACCTL:
    case Opcode::UTMACMDFLUSH: nothing(d); return true;
    default: return false;
  }
}

Compiled compile(const isa::Program& program, Banks banks, const LaneTable& lanes) {
  Compiled compiled;
  LiteralPool pool(banks);
  pool.place({0});
  compiled.code.resize(program.code.size());
  std::uint32_t highest = 15, highest_uniform = 0;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const isa::Instruction& instruction = program.code[i];
    MicroOp& op = compiled.code[i];
    try {
      Decoder d(instruction, program, lanes, pool, op);
      d.guard();
      const Opcode opcode = d.printed.opcode();
      const bool known =
          translate_integer(d, opcode) || translate_float(d, opcode) || translate_conversion(d, opcode) ||
          translate_warp(d, opcode) || translate_control(d, opcode) || translate_memory(d, opcode) ||
          translate_atomic(d, opcode) || translate_sync(d, opcode) || translate_tensor(d, opcode) ||
          translate_wgmma(d, opcode) || translate_bulk(d, opcode) || translate_tensor_copy(d, opcode) ||
          translate_texture(d, opcode) || translate_paired(d, opcode) || translate_mixed(d, opcode);
      if (opcode == Opcode::opaque) PrintedForm::refuse(instruction.opaque);
      if (!known) PrintedForm::refuse(fmt::format("opcode {}", name_of(opcode)));
      d.finish();
      op.uniform = op.kind == Kind::lane && name_of(opcode).front() == 'U';
      if (op.kind == Kind::lane && op.destination_file == File::uniform) op.uniform = true;
    } catch (const Unsupported& reason) {
      const PredicateSource guard = op.guard;
      op = MicroOp{};
      op.guard = guard;
      compiled.messages.push_back(reason.why);
      op.message = static_cast<std::uint32_t>(compiled.messages.size());
    }
    isa::MatrixRegisters matrix;
    if (isa::matrix_registers(instruction, matrix) && !instruction.operands.empty() &&
        instruction.operands[0].index != isa::kRz) {
      highest = std::max(highest, instruction.operands[0].index + static_cast<std::uint32_t>(matrix.d));
    }
    for (const Operand& o : instruction.operands) {
      const auto note = [](std::uint32_t& most, int index, int none) {
        if (index >= 0 && index != none) most = std::max(most, static_cast<std::uint32_t>(index));
      };
      if (o.kind == OperandKind::register_) note(highest, o.index, isa::kRz);
      note(highest, o.base, isa::kRz);
      if (o.kind == OperandKind::uniform_register || o.kind == OperandKind::other) {
        note(highest_uniform, o.index, isa::kUrz);
      }
      note(highest_uniform, o.uniform_base, isa::kUrz);
      note(highest_uniform, o.descriptor, isa::kUrz);
    }
  }
  // An operand may be the first of several registers (up to 8).
  compiled.register_words = kFirstRegisterWord + std::min(highest + 8, 262u) * 32;
  compiled.uniform_registers = highest_uniform + 8;
  compiled.literals = pool.finish();
  compiled.bound = pool.bound();
  for (const std::uint32_t index : isa::work_counters(program)) {
    compiled.code[index].flags |= kTellsCount;  // not looked at where the form is unsupported
    compiled.shares_work = true;
  }
  compiled.asks_in_loops = isa::has_asking_loop(program);
  compiled.all_first = isa::done_by_all_first(program);
  return compiled;
}

}  // namespace foretrace::emulate
