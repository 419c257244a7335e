#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/emulate/execute/control.h"
#include "sim/emulate/execute/execution.h"
#include "sim/emulate/schedule/cluster.h"

namespace foretrace::emulate {

namespace {

/// Warp instructions that a warp runs before another has its turn.
constexpr std::uint64_t kSlice = 1 << 16;

}  // namespace

Execution::Execution(const Emulator::Launch& launch, std::uint64_t block, work::BlockRecord* record)
    : RunningWarp(launch, block), warps_(launch.warps) {
  if (launch.context.time_limit > 0) started_ = std::chrono::steady_clock::now();
  const Compiled& compiled = launch.translation->compiled;
  const std::size_t uniform_words = kFirstUniformWord + std::size_t{compiled.uniform_registers} * 32;
  const std::size_t per_warp = compiled.register_words + uniform_words;
  files_ = LaneWords(per_warp * launch.warps);
  for (std::uint32_t i = 0; i < launch.warps; ++i) {
    Warp& w = warps_[i];
    w.index = i;
    w.registers = files_.data() + per_warp * i;
    w.uniforms = w.registers + compiled.register_words;
    const std::uint32_t threads = std::min(launch.threads - i * 32, 32u);
    w.live = threads == 32 ? ~0u : (1u << threads) - 1;
    w.now.lanes = w.live;
    w.predicates[kTrueSlot] = ~0u;
    w.predicates[kUniformSlot + kTrueSlot] = ~0u;
  }
  if (record != nullptr) begin_recording(*record);
}

void Execution::begin_recording(work::BlockRecord& record) {
  record.block = block();
  record.warps.assign(warps_.size(), {});
  for (Warp& w : warps_)
    w.recorder = std::make_unique<work::WarpRecorder>(launch().translation->shapes, record.warps[w.index]);
}

void Execution::enter_cluster(Cluster* cluster) {
  cluster_ = cluster;
  memory.enter_cluster(cluster);
  barriers.enter_cluster(cluster);
}

void Execution::give_turn(Warp& w, std::uint64_t slice) {
  enter(w);
  const bool waits = !launch().translation->shapes.loops.empty();
  const Stop why = !w.recorder ? run_warp<false, false>(slice)
                   : waits     ? run_warp<true, true>(slice)
                               : run_warp<true, false>(slice);
  if (why == Stop::done) {
    ++done_;
    if (w.recorder) w.recorder->finish();
    barriers.complete();  // those that have ended are not waited for
    barriers.complete_cluster_phase();
  }
  if (launch().context.max_instructions != 0 && progress.issued > launch().context.max_instructions) {
    fault(FaultKind::never_ends, std::countr_zero(w.now.lanes),
          fmt::format("more than {} warp instructions in one block", launch().context.max_instructions));
  }
  if (launch().context.time_limit > 0 &&
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count() >
          launch().context.time_limit) {
    fault(FaultKind::never_ends, w.now.lanes != 0 ? std::countr_zero(w.now.lanes) : 0,
          fmt::format("the block has not ended after {} seconds on the host", launch().context.time_limit));
  }
}

bool Execution::run_turn(std::uint64_t slice) {
  bool some = false;
  for (Warp& w : warps_) {
    if (w.state != WarpState::ready) continue;
    some = true;
    give_turn(w, slice);
  }
  if (!some && done_ < warps_.size()) barriers.fault_impossible();
  if (progress.issued - progress.at > launch().context.idle_limit)
    fault_never_ends(progress.issued - progress.at);
  return done_ == warps_.size();
}

bool Execution::run(std::uint64_t patience, bool leaves_polling) {
  progress.at = resumed_at_ =
      progress.issued;  // what was idle before may have been waiting for what has happened since
  while (done_ < warps_.size()) {
    const std::uint64_t round = progress.issued;
    std::uint64_t ready = 0;
    for (Warp& w : warps_) {
      if (w.state != WarpState::ready) continue;
      ++ready;
      give_turn(w, kSlice);
      if (progress.issued - progress.at > patience) return false;
    }
    if (done_ == warps_.size()) break;
    if (ready == 0) {
      if (cluster_ != nullptr) return false;  // another block has to come to the cluster's barrier
      barriers.fault_impossible();
    }
    if (leaves_polling && progress.at <= round && progress.polls >= Progress::kPolls * ready) return false;
  }
  return true;
}

void Execution::fault_never_ends(std::uint64_t idle) {
  for (Warp& w : warps_) {
    if (w.state != WarpState::ready) continue;
    enter(w);
    fault(FaultKind::never_ends, std::countr_zero(w.now.lanes),
          fmt::format("never ends: no store, atomic or exit in {} warp instructions", idle));
  }
  FORETRACE_ASSERT(false, "a block that spins has a warp that is ready");
}

template <bool kRecording, bool kWaits>
Stop Execution::run_warp(std::uint64_t budget) {
  Warp& w = *warp;
  const MicroOp* code = launch().translation->compiled.code.data();
  const std::uint32_t size = static_cast<std::uint32_t>(launch().translation->compiled.code.size());
  work::WarpRecorder* recorder = w.recorder.get();
  const std::uint32_t* predicates = w.predicates.data();
  std::uint64_t lanes_now = static_cast<std::uint64_t>(std::popcount(active));
  turn = false;
  const auto record = [&](const MicroOp& op, std::uint32_t executed) {
    if constexpr (kRecording) {
      const std::size_t sets = executed == 0 ? 0 : op.address_sets;
      const work::Transfer* moved = op.transfers ? &transfer : nullptr;
      if constexpr (kWaits) {
        recorder->record(pc, active, executed, {addresses.data(), sets}, value, spins_.awaited(), moved);
      } else {
        recorder->record(pc, active, executed, {addresses.data(), sets}, value, {}, moved);
      }
    }
  };
  for (std::uint64_t left = budget; left != 0; --left) {
    if (pc >= size) {
      pc = size - 1;
      fault(FaultKind::illegal_instruction, std::countr_zero(active),
            "ran past the end of the kernel's code");
    }
    if constexpr (kWaits) spins_.look();
    const MicroOp& op = code[pc];
    const std::uint32_t executed = active & (predicates[op.guard.slot] ^ op.guard.invert);
    ++progress.issued;
    thread_instructions_ += lanes_now;
    switch (op.kind) {
      case Kind::lane:
        if (executed != 0) op.lane(frame, op, op.uniform ? ~0u : executed);
        record(op, executed);
        ++pc;
        break;
      case Kind::warp:
        if (executed != 0) {
          if constexpr (kWaits) {
            if (!spins_.before_access(op, executed)) op.warp(*this, op, executed);
            spins_.after_access(op, executed);
          } else {
            op.warp(*this, op, executed);
          }
          if (op.progress) progress.note();
        }
        if (!again) {
          record(op, executed);
          ++pc;
        }
        again = false;
        if (turn) {  // an awaited event has not come: as YIELD
          turn = false;
          w.now.pc = pc - 1;
          if (!divergence.yield()) {
            if (stop != Stop::done) return stop;
          }
          pc = w.now.pc;
          active = w.now.lanes;
          lanes_now = static_cast<std::uint64_t>(std::popcount(active));
        }
        break;
      case Kind::nothing:
        record(op, executed);
        ++pc;
        break;
      default: {
        w.now.pc = pc;
        if (op.kind == Kind::block_barrier && executed != w.live && barriers.let_others_come(executed)) {
          pc = w.now.pc;
          active = w.now.lanes;
          lanes_now = static_cast<std::uint64_t>(std::popcount(active));
          break;
        }
        if (op.value_recorded) barriers.note_value(op, executed);
        record(op, executed);
        const bool goes_on = execute_control(*this, op, executed);
        if constexpr (kWaits) spins_.forget(pc);
        pc = w.now.pc;
        active = w.now.lanes;
        if (!goes_on) return stop;
        lanes_now = static_cast<std::uint64_t>(std::popcount(active));
        break;
      }
    }
  }
  w.now.pc = pc;
  // A group that runs for long gives the warp's other groups a turn; so a loop that waits for them ends.
  if (!w.others.empty()) {
    if (progress.issued - progress.at > 16 * kSlice) {
      w.now.pc = pc - 1;
      divergence.yield();
    } else {
      const auto other =
          std::find_if(w.others.begin(), w.others.end(), [](const Group& g) { return g.wait == Wait::none; });
      if (other != w.others.end()) {
        const auto index = static_cast<std::size_t>(other - w.others.begin());
        w.others.push_back(divergence.copy_of_now());
        divergence.take(index);
      }
    }
  }
  return Stop::budget;
}

}  // namespace foretrace::emulate
