// Barriers of a block and of a cluster: who has arrived, who waits, and what can no longer complete.
//
// Models:  BAR.SYNC, BAR.ARV, BAR.RED with numbers and counts; UCGABAR_ARV and UCGABAR_WAIT. A warp arrives as
//          a whole, so a barrier that only part of its live lanes can come to is a fault.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/schedule/cluster.h"

namespace foretrace::emulate {

bool Execution::all_arrived(std::uint64_t phase) const {
  return std::all_of(warps_.begin(), warps_.end(),
                     [&](const Warp& w) { return w.state == WarpState::done || w.cluster_arrivals > phase; });
}

void Execution::release_from_cluster() {
  for (Warp& w : warps_) {
    if (w.state == WarpState::at_cluster) w.state = WarpState::ready;
  }
}

bool Execution::cluster_barrier(const MicroOp& op, std::uint32_t executed) {
  Warp& w = *warp;
  ++w.now.pc;
  if (executed == 0) return true;
  const bool waits = op.flags != 0;
  if (executed != w.live) {
    const std::uint32_t missing = w.live & ~executed;
    pc = w.now.pc - 1;
    fault(FaultKind::divergent_barrier, std::countr_zero(missing),
          fmt::format("divergent cluster barrier: {} of the {} live threads of warp {} execute it, this "
                      "thread does not",
                      std::popcount(executed), std::popcount(w.live), w.index));
  }
  if (cluster_ == nullptr) return true;  // a block by itself is a whole cluster
  progress_at_ = issued_;
  if (!waits) {
    if (w.cluster_arrivals > cluster_->phase()) {
      pc = w.now.pc - 1;
      fault(FaultKind::impossible_barrier, std::countr_zero(executed),
            "the warp arrives at the cluster's barrier a second time without having waited for it");
    }
    w.cluster_arrivals = cluster_->phase() + 1;
    cluster_->complete_phase();
    return true;
  }
  if (w.cluster_arrivals <= cluster_->phase()) return true;  // the phase it arrived in has ended
  w.state = WarpState::at_cluster;
  stop_ = Stop::barrier;
  return false;
}

void Execution::fault_impossible_barrier() {
  for (Warp& w : warps_) {
    if (w.state != WarpState::at_barrier) continue;
    enter(w);
    pc = w.now.pc - 1;
    const BlockBarrier& b = barriers_[w.barrier];
    const std::string wanted =
        b.expected == 0 ? std::string("all live warps of the block") : fmt::format("{} threads", b.expected);
    fault(FaultKind::impossible_barrier, std::countr_zero(w.live),
          fmt::format("barrier {} can never complete: {} warps have arrived of {}, the others wait elsewhere "
                      "or have ended",
                      w.barrier, b.arrived_warps, wanted));
  }
  for (Warp& w : warps_) {
    if (w.state != WarpState::at_cluster) continue;
    enter(w);
    pc = w.now.pc - 1;
    fault(FaultKind::impossible_barrier, std::countr_zero(w.live),
          "the cluster's barrier can never complete: other warps of the cluster wait elsewhere");
  }
  FORETRACE_ASSERT(false, "a block that cannot go on waits at a barrier");
}

/// index2: the barrier's number, or 255: register a holds number | threads << 16. immediate: threads, 0: all, or ~0: register b.
/// flags: 0 SYNC, 1 ARV, 2 RED.
void Execution::note_barrier_value(const MicroOp& op, std::uint32_t executed) {
  if (executed == 0) {
    value = 0;
    return;
  }
  const int lane = std::countr_zero(executed);
  if (op.kind != Kind::block_barrier) {
    value = read(op.a, lane);
    return;
  }
  value = op.index2 == 255 ? words(op.a)[lane] : op.index2;
  if (op.immediate == ~std::uint64_t{0}) {
    value = (value & 0xffff) | words(op.b)[lane] << 16;
  } else if (op.immediate != 0) {
    value = (value & 0xffff) | static_cast<std::uint32_t>(op.immediate) << 16;
  }
}

/// Part of the warp's live lanes have come to a barrier: others run first, if any can. False: the barrier is executed now.
bool Execution::leave_at_barrier(std::uint32_t executed) {
  Warp& w = *warp;
  if (launch_.context.strict_barriers || executed == 0 || executed != w.now.lanes) return false;
  for (std::size_t i = w.others.size(); i-- > 0;) {
    if (w.others[i].wait != Wait::none || w.others[i].at_barrier) continue;
    w.now.at_barrier = true;
    w.others.insert(w.others.begin(), copy_of_now());
    take(i + 1);
    return true;
  }
  return false;
}

/// A barrier that the warp executes in parts: those that stand at one go on with the running group.
void Execution::report_divergent_barrier(std::uint32_t executed) {
  Warp& w = *warp;
  std::uint32_t here = executed;
  for (Group& g : w.others) {
    if (!g.at_barrier) continue;
    here |= g.lanes;
    g.at_barrier = false;
    ++g.pc;
  }
  if (launch_.divergence_reported.exchange(true)) return;
  launch_.context.report(fmt::format(
      "{}\n",
      fault_text(
          std::countr_zero(executed),
          fmt::format("warning: divergent barrier: {} of the {} live threads of warp {} execute this one{}",
                      std::popcount(executed), std::popcount(w.live), w.index,
                      here == w.live ? ", the others another" : ""))));
}

bool Execution::block_barrier(const MicroOp& op, std::uint32_t executed) {
  Warp& w = *warp;
  if (executed == 0) {
    ++w.now.pc;
    return true;
  }
  w.now.at_barrier = false;
  if (executed != w.live && !launch_.context.strict_barriers) {
    report_divergent_barrier(executed);
  } else if (executed != w.live) {
    const std::uint32_t missing = w.live & ~executed;
    fault(FaultKind::divergent_barrier, std::countr_zero(missing),
          fmt::format(
              "divergent barrier: {} of the {} live threads of warp {} execute it, this thread does not",
              std::popcount(executed), std::popcount(w.live), w.index));
  }
  note_barrier_value(op, executed);
  const std::uint32_t number = value & 0xff, threads = value >> 16;
  if (number >= kBlockBarriers || threads % 32 != 0) {
    fault(FaultKind::illegal_instruction, std::countr_zero(executed),
          fmt::format("barrier {} for {} threads; barriers are 0 to 15, threads a multiple of 32", number,
                      threads));
  }
  BlockBarrier& b = barriers_[number];
  if (b.arrived_warps != 0 && b.expected != threads) {
    fault(FaultKind::impossible_barrier, std::countr_zero(executed),
          fmt::format("barrier {} is awaited by {} threads here and by {} elsewhere (0: all)", number,
                      threads, b.expected));
  }
  b.expected = threads;
  ++b.arrived_warps;
  if (shared_checks_) shared_checks_->arrive(SharedChecks::barrier(number), w.index);
  ++w.now.pc;
  if (op.flags == 2) {
    const std::uint32_t yes = predicate(op.p_in) & executed;
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
  complete_barriers();
  if (w.state == WarpState::ready) return true;
  stop_ = Stop::barrier;
  return false;
}

void Execution::complete_barriers() {
  for (std::size_t i = 0; i < barriers_.size(); ++i) {
    BlockBarrier& b = barriers_[i];
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
      if (shared_checks_) shared_checks_->wait(SharedChecks::barrier(static_cast<std::uint32_t>(i)), w.index);
      switch (w.barrier_result) {  // BAR.RED: 1 POPC, 2 AND, 3 OR
        case 1: w.barrier_result = b.count; break;
        case 2: w.barrier_result = b.all ? ~0u : 0u; break;
        case 3: w.barrier_result = b.any ? ~0u : 0u; break;
        default: break;
      }
    }
    b = BlockBarrier{};
    if (shared_checks_) shared_checks_->forget(SharedChecks::barrier(static_cast<std::uint32_t>(i)));
  }
}

}  // namespace foretrace::emulate
