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

/// a: register pair; immediate: what is added, in bytes. flags 1: BRX, which a warp issues once for each target that its lanes have (an
/// H200's count of instructions of a hash with such a switch, 2026-11-28, to the instruction); each time the lowest lane's is taken.
/// False: the warp's turn is over; what it has called has to be called again.
bool branch_indirect(Execution& x, const MicroOp& op, std::uint32_t executed) {
  Group& now = x.warp->now;
  if (executed == 0) {
    ++now.pc;
    return true;
  }
  const std::uint32_t* low = x.words(op.a);
  std::map<std::uint32_t, std::uint32_t> lanes_of;  // by target
  std::uint32_t first = 0;
  const auto address_of = [&](int lane) {
    return (low[lane] | std::uint64_t{low[lane + 32]} << 32) + op.immediate;
  };
  std::uint32_t returned = 0;  // lanes that are back from the driver
  std::uint32_t again = 0;     // lanes that have to call it again
  for (std::uint32_t m = executed; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::uint64_t address = address_of(lane);
    if (address - kDriverCode < kDriverCodeBytes && ((returned | again) >> lane & 1) == 0) {
      std::uint32_t lanes = 0;
      for (std::uint32_t n = m; n != 0; n &= n - 1) {
        if (address_of(std::countr_zero(n)) == address) lanes |= 1u << std::countr_zero(n);
      }
      const std::uint32_t waiting = call_driver(x, address, lanes);
      again |= waiting;
      returned |= lanes & ~waiting;
    }
    if ((returned >> lane & 1) != 0) {
      const std::uint32_t* back = x.warp->registers + kFirstRegisterWord + kReturnRegister * 32;
      address = back[lane] | std::uint64_t{back[lane + 32]} << 32;
    }
    if ((again >> lane & 1) != 0) address = std::uint64_t{now.pc} * 16;
    if (address % 16 != 0 || address / 16 >= x.launch().translation->compiled.code.size()) {
      x.fault(FaultKind::illegal_instruction, lane,
              fmt::format("jump to 0x{:x}, outside the kernel's code", address));
    }
    const auto target = static_cast<std::uint32_t>(address / 16);
    lanes_of[target] |= 1u << lane;
    if (m == executed) first = target;
  }
  if (again == now.lanes) {
    ++x.progress.polls;
    x.again = true;
    --now.pc;
    return x.divergence.yield();
  }
  const std::uint32_t stay = now.lanes & ~executed;
  const Group base = x.divergence.copy_of_now();
  if (op.flags == 1 && lanes_of.size() > 1) {
    Group others = base;
    others.lanes = executed & ~lanes_of[first];
    x.divergence.push(std::move(others));
    lanes_of = {{first, lanes_of[first]}};
  }
  // The lowest lane's target runs now, unless lanes fall through; the rest waits in order.
  for (auto at = lanes_of.rbegin(); at != lanes_of.rend(); ++at) {
    if (stay == 0 && at->first == first) continue;
    Group other = base;
    other.lanes = at->second;
    other.pc = at->first;
    x.divergence.push(std::move(other));
  }
  if (stay != 0) {
    now.lanes = stay;
    ++now.pc;
  } else {
    now.lanes = lanes_of[first];
    now.pc = first;
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
