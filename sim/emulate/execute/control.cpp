// Divergence and convergence: how groups of lanes part, wait and come together again.
//
// Models:  branches, calls and convergence: a spinning warp releases the lanes that wait at the loop's end; what waits together
//          at WARPSYNC is told by its mask alone; the guard takes part in BRA.DIV; CALL and RET are branches (docs/facts.md).
// Choice:  a WARPSYNC whose mask lies inside the running group passes, whatever its guard; a guard-false lane is there, too.
#include <algorithm>
#include <bit>
#include <map>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"

namespace foretrace::emulate {

namespace {
constexpr std::uint64_t kDriverCodeBytes = 4096;
constexpr std::uint32_t kReturnRegister = 20;  ///< R20:R21 hold where a driver's function returns to
}  // namespace

Group Execution::copy_of_now() const {
  Group copy = warp->now;
  copy.wait = Wait::none;
  for (std::size_t i = 0; i < 7; ++i) copy.uniform_predicates[i] = warp->predicates[kUniformSlot + i];
  copy.uniform.resize(launch_.translation->compiled.uniform_registers);
  for (std::size_t i = 0; i < copy.uniform.size(); ++i)
    copy.uniform[i] = warp->uniforms[kFirstUniformWord + i * 32];
  return copy;
}

void Execution::push(Group group) { warp->others.push_back(std::move(group)); }

void Execution::take(std::size_t index) {
  Warp& w = *warp;
  w.now = std::move(w.others[index]);
  w.others.erase(w.others.begin() + static_cast<std::ptrdiff_t>(index));
  for (std::size_t i = 0; i < 7; ++i) w.predicates[kUniformSlot + i] = w.now.uniform_predicates[i];
  for (std::size_t i = 0; i < w.now.uniform.size(); ++i) {
    std::uint32_t* words = w.uniforms + kFirstUniformWord + i * 32;
    std::fill(words, words + 32, w.now.uniform[i]);
  }
}

bool Execution::take_up() {
  Warp& w = *warp;
  for (std::size_t i = w.others.size(); i-- > 0;) {
    if (w.others[i].wait == Wait::none) {
      take(i);
      return true;
    }
  }
  // Nothing can run: lanes that wait for convergence alone go on unconverged, which changes no result by itself.
  if (release_joined(true)) return take_up();
  if (!w.others.empty()) {
    const Group& g = w.others.back();
    pc = g.pc - 1;
    fault(FaultKind::impossible_barrier, std::countr_zero(g.lanes),
          fmt::format("WARPSYNC of lanes 0x{:08x} can never complete: only lanes 0x{:08x} have come", g.mask,
                      g.lanes));
  }
  return false;
}

/// Merges waiting groups whose partners have all arrived, exited or left.
void Execution::settle() {
  Warp& w = *warp;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < w.others.size() && !changed; ++i) {
      const Group& first = w.others[i];
      if (first.wait == Wait::none) continue;
      const Wait wait = first.wait;
      const std::uint8_t barrier = first.barrier;
      const std::uint32_t mask = first.mask;
      const std::uint32_t needed = (wait == Wait::join ? first.joined[barrier] : mask) & w.live;
      const auto partner = [&](const Group& g, std::size_t index) {
        if (index == i) return true;
        if (g.wait != wait) return false;
        return wait == Wait::join ? g.barrier == barrier && (g.joined[barrier] & needed) != 0
                                  : g.mask == mask;
      };
      std::uint32_t here = 0;
      for (std::size_t k = 0; k < w.others.size(); ++k) {
        if (partner(w.others[k], k)) here |= w.others[k].lanes;
      }
      if ((needed & ~here) != 0) continue;
      std::vector<Group> done, rest;
      for (std::size_t k = 0; k < w.others.size(); ++k) {
        (partner(w.others[k], k) ? done : rest).push_back(std::move(w.others[k]));
      }
      w.others = std::move(rest);
      // Those at the same instruction become one group, that of the last to arrive; others go on by themselves.
      while (!done.empty()) {
        Group last = std::move(done.back());
        done.pop_back();
        for (std::size_t k = done.size(); k-- > 0;) {
          if (done[k].pc != last.pc) continue;
          last.lanes |= done[k].lanes;
          done.erase(done.begin() + static_cast<std::ptrdiff_t>(k));
        }
        last.wait = Wait::none;
        last.yielded = false;
        if (wait == Wait::join) last.joined[barrier] = 0;
        w.others.push_back(std::move(last));
      }
      changed = true;
    }
  }
}

/// Lanes parked at a convergence barrier go on without the others. `any`: also those that are not marked as early.
bool Execution::release_joined(bool any) {
  Warp& w = *warp;
  bool some = false;
  for (std::size_t i = 0; i < w.others.size(); ++i) {
    Group& g = w.others[i];
    if (g.wait != Wait::join || !(any || g.early)) continue;
    g.wait = Wait::none;
    some = true;
    const std::uint32_t lanes = g.lanes;
    const std::uint8_t barrier = g.barrier;
    for (Group& other : w.others) {
      if ((other.joined[barrier] & lanes) != 0) other.joined[barrier] &= ~lanes;
    }
    if ((w.now.joined[barrier] & lanes) != 0) w.now.joined[barrier] &= ~lanes;
  }
  if (some) {
    for (Group& g : w.others) g.yielded = false;
    w.now.yielded = false;
    settle();
  }
  return some;
}

