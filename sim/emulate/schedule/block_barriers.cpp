#include "sim/emulate/schedule/block_barriers.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/emulate/schedule/cluster.h"

namespace foretrace::emulate {

std::uint64_t BlockBarriers::cluster_phase() const {
  return cluster_ == nullptr ? own_phase_ : cluster_->phase();
}

bool BlockBarriers::all_arrived(std::uint64_t phase) const {
  return std::all_of(warps_.begin(), warps_.end(),
                     [&](const Warp& w) { return w.state == WarpState::done || w.cluster_arrivals > phase; });
}

void BlockBarriers::complete_cluster_phase() {
  if (cluster_ != nullptr) return cluster_->complete_phase();
  if (!all_arrived(own_phase_)) return;
  ++own_phase_;
  release_from_cluster();
}

void BlockBarriers::release_from_cluster() {
  for (Warp& w : warps_) {
    if (w.state != WarpState::at_cluster) continue;
    w.state = WarpState::ready;
    has_waited_at_cluster(w);
  }
}

/// Where the checks of shared memory keep what is known by the cluster's barrier in the phase that the warp came to; the next but one
/// begins when all have waited in it.
std::uint64_t BlockBarriers::cluster_place(const Warp& warp) {
  return SharedChecks::barrier(kBarriers + static_cast<std::uint32_t>(warp.cluster_arrivals % 2));
}

void BlockBarriers::has_waited_at_cluster(const Warp& warp) {
  if (shared_checks_ != nullptr) shared_checks_->wait(cluster_place(warp), warp.index);
}

bool BlockBarriers::arrive_at_cluster(const MicroOp& op, std::uint32_t executed) {
  Warp& w = *x_.warp;
  ++w.now.pc;
  if (executed == 0) return true;
  const bool waits = op.flags != 0;
  if (executed != w.live) {
    const std::uint32_t missing = w.live & ~executed;
    x_.pc = w.now.pc - 1;
    x_.fault(FaultKind::divergent_barrier, std::countr_zero(missing),
             fmt::format("divergent cluster barrier: {} of the {} live threads of warp {} execute it, this "
                         "thread does not",
                         std::popcount(executed), std::popcount(w.live), w.index));
  }
  x_.progress.at = x_.progress.issued;
  if (!waits) {
    if (w.cluster_arrivals > cluster_phase()) {
      x_.pc = w.now.pc - 1;
      x_.fault(FaultKind::impossible_barrier, std::countr_zero(executed),
               "the warp arrives at the cluster's barrier a second time without having waited for it");
    }
    w.cluster_arrivals = cluster_phase() + 1;
    if (shared_checks_ != nullptr) shared_checks_->arrive(cluster_place(w), w.index);
    complete_cluster_phase();
    return true;
  }
  if (w.cluster_arrivals <= cluster_phase()) {  // the phase it arrived in has ended
    has_waited_at_cluster(w);
    return true;
  }
  w.state = WarpState::at_cluster;
  x_.stop = Stop::barrier;
  return false;
}

void BlockBarriers::fault_impossible() {
  for (Warp& w : warps_) {
    if (w.state != WarpState::at_barrier) continue;
    x_.enter(w);
    x_.pc = w.now.pc - 1;
    const Barrier& b = barriers_[w.barrier];
    const std::string wanted =
        b.expected == 0 ? std::string("all live warps of the block") : fmt::format("{} threads", b.expected);
    x_.fault(
        FaultKind::impossible_barrier, std::countr_zero(w.live),
        fmt::format("barrier {} can never complete: {} warps have arrived of {}, the others wait elsewhere "
                    "or have ended",
                    w.barrier, b.arrived_warps, wanted));
  }
  for (Warp& w : warps_) {
    if (w.state != WarpState::at_cluster) continue;
    x_.enter(w);
    x_.pc = w.now.pc - 1;
    x_.fault(FaultKind::impossible_barrier, std::countr_zero(w.live),
             "the cluster's barrier can never complete: other warps of the cluster wait elsewhere");
  }
  FORETRACE_ASSERT(false, "a block that cannot go on waits at a barrier");
}

/// index2: the barrier's number, or kNumberInRegister: register a. immediate: threads, 0: all, kThreadsInRegister: register b, or
/// kBothInRegister: the upper half of register a. flags: 0 SYNC, 1 ARV, 2 RED.
void BlockBarriers::note_value(const MicroOp& op, std::uint32_t executed) {
  if (executed == 0) {
    x_.value = 0;
    return;
  }
  const int lane = std::countr_zero(executed);
  if (op.kind != Kind::block_barrier) {
    x_.value = x_.read(op.a, lane);
    return;
  }
  const std::uint32_t number = op.index2 == kNumberInRegister ? x_.words(op.a)[lane] : op.index2;
  if (op.immediate == kBothInRegister) {
    x_.value = number;
    return;
  }
  const std::uint32_t threads =
      op.immediate == kThreadsInRegister ? x_.words(op.b)[lane] : static_cast<std::uint32_t>(op.immediate);
  x_.value = (number & 0xffff) | threads << 16;
}

bool BlockBarriers::let_others_come(std::uint32_t executed) {
  Warp& w = *x_.warp;
  if (x_.launch().context.strict_barriers || executed == 0 || executed != w.now.lanes) return false;
  for (std::size_t i = w.others.size(); i-- > 0;) {
    if (w.others[i].wait != Wait::none || w.others[i].at_barrier) continue;
    w.now.at_barrier = true;
    w.others.insert(w.others.begin(), divergence_.copy_of_now());
    divergence_.take(i + 1);
    return true;
  }
  return false;
}

/// A barrier that the warp executes in parts: those that stand at one go on with the running group.
void BlockBarriers::report_divergent(std::uint32_t executed) {
  Warp& w = *x_.warp;
  std::uint32_t here = executed;
  for (Group& g : w.others) {
    if (!g.at_barrier) continue;
    here |= g.lanes;
    g.at_barrier = false;
    ++g.pc;
  }
  if (x_.launch().divergence_reported.exchange(true)) return;
  x_.launch().context.report(fmt::format(
      "{}\n",
      x_.fault_text(
          std::countr_zero(executed),
          fmt::format("warning: divergent barrier: {} of the {} live threads of warp {} execute this one{}",
                      std::popcount(executed), std::popcount(w.live), w.index,
                      here == w.live ? ", the others another" : ""))));
}

bool BlockBarriers::arrive(const MicroOp& op, std::uint32_t executed) {
  Warp& w = *x_.warp;
  if (executed == 0) {
    ++w.now.pc;
    return true;
  }
  w.now.at_barrier = false;
  if (executed != w.live && !x_.launch().context.strict_barriers) {
    report_divergent(executed);
  } else if (executed != w.live) {
    const std::uint32_t missing = w.live & ~executed;
    x_.fault(FaultKind::divergent_barrier, std::countr_zero(missing),
             fmt::format(
                 "divergent barrier: {} of the {} live threads of warp {} execute it, this thread does not",
                 std::popcount(executed), std::popcount(w.live), w.index));
  }
  note_value(op, executed);
  const std::uint32_t number = x_.value & 0xff, threads = x_.value >> 16;
  if (number >= kBarriers || threads % 32 != 0) {
    x_.fault(FaultKind::illegal_instruction, std::countr_zero(executed),
             fmt::format("barrier {} for {} threads; barriers are 0 to 15, threads a multiple of 32", number,
                         threads));
  }
  Barrier& b = barriers_[number];
  if (b.arrived_warps != 0 && b.expected != threads) {
    x_.fault(FaultKind::impossible_barrier, std::countr_zero(executed),
             fmt::format("barrier {} is awaited by {} threads here and by {} elsewhere (0: all)", number,
                         threads, b.expected));
  }
  b.expected = threads;
  ++b.arrived_warps;
  if (SharedChecks* checks = shared_checks_) checks->arrive(SharedChecks::barrier(number), w.index);
  ++w.now.pc;
  if (op.flags == 2) {
    const std::uint32_t yes = x_.predicate(op.p_in) & executed;
    b.count += static_cast<std::uint32_t>(std::popcount(yes));
    b.all = b.all && yes == executed;
    b.any = b.any || yes != 0;
  }
  if (op.flags != 1) {
    w.state = WarpState::at_barrier;
    w.barrier = static_cast<std::uint8_t>(number);
    // Which of the three answers the warp asked for is known by its own instruction.
    w.barrier_result = op.destination2;
  }
  complete();
  // The others come as far before it goes on, as on a GPU: there is code whose warps arrive and then wait at the same barrier (FlashInfer's
  // epilogue), where one that ran ahead would arrive twice while others have not come at all.
  // Nor does the warp that came last run ahead of those that have waited for it.
  x_.stop = w.state == WarpState::ready ? Stop::turn : Stop::barrier;
  return false;
}

void BlockBarriers::complete() {
  for (std::size_t i = 0; i < barriers_.size(); ++i) {
    Barrier& b = barriers_[i];
    if (b.arrived_warps == 0) continue;
    if (b.expected == 0) {
      std::uint32_t live = 0;
      for (const Warp& w : warps_) live += w.state == WarpState::done ? 0 : 1;
      if (b.arrived_warps < live) continue;
    } else if (b.arrived_warps * 32 < b.expected) {
      continue;
    }
    for (Warp& w : warps_) {
      if (w.state != WarpState::at_barrier || w.barrier != i) continue;
      w.state = WarpState::ready;
      w.short_turns = kShortTurns;
      if (SharedChecks* checks = shared_checks_)
        checks->wait(SharedChecks::barrier(static_cast<std::uint32_t>(i)), w.index);
      switch (w.barrier_result) {  // BAR.RED: 1 POPC, 2 AND, 3 OR
        case 1: w.barrier_result = b.count; break;
        case 2: w.barrier_result = b.all ? ~0u : 0u; break;
        case 3: w.barrier_result = b.any ? ~0u : 0u; break;
        default: break;
      }
    }
    b = Barrier{};
    if (SharedChecks* checks = shared_checks_)
      checks->forget(SharedChecks::barrier(static_cast<std::uint32_t>(i)));
  }
}

}  // namespace foretrace::emulate
