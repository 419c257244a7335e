#include "sim/emulate/schedule/block.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "sim/emulate/execute/control.h"
#include "sim/emulate/schedule/cluster.h"

namespace foretrace::emulate {

namespace {

/// Warp instructions that a warp runs before another has its turn.
constexpr std::uint64_t kSlice = 1 << 16;

}  // namespace

RunningBlock::RunningBlock(const Emulator::Launch& launch, std::uint64_t block, work::BlockRecord* record)
    : warps_(launch.warps), x_(launch, block, warps_) {
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

void RunningBlock::begin_recording(work::BlockRecord& record) {
  record.block = x_.block();
  record.warps.assign(warps_.size(), {});
  for (Warp& w : warps_)
    w.recorder = std::make_unique<work::WarpRecorder>(x_.launch().translation->shapes, record.warps[w.index]);
}

void RunningBlock::enter_cluster(Cluster* cluster) {
  cluster_ = cluster;
  x_.memory.enter_cluster(cluster);
  x_.barriers.enter_cluster(cluster);
}

void RunningBlock::give_turn(Warp& w, std::uint64_t slice) {
  x_.enter(w);
  const bool is_short = w.short_turns > 0;
  if (is_short) slice = std::min(slice, kShortTurnLengths[--w.short_turns]);
  const bool waits = !x_.launch().translation->shapes.loops.empty();
  const Stop why = !w.recorder ? run_warp<false, false>(slice)
                   : waits     ? run_warp<true, true>(slice)
                               : run_warp<true, false>(slice);
  if (why == Stop::budget && !is_short && !w.others.empty()) let_other_groups_run();
  if (why == Stop::done) {
    ++done_;
    if (w.recorder) w.recorder->finish();
    x_.barriers.complete();  // those that have ended are not waited for
    x_.barriers.complete_cluster_phase();
  }
  if (x_.launch().context.stop != nullptr && *x_.launch().context.stop) throw Interrupted();
  if (x_.launch().context.max_instructions != 0 &&
      x_.progress.issued > x_.launch().context.max_instructions) {
    x_.fault(
        FaultKind::never_ends, std::countr_zero(w.now.lanes),
        fmt::format("more than {} warp instructions in one block", x_.launch().context.max_instructions));
  }
  if (x_.launch().context.time_limit > 0 &&
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count() >
          x_.launch().context.time_limit) {
    x_.fault(
        FaultKind::never_ends, w.now.lanes != 0 ? std::countr_zero(w.now.lanes) : 0,
        fmt::format("the block has not ended after {} seconds on the host", x_.launch().context.time_limit));
  }
}

bool RunningBlock::run_turn(std::uint64_t slice) {
  bool some = false;
  for (Warp& w : warps_) {
    if (w.state != WarpState::ready) continue;
    some = true;
    give_turn(w, slice);
  }
  if (!some && done_ < warps_.size()) x_.barriers.fault_impossible();
  if (x_.progress.issued - x_.progress.at > x_.launch().context.idle_limit)
    fault_never_ends(x_.progress.issued - x_.progress.at);
  return done_ == warps_.size();
}

bool RunningBlock::run(std::uint64_t patience, bool leaves_polling, std::uint64_t turn) {
  x_.progress.at = resumed_at_ =
      x_.progress.issued;  // what was idle before may have been waiting for what has happened since
  tickets_before_ = x_.progress.tickets;
  const std::uint64_t begin = x_.progress.issued;
  while (done_ < warps_.size()) {
    const std::uint64_t round = x_.progress.issued;
    std::uint64_t ready = 0;
    for (Warp& w : warps_) {
      if (w.state != WarpState::ready) continue;
      ++ready;
      give_turn(w, std::min(kSlice, turn));
      if (x_.progress.issued - x_.progress.at > patience) return false;
    }
    if (done_ == warps_.size()) break;
    if (ready == 0) {
      if (cluster_ != nullptr) return false;  // another block has to come to the cluster's barrier
      x_.barriers.fault_impossible();
    }
    if (leaves_polling && (took_tickets() || x_.progress.issued - begin >= turn)) return false;
    if (leaves_polling && x_.progress.at <= round && x_.progress.polls >= Progress::kPolls * ready)
      return false;
  }
  return true;
}

void RunningBlock::fault_never_ends(std::uint64_t idle) {
  for (Warp& w : warps_) {
    if (w.state != WarpState::ready) continue;
    x_.enter(w);
    x_.fault(FaultKind::never_ends, std::countr_zero(w.now.lanes),
             fmt::format("never ends: no store, atomic or exit in {} warp instructions", idle));
  }
  FORETRACE_ASSERT(false, "a block that spins has a warp that is ready");
}

void RunningBlock::let_other_groups_run() {
  Warp& w = *x_.warp;
  // Who asks memory again and again may wait for lanes that wait at the loop's end. Long work without a store does not: its lanes would
  // part from the others for good. After much longer it may be a loop that asks in a way that is not known as asking.
  const bool asks = x_.progress.polls != 0;
  if (x_.progress.idle() > (asks ? 16 : 4096) * kSlice) {
    w.now.pc = x_.pc - 1;
    x_.divergence.yield();
    return;
  }
  const auto other =
      std::find_if(w.others.begin(), w.others.end(), [](const Group& g) { return g.wait == Wait::none; });
  if (other == w.others.end()) return;
  const auto index = static_cast<std::size_t>(other - w.others.begin());
  w.others.push_back(x_.divergence.copy_of_now());
  x_.divergence.take(index);
}

template <bool kWaits>
void RunningBlock::record(const MicroOp& op, std::uint32_t executed) {
  const std::size_t sets = executed == 0 ? 0 : op.address_sets;
  const work::Transfer* moved = op.transfers ? &x_.transfer : nullptr;
  work::WarpRecorder& recorder = *x_.warp->recorder;
  if constexpr (kWaits) {
    recorder.record(x_.pc, x_.active, executed, {x_.addresses.data(), sets}, x_.value, spins_.awaited(),
                    moved);
  } else {
    recorder.record(x_.pc, x_.active, executed, {x_.addresses.data(), sets}, x_.value, {}, moved);
  }
}

void RunningBlock::look_for_reads(std::uint32_t executed) {
  UnreadWords& words = x_.memory.unread();
  while (!words.empty()) {
    const UnreadWords::Word* word =
        words.read_by(*x_.launch().context.program, x_.pc, x_.warp->index, executed);
    if (word == nullptr) return;
    const isa::Instruction& reader = x_.launch().context.program->code[x_.pc];
    const std::uint32_t reads = std::exchange(x_.pc, word->load);  // the fault is the load's
    x_.memory.tell(
        word->kind, std::countr_zero(word->lanes),
        fmt::format("{}; it is read on at offset 0x{:x} '{}'", word->what, reader.offset, reader.text));
    x_.pc = reads;
  }
}

template <bool kRecording, bool kWaits, bool kFollows>
Stop RunningBlock::run_warp(std::uint64_t budget) {
  Warp& w = *x_.warp;
  const MicroOp* code = x_.launch().translation->compiled.code.data();
  const std::uint32_t size = static_cast<std::uint32_t>(x_.launch().translation->compiled.code.size());
  const std::uint32_t* predicates = w.predicates.data();
  std::uint64_t lanes_now = static_cast<std::uint64_t>(std::popcount(x_.active));
  x_.turn = false;
  if constexpr (kWaits) spins_.begin_turn();
  const auto record = [&]([[maybe_unused]] const MicroOp& op, [[maybe_unused]] std::uint32_t executed) {
    if constexpr (kRecording) this->record<kWaits>(op, executed);
  };
  const auto take_up = [&] {  // where the warp is now, maybe with other lanes
    x_.pc = w.now.pc;
    x_.active = w.now.lanes;
    lanes_now = static_cast<std::uint64_t>(std::popcount(x_.active));
  };
  for (std::uint64_t left = budget; left != 0; --left) {
    if (x_.pc >= size) {
      x_.pc = size - 1;
      x_.fault(FaultKind::illegal_instruction, std::countr_zero(x_.active),
               "ran past the end of the kernel's code");
    }
    if constexpr (kWaits) spins_.look();
    const MicroOp& op = code[x_.pc];
    const std::uint32_t executed = x_.active & (predicates[op.guard.slot] ^ op.guard.invert);
    if constexpr (kFollows) look_for_reads(executed);
    ++x_.progress.issued;
    thread_instructions_ += lanes_now;
    switch (op.kind) {
      case Kind::lane:
        if (executed != 0) op.lane(x_.frame, op, op.uniform ? ~0u : executed);
        record(op, executed);
        ++x_.pc;
        break;
      case Kind::warp:
        if (executed != 0) {
          if constexpr (kWaits) {
            if (!spins_.before_access(op, executed)) op.warp(x_, op, executed);
            if (!x_.counted) spins_.after_access(op, executed);
          } else {
            op.warp(x_, op, executed);
          }
          if (op.progress && !x_.counted && !std::exchange(x_.progress.in_vain, false)) x_.progress.note();
        }
        if (!x_.again) {
          record(op, executed);
          ++x_.pc;
        }
        x_.again = false;
        if (std::exchange(x_.counted, false)) {  // others first; it is asked again
          --x_.progress.issued;
          thread_instructions_ -= lanes_now;
          w.now.pc = x_.pc;
          return Stop::budget;
        }
        if (x_.turn) {  // an awaited event has not come: as YIELD
          x_.turn = false;
          w.now.pc = x_.pc - 1;
          if (!x_.divergence.yield() && x_.stop != Stop::done) return x_.stop;
          take_up();
        }
        if constexpr (!kFollows) {
          if (!x_.memory.unread().empty()) {
            w.now.pc = x_.pc;
            return run_warp<kRecording, kWaits, true>(left - 1);
          }
        }
        break;
      case Kind::nothing:
        record(op, executed);
        ++x_.pc;
        break;
      default: {
        w.now.pc = x_.pc;
        if (op.kind == Kind::block_barrier && executed != w.live && x_.barriers.let_others_come(executed)) {
          take_up();
          break;
        }
        if (op.value_recorded && op.kind == Kind::warpsync) {
          x_.value = x_.divergence.masks_of(op, executed);
        } else if (op.value_recorded) {
          x_.barriers.note_value(op, executed);
        }
        const bool may_repeat = op.kind == Kind::branch_indirect;  // a call that has to wait is not recorded
        if (!may_repeat) record(op, executed);
        const bool goes_on = execute_control(x_, op, executed);
        if (may_repeat && !std::exchange(x_.again, false)) record(op, executed);
        if constexpr (kWaits) spins_.forget(x_.pc);
        take_up();
        if (!goes_on) return x_.stop;
        break;
      }
    }
  }
  w.now.pc = x_.pc;
  return Stop::budget;
}

}  // namespace foretrace::emulate
