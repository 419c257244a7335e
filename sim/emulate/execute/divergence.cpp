#include "sim/emulate/execute/divergence.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace foretrace::emulate {

namespace {

/// Those of `lanes`, which are not none, whose mask is the first one's.
std::uint32_t with_first_mask(const std::uint32_t* masks, std::uint32_t lanes) {
  const std::uint32_t mask = masks[std::countr_zero(lanes)];
  std::uint32_t same = 0;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    if (masks[std::countr_zero(m)] == mask) same |= 1u << std::countr_zero(m);
  }
  return same;
}

}  // namespace

Group Divergence::copy_of_now() const {
  Group copy = x_.warp->now;
  copy.wait = Wait::none;
  for (std::size_t i = 0; i < 7; ++i) copy.uniform_predicates[i] = x_.warp->predicates[kUniformSlot + i];
  copy.uniform.resize(x_.launch().translation->compiled.uniform_registers);
  for (std::size_t i = 0; i < copy.uniform.size(); ++i)
    copy.uniform[i] = x_.warp->uniforms[kFirstUniformWord + i * 32];
  return copy;
}

void Divergence::take(std::size_t index) {
  Warp& w = *x_.warp;
  w.now = std::move(w.others[index]);
  w.others.erase(w.others.begin() + static_cast<std::ptrdiff_t>(index));
  for (std::size_t i = 0; i < 7; ++i) w.predicates[kUniformSlot + i] = w.now.uniform_predicates[i];
  for (std::size_t i = 0; i < w.now.uniform.size(); ++i) {
    std::uint32_t* words = w.uniforms + kFirstUniformWord + i * 32;
    std::fill(words, words + 32, w.now.uniform[i]);
  }
}

bool Divergence::take_up() {
  Warp& w = *x_.warp;
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
    x_.pc = g.pc - 1;
    x_.fault(FaultKind::impossible_barrier, std::countr_zero(g.lanes),
             fmt::format("WARPSYNC of lanes 0x{:08x} can never complete: only lanes 0x{:08x} have come",
                         g.mask, g.lanes));
  }
  return false;
}

void Divergence::settle() {
  Warp& w = *x_.warp;
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

bool Divergence::release_joined(bool any) {
  Warp& w = *x_.warp;
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

void Divergence::branch(std::uint32_t taken, std::uint32_t target) {
  Group& now = x_.warp->now;
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

bool Divergence::exit_lanes(std::uint32_t lanes) {
  Warp& w = *x_.warp;
  ++w.now.pc;
  if (lanes == 0) return true;
  x_.progress.at = x_.progress.issued;
  w.live &= ~lanes;
  w.now.lanes &= ~lanes;
  if (w.live == 0) {
    w.state = WarpState::done;
    w.others.clear();
    x_.stop = Stop::done;
    return false;
  }
  settle();
  return w.now.lanes != 0 || take_up();
}

bool Divergence::join(const MicroOp& op, std::uint32_t executed) {
  Warp& w = *x_.warp;
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

void Divergence::leave_barrier(std::uint32_t lanes, std::uint8_t barrier) {
  Warp& w = *x_.warp;
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
void Divergence::move_barrier(const MicroOp& op, std::uint32_t executed) {
  Group& now = x_.warp->now;
  ++now.pc;
  if (executed == 0) return;
  if ((op.flags & 1) != 0) {
    now.joined[op.index2] = x_.words(op.a)[std::countr_zero(executed)];
    return;
  }
  std::uint32_t* d = x_.result(op);
  for (std::uint32_t m = executed; m != 0; m &= m - 1) d[std::countr_zero(m)] = now.joined[op.index2];
  if ((op.flags & 2) != 0) now.joined[op.index2] = 0;
}

/// flags 1: EXCLUSIVE or COLLECTIVE, the group is split so that each part is exactly its mask: what stands behind it (REDUX, VOTE) takes in
/// all lanes that execute it.
std::uint32_t Divergence::masks_of(const MicroOp& op, std::uint32_t executed) const {
  const std::uint32_t* masks = x_.words(op.a);
  std::uint32_t count = 0;
  for (std::uint32_t left = executed; left != 0; left &= ~with_first_mask(masks, left)) ++count;
  return count;
}

bool Divergence::warpsync(const MicroOp& op, std::uint32_t executed) {
  Warp& w = *x_.warp;
  ++w.now.pc;
  if (executed == 0) return true;
  const std::uint32_t* masks = x_.words(op.a);
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
    const std::uint32_t lanes = with_first_mask(masks, left);
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

bool Divergence::yield() {
  Warp& w = *x_.warp;
  const work::Shapes& shapes = x_.launch().translation->shapes;
  // In a loop that tries again others come between when the model's clock says so (model/sm/retries.h): the record is of a warp alone. Where
  // the swap is of global memory, which takes longer, lanes that are done come back to the loop before the others are.
  const std::uint16_t number =
      shapes.loops.empty() && x_.pc < shapes.retry_of.size() ? shapes.retry_of[x_.pc] : std::uint16_t{0};
  const bool tries = number != 0 && shapes.retries[number - 1u].shared;
  const bool in_vain = !tries || w.now.noted == x_.progress.times;
  w.now.noted = x_.progress.times;
  ++w.now.pc;
  if (w.others.empty()) {
    if (!in_vain) return true;
    x_.stop = Stop::turn;
    return false;
  }
  w.now.yielded = in_vain;
  const bool all = std::all_of(w.others.begin(), w.others.end(),
                               [](const Group& g) { return g.wait != Wait::none || g.yielded; });
  if (all && !in_vain) return true;
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
  x_.stop = Stop::turn;
  take_up();
  return false;
}

}  // namespace foretrace::emulate
