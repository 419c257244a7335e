#include "sim/emulate/execute/control.h"

#include <bit>
#include <map>

#include <fmt/format.h>

#include "sim/emulate/execute/driver_functions.h"
#include "sim/emulate/execute/execution.h"

namespace foretrace::emulate {

namespace {

constexpr std::uint64_t kDriverCodeBytes = 4096;
constexpr std::uint32_t kReturnRegister = 20;  ///< R20:R21 hold where a driver's function returns to

/// a: register pair; immediate: what is added, in bytes. A warp issues it once for each target that its lanes have, each time for the lowest
/// lane's (an H200's count of instructions: of a hash with a switch by BRX, 2026-11-28, and of calls by pointers, divergent, 2026-11-30).
/// False: the warp's turn is over; what it has called has to be called again.
bool branch_indirect(Execution& x, const MicroOp& op, std::uint32_t executed) {
  Group& now = x.warp->now;
  if (executed == 0) {
    ++now.pc;
    return true;
  }
  const std::uint32_t* low = x.words(op.a);
  const auto address_of = [&](const std::uint32_t* words, int lane) {
    return words[lane] | std::uint64_t{words[lane + 32]} << 32;
  };
  const std::uint64_t address = address_of(low, std::countr_zero(executed)) + op.immediate;
  std::uint32_t go = 0, again = 0;  // whose target it is; of these: that have to come back
  for (std::uint32_t m = executed; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (address_of(low, lane) + op.immediate == address) go |= 1u << lane;
  }
  std::map<std::uint64_t, std::uint32_t> lanes_of;  // by where they go on
  if (address - kDriverCode < kDriverCodeBytes) {
    again = call_driver(x, address, go);
    if (again == now.lanes) {
      ++x.progress.polls;
      x.again = true;
      --now.pc;
      return x.divergence.yield();
    }
    go &= ~again;
    const std::uint32_t* back = x.warp->registers + kFirstRegisterWord + kReturnRegister * 32;
    for (std::uint32_t m = go; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      lanes_of[address_of(back, lane)] |= 1u << lane;
    }
  } else {
    lanes_of[address] = go;
  }
  const Group base = x.divergence.copy_of_now();
  const auto waits = [&](std::uint32_t lanes, std::uint32_t pc) {
    if (lanes == 0) return;
    Group group = base;
    group.lanes = lanes;
    group.pc = pc;
    x.divergence.push(std::move(group));
  };
  // What runs now: lanes that do not branch, else the first target's, else those that have not branched yet.
  const std::uint32_t others = executed & ~(go | again);
  now.lanes &= ~executed;
  ++now.pc;
  waits(again, base.pc);
  if (now.lanes == 0 && lanes_of.empty()) {
    now.lanes = others;
    now.pc = base.pc;
    return true;
  }
  waits(others, base.pc);
  for (const auto& [target, lanes] : lanes_of) {
    if (target % 16 != 0 || target / 16 >= x.launch().translation->compiled.code.size()) {
      x.fault(FaultKind::illegal_instruction, std::countr_zero(lanes),
              fmt::format("jump to 0x{:x}, outside the kernel's code", target));
    }
    const auto pc = static_cast<std::uint32_t>(target / 16);
    if (now.lanes != 0) {
      waits(lanes, pc);
    } else {
      now.lanes = lanes;
      now.pc = pc;
    }
  }
  return true;
}

}  // namespace

bool execute_control(Execution& x, const MicroOp& op, std::uint32_t executed) {
  Warp& w = *x.warp;
  switch (op.kind) {
    case Kind::branch: x.divergence.branch(executed & x.predicate(op.p_in), op.target); return true;
    case Kind::branch_uniform:
      w.now.pc = goes_uniformly(op, executed, x.predicate(op.p_in), w.now.lanes) ? op.target : w.now.pc + 1;
      return true;
    case Kind::branch_diverged: {
      const std::uint32_t mask = x.read(op.a, 0);
      const bool equal = executed == mask;
      w.now.pc = equal == (op.flags != 0) ? op.target : w.now.pc + 1;
      return true;
    }
    case Kind::branch_indirect: return branch_indirect(x, op, executed);
    case Kind::exit: return x.divergence.exit_lanes(executed & x.predicate(op.p_in));
    case Kind::open_barrier:
      if (executed != 0) w.now.joined[op.index2] = executed;
      ++w.now.pc;
      return true;
    case Kind::join_barrier: return x.divergence.join(op, executed);
    case Kind::leave_barrier:
      ++w.now.pc;
      x.divergence.leave_barrier(executed & x.predicate(op.p_in), static_cast<std::uint8_t>(op.index2));
      return true;
    case Kind::move_barrier: x.divergence.move_barrier(op, executed); return true;
    case Kind::warpsync: return x.divergence.warpsync(op, executed);
    case Kind::yield: return x.divergence.yield();
    case Kind::block_barrier: return x.barriers.arrive(op, executed);
    case Kind::cluster_barrier: return x.barriers.arrive_at_cluster(op, executed);
    case Kind::trap:
      if (executed != 0) x.fault(FaultKind::trap, std::countr_zero(executed), "trap executed");
      ++w.now.pc;
      return true;
    default: break;
  }
  if (executed != 0) {
    x.fault(FaultKind::unsupported, std::countr_zero(executed),
            "unsupported instruction: " + x.launch().translation->compiled.messages[op.message - 1]);
  }
  ++w.now.pc;
  return true;
}

}  // namespace foretrace::emulate