void Execution::branch(std::uint32_t taken, std::uint32_t target) {
  Group& now = warp->now;
  if (taken == now.lanes) {
    now.pc = target;
  } else if (taken == 0) {
    ++now.pc;
  } else {
    Group other = copy_of_now();
    other.lanes = taken;
    other.pc = target;
    push(std::move(other));
    now.lanes &= ~taken;
    ++now.pc;
  }
}

/// a: register pair (its high word counts when flags is 1); immediate: what is added, in bytes.
void Execution::branch_indirect(const MicroOp& op, std::uint32_t executed) {
  Group& now = warp->now;
  if (executed == 0) {
    ++now.pc;
    return;
  }
  const std::uint32_t* low = words(op.a);
  std::map<std::uint32_t, std::uint32_t> lanes_of;  // by target
  std::uint32_t first = 0;
  const auto address_of = [&](int lane) {
    return (low[lane] | std::uint64_t{low[lane + 32]} << 32) + op.immediate;
  };
  std::uint32_t returned = 0;  // lanes that are back from the driver
  for (std::uint32_t m = executed; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::uint64_t address = address_of(lane);
    if (address - kDriverCode < kDriverCodeBytes && (returned >> lane & 1) == 0) {
      std::uint32_t lanes = 0;
      for (std::uint32_t n = m; n != 0; n &= n - 1) {
        if (address_of(std::countr_zero(n)) == address) lanes |= 1u << std::countr_zero(n);
      }
      call_driver(address, lanes);
      returned |= lanes;
    }
    if ((returned >> lane & 1) != 0) {
      const std::uint32_t* back = warp->registers + kFirstRegisterWord + kReturnRegister * 32;
      address = back[lane] | std::uint64_t{back[lane + 32]} << 32;
    }
    if (address % 16 != 0 || address / 16 >= launch_.translation->compiled.code.size()) {
      fault(FaultKind::illegal_instruction, lane,
            fmt::format("jump to 0x{:x}, outside the kernel's code", address));
    }
    const auto target = static_cast<std::uint32_t>(address / 16);
    lanes_of[target] |= 1u << lane;
    if (m == executed) first = target;
  }
  const std::uint32_t stay = now.lanes & ~executed;
  const Group base = copy_of_now();
  // The lowest lane's target runs now, unless lanes fall through; the rest waits in order.
  for (auto at = lanes_of.rbegin(); at != lanes_of.rend(); ++at) {
    if (stay == 0 && at->first == first) continue;
    Group other = base;
    other.lanes = at->second;
    other.pc = at->first;
    push(std::move(other));
  }
  if (stay != 0) {
    now.lanes = stay;
    ++now.pc;
  } else {
    now.lanes = lanes_of[first];
    now.pc = first;
  }
}

bool Execution::exit_lanes(std::uint32_t lanes) {
  Warp& w = *warp;
  ++w.now.pc;
  if (lanes == 0) return true;
  progress_at_ = issued_;
  w.live &= ~lanes;
  w.now.lanes &= ~lanes;
  if (w.live == 0) {
    w.state = WarpState::done;
    w.others.clear();
    stop_ = Stop::done;
    return false;
  }
  settle();
  return w.now.lanes != 0 || take_up();
}

bool Execution::join(const MicroOp& op, std::uint32_t executed) {
  Warp& w = *warp;
  ++w.now.pc;
  if (executed == 0) return true;
  const auto barrier = static_cast<std::uint8_t>(op.index2);
  const std::uint32_t needed = w.now.joined[barrier] & w.live;
  if ((needed & ~executed) == 0) {
    w.now.joined[barrier] = 0;
    return true;
  }
  Group waiting = copy_of_now();
  waiting.lanes = executed;
  waiting.wait = Wait::join;
  waiting.barrier = barrier;
  waiting.early = op.flags != 0;
  push(std::move(waiting));
  w.now.lanes &= ~executed;
  settle();
  return w.now.lanes != 0 || take_up();
}

void Execution::leave_barrier(std::uint32_t lanes, std::uint8_t barrier) {
  Warp& w = *warp;
  const std::uint32_t set = w.now.joined[barrier];
  w.now.joined[barrier] &= ~lanes;
  if (set != 0) {
    for (Group& g : w.others) {
      if ((g.joined[barrier] & lanes) != 0) g.joined[barrier] &= ~lanes;
    }
  }
  settle();
}

/// flags 1: to the barrier; 2: the barrier is cleared after reading.
void Execution::move_barrier(const MicroOp& op, std::uint32_t executed) {
  Group& now = warp->now;
  ++now.pc;
  if (executed == 0) return;
  if ((op.flags & 1) != 0) {
    now.joined[op.index2] = words(op.a)[std::countr_zero(executed)];
    return;
  }
  std::uint32_t* d = result(op);
  for (std::uint32_t m = executed; m != 0; m &= m - 1) d[std::countr_zero(m)] = now.joined[op.index2];
  if ((op.flags & 2) != 0) now.joined[op.index2] = 0;
}

/// flags 1: EXCLUSIVE or COLLECTIVE, the group is split so that each part is exactly its mask: what stands behind it (REDUX, VOTE) takes in
/// all lanes that execute it.
bool Execution::warpsync(const MicroOp& op, std::uint32_t executed) {
  Warp& w = *warp;
  ++w.now.pc;
  if (executed == 0) return true;
  const std::uint32_t* masks = words(op.a);
  std::uint32_t needed = 0;
  for (std::uint32_t m = executed; m != 0; m &= m - 1) needed |= masks[std::countr_zero(m)];
  needed &= w.live;
  const bool exclusive = (op.flags & 1) != 0;
  if ((needed & ~w.now.lanes) == 0 && !exclusive) return true;
  // Lanes with the same mask wait, or go on, together.
  const std::uint32_t stay = w.now.lanes & ~executed;
  const Group base = copy_of_now();
  std::uint32_t left = executed;
  std::vector<Group> parts;
  while (left != 0) {
    const std::uint32_t mask = masks[std::countr_zero(left)];
    std::uint32_t lanes = 0;
    for (std::uint32_t m = left; m != 0; m &= m - 1) {
      if (masks[std::countr_zero(m)] == mask) lanes |= 1u << std::countr_zero(m);
    }
    left &= ~lanes;
    Group part = base;
    part.lanes = lanes;
    part.mask = mask;
    part.wait = (mask & w.live & ~lanes) == 0 ? Wait::none : Wait::warpsync;
    parts.push_back(std::move(part));
  }
  for (std::size_t i = parts.size(); i-- > 0;) push(std::move(parts[i]));
  w.now.lanes = stay;
  settle();
  return w.now.lanes != 0 || take_up();
}

/// The other groups have their turn; when all that can run have had theirs, those that wait for them are let go: a lock's owner can be among them.
bool Execution::yield() {
  Warp& w = *warp;
  ++w.now.pc;
  if (w.others.empty()) {
    stop_ = Stop::turn;
    return false;
  }
  w.now.yielded = true;
  const bool all = std::all_of(w.others.begin(), w.others.end(),
                               [](const Group& g) { return g.wait != Wait::none || g.yielded; });
  const bool released = all && release_joined(false);
  if (released || !all) {
    w.others.insert(w.others.begin(), copy_of_now());
    w.now.lanes = 0;
    // The first that has not yielded, from the top.
    for (std::size_t i = w.others.size(); i-- > 0;) {
      if (w.others[i].wait == Wait::none && !w.others[i].yielded) {
        take(i);
        return true;
      }
    }
    return take_up();
  }
  for (Group& g : w.others) g.yielded = false;
  w.now.yielded = false;
  // A full round: other warps have their turn, then the next group of this one.
  w.others.insert(w.others.begin(), copy_of_now());
  stop_ = Stop::turn;
  take_up();
  return false;
}

/// True: the warp goes on with its running group.
bool Execution::control(const MicroOp& op, std::uint32_t executed) {
  Warp& w = *warp;
  switch (op.kind) {
    case Kind::branch: branch(executed & predicate(op.p_in), op.target); return true;
    case Kind::branch_uniform: {
      const bool go = (op.flags & 1) != 0 ? executed != 0 : (executed & predicate(op.p_in)) != 0;
      w.now.pc = go ? op.target : w.now.pc + 1;
      return true;
    }
    case Kind::branch_diverged: {
      const std::uint32_t mask = read(op.a, 0);
      const bool equal = executed == mask;
      w.now.pc = equal == (op.flags != 0) ? op.target : w.now.pc + 1;
      return true;
    }
    case Kind::branch_indirect: branch_indirect(op, executed); return true;
    case Kind::exit: return exit_lanes(executed & predicate(op.p_in));
    case Kind::open_barrier:
      if (executed != 0) w.now.joined[op.index2] = executed;
      ++w.now.pc;
      return true;
    case Kind::join_barrier: return join(op, executed);
    case Kind::leave_barrier:
      ++w.now.pc;
      leave_barrier(executed & predicate(op.p_in), static_cast<std::uint8_t>(op.index2));
      return true;
    case Kind::move_barrier: move_barrier(op, executed); return true;
    case Kind::warpsync: return warpsync(op, executed);
    case Kind::yield: return yield();
    case Kind::block_barrier: return block_barrier(op, executed);
    case Kind::cluster_barrier: return cluster_barrier(op, executed);
    case Kind::trap:
      if (executed != 0) fault(FaultKind::trap, std::countr_zero(executed), "trap executed");
      ++w.now.pc;
      return true;
    default: break;
  }
  if (executed != 0) {
    fault(FaultKind::unsupported, std::countr_zero(executed),
          "unsupported instruction: " + launch_.translation->compiled.messages[op.message - 1]);
  }
  ++w.now.pc;
  return true;
}

}  // namespace foretrace::emulate
