// A block's life: its warps take turns, wait for each other at barriers (barriers.cpp), and end or fail.
//
// Models:  a turn of 65,536 instructions unless the warp waits; special registers by the numbers that S2R encodes.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/schedule/cluster.h"

namespace foretrace::emulate {

namespace {

/// Warp instructions a warp runs before another has its turn.
constexpr std::uint64_t kSlice = 1 << 16;

Dim3 at(std::uint64_t linear, const Dim3& extent) {
  const std::uint64_t x = linear % extent.x, rest = linear / extent.x;
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(rest % extent.y),
          static_cast<std::uint32_t>(rest / extent.y)};
}

}  // namespace

Execution::Execution(const Emulator::Launch& launch, std::uint64_t block, work::BlockRecord* record)
    : launch_(launch), block_(block), block_index_(at(block, launch.context.grid)),
      memory_(*launch.context.memory), warps_(launch.warps), shared_(launch.shared_bytes + 16) {
  const Dim3 shape = launch.context.cluster;
  cluster_rank_ =
      block_index_.x % shape.x + shape.x * (block_index_.y % shape.y + shape.y * (block_index_.z % shape.z));
  const Checks& checks = launch.context.checks;
  if (checks.uninitialized || checks.races) {
    shared_checks_ =
        std::make_unique<SharedChecks>(launch.shared_bytes, launch.warps, checks.uninitialized, checks.races);
  }
  checks_global_ = checks.uninitialized && memory_.tracks_writes();
  if (launch.context.time_limit > 0) started_ = std::chrono::steady_clock::now();
  const Compiled& compiled = launch.translation->compiled;
  const std::size_t uniform_words = kFirstUniformWord + std::size_t{compiled.uniform_registers} * 32;
  const std::size_t per_warp = compiled.register_words + uniform_words;
  files_ = LaneWords(per_warp * launch.warps);
  if (record != nullptr) {
    record->block = block;
    record->warps.assign(launch.warps, {});
  }
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
    if (record != nullptr)
      w.recorder = std::make_unique<work::WarpRecorder>(launch.translation->shapes, record->warps[i]);
  }
}

void Execution::give_turn(Warp& w, std::uint64_t slice) {
  enter(w);
  const bool waits = !launch_.translation->shapes.loops.empty();
  const Stop stop = !w.recorder ? run_warp<false, false>(slice)
                    : waits     ? run_warp<true, true>(slice)
                                : run_warp<true, false>(slice);
  if (stop == Stop::done) {
    ++done_;
    if (w.recorder) w.recorder->finish();
    complete_barriers();  // those that have ended are not waited for
    if (cluster_ != nullptr) cluster_->complete_phase();
  }
  if (launch_.context.max_instructions != 0 && issued_ > launch_.context.max_instructions) {
    fault(FaultKind::never_ends, std::countr_zero(w.now.lanes),
          fmt::format("more than {} warp instructions in one block", launch_.context.max_instructions));
  }
  if (launch_.context.time_limit > 0 &&
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count() >
          launch_.context.time_limit) {
    fault(FaultKind::never_ends, w.now.lanes != 0 ? std::countr_zero(w.now.lanes) : 0,
          fmt::format("the block has not ended after {} seconds on the host", launch_.context.time_limit));
  }
}

bool Execution::run_turn(std::uint64_t slice) {
  bool some = false;
  for (Warp& w : warps_) {
    if (w.state != WarpState::ready) continue;
    some = true;
    give_turn(w, slice);
  }
  if (!some && done_ < warps_.size()) fault_impossible_barrier();
  if (issued_ - progress_at_ > launch_.context.idle_limit) fault_never_ends(issued_ - progress_at_);
  return done_ == warps_.size();
}

bool Execution::run(std::uint64_t patience, bool leaves_polling) {
  progress_at_ = resumed_at_ =
      issued_;  // what was idle before may have been waiting for what has happened since
  while (done_ < warps_.size()) {
    bool some = false;
    const std::uint64_t round = issued_;
    std::uint64_t ready = 0;
    for (Warp& w : warps_) {
      if (w.state != WarpState::ready) continue;
      some = true;
      ++ready;
      give_turn(w, kSlice);
      if (issued_ - progress_at_ > patience) return false;
    }
    if (leaves_polling && progress_at_ <= round && polls_ >= kPolls * ready && done_ < warps_.size())
      return false;
    if (!some && done_ < warps_.size()) {
      if (cluster_ != nullptr) return false;  // another block has to come to the cluster's barrier
      fault_impossible_barrier();
    }
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

void Execution::enter(Warp& w) {
  warp = &w;
  frame.file[static_cast<int>(File::registers)] = w.registers;
  frame.file[static_cast<int>(File::uniform)] = w.uniforms;
  frame.file[static_cast<int>(File::literal)] = launch_.literals.data();
  frame.predicates = w.predicates.data();
  pc = w.now.pc;
  active = w.now.lanes;
}

template <bool kRecording, bool kWaits>
Stop Execution::run_warp(std::uint64_t budget) {
  Warp& w = *warp;
  const MicroOp* code = launch_.translation->compiled.code.data();
  const std::uint32_t size = static_cast<std::uint32_t>(launch_.translation->compiled.code.size());
  work::WarpRecorder* recorder = w.recorder.get();
  const std::uint32_t* predicates = w.predicates.data();
  std::uint64_t lanes_now = static_cast<std::uint64_t>(std::popcount(active));
  turn = false;
  const auto record = [&](const MicroOp& op, std::uint32_t executed) {
    if constexpr (kRecording) {
      const std::size_t sets = executed == 0 ? 0 : op.address_sets;
      const work::Transfer* moved = op.transfers ? &transfer : nullptr;
      if constexpr (kWaits) {
        recorder->record(pc, active, executed, {addresses.data(), sets}, value, awaited_, moved);
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
    if constexpr (kWaits) look_for_round();
    const MicroOp& op = code[pc];
    const std::uint32_t executed = active & (predicates[op.guard.slot] ^ op.guard.invert);
    ++issued_;
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
            if (!before_access(op, executed)) op.warp(*this, op, executed);
            after_access(op, executed);
          } else {
            op.warp(*this, op, executed);
          }
          if (op.progress) note_progress();
        }
        if (!again) {
          record(op, executed);
          ++pc;
        }
        again = false;
        if (turn) {  // an awaited event has not come: as YIELD
          turn = false;
          w.now.pc = pc - 1;
          if (!yield()) {
            if (stop_ != Stop::done) return stop_;
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
        if (op.kind == Kind::block_barrier && executed != w.live && leave_at_barrier(executed)) {
          pc = w.now.pc;
          active = w.now.lanes;
          lanes_now = static_cast<std::uint64_t>(std::popcount(active));
          break;
        }
        if (op.value_recorded) note_barrier_value(op, executed);
        record(op, executed);
        const bool goes_on = control(op, executed);
        if constexpr (kWaits) forget_round(pc);
        pc = w.now.pc;
        active = w.now.lanes;
        if (!goes_on) return stop_;
        lanes_now = static_cast<std::uint64_t>(std::popcount(active));
        break;
      }
    }
  }
  w.now.pc = pc;
  // A group that runs for long gives the warp's other groups a turn; so a loop that waits for them ends.
  if (!w.others.empty()) {
    if (issued_ - progress_at_ > 16 * kSlice) {
      w.now.pc = pc - 1;
      yield();
    } else {
      const auto other =
          std::find_if(w.others.begin(), w.others.end(), [](const Group& g) { return g.wait == Wait::none; });
      if (other != w.others.end()) {
        const auto index = static_cast<std::size_t>(other - w.others.begin());
        w.others.push_back(copy_of_now());
        take(index);
      }
    }
  }
  return Stop::budget;
}

bool Execution::may_wait() {
  // Other blocks' progress is not seen here: they need a few turns.
  constexpr std::uint32_t kMostWaits = 64;
  Warp& w = *warp;
  if (w.waited_at != progress_) w.waits = 0;
  w.waited_at = progress_;
  if (++w.waits > kMostWaits) {
    w.waits = 0;
    return false;
  }
  ++polls_;
  turn = again = true;
  return true;
}

Dim3 Execution::thread_index(int lane) const {
  return at(std::uint64_t{warp->index} * 32 + static_cast<unsigned>(lane), launch_.context.block);
}

std::uint32_t Execution::special_register(std::uint32_t index, int lane) const {
  const std::uint32_t below = (1u << lane) - 1, self = 1u << lane;
  switch (index) {
    case 0: return static_cast<std::uint32_t>(lane);
    case 1: return static_cast<std::uint32_t>(clock());
    case 2: return launch_.warps << 8;  // VIRTCFG: warps of the block as resident warps
    case 3: return warp->index << 8;    // VIRTID: warp slot
    case 33: return thread_index(lane).x;
    case 34: return thread_index(lane).y;
    case 35: return thread_index(lane).z;
    case 37: return block_index().x;
    case 38: return block_index().y;
    case 39: return block_index().z;
    case 46: return static_cast<std::uint32_t>(kLocalWindow >> 32);
    case 47: return static_cast<std::uint32_t>(kSharedWindow >> 32);
    case 48: return static_cast<std::uint32_t>(kSharedWindow);
    case 50: return launch_.shared_bytes;
    case 52: return static_cast<std::uint32_t>(kLocalWindow);
    case 55: return 0;  // LMEMHIOFF: a bound that the stack pointer never reaches
    case 56: return self;
    case 57: return below;
    case 58: return below | self;
    case 59: return ~(below | self);
    case 60: return ~below;
    case 67: return 0;  // VIRTUALSMID
    case 80: return static_cast<std::uint32_t>(clock());
    case 81: return static_cast<std::uint32_t>(clock() >> 32);
    case 82: return static_cast<std::uint32_t>(clock());
    case 83: return static_cast<std::uint32_t>(clock() >> 32);
    case 136: return cluster_rank_;  // CgaCtaId
    case 138: return 0;              // CgaSize: constant bank 0 has it
    case 255: return 0;
    default: break;
  }
  fault(FaultKind::unsupported, lane, fmt::format("unsupported special register SR{}", index));
}

/// The line that says where: kernel, block, thread, instruction, source line; and what.
std::string Execution::fault_text(int lane, const std::string& what) const {
  const isa::Program& program = *launch_.context.program;
  const isa::Instruction& i = program.code[std::min<std::size_t>(pc, program.code.size() - 1)];
  const Dim3 b = block_index(), t = thread_index(lane < 32 ? lane : 0);
  std::string source;
  if (i.file != 0 && i.file <= program.files.size())
    source = fmt::format(", {}:{}", program.files[i.file - 1], i.line);
  return fmt::format("kernel {}, block ({},{},{}), thread ({},{},{}), offset 0x{:x} '{}'{}: {}",
                     program.kernel, b.x, b.y, b.z, t.x, t.y, t.z, i.offset, i.text, source, what);
}

void Execution::fault(FaultKind kind, int lane, const std::string& what) const {
  const std::string line = fault_text(lane, what);
  const isa::Program& program = *launch_.context.program;
  throw KernelFault(kind, line, block_,
                    program.code[std::min<std::size_t>(pc, program.code.size() - 1)].offset);
}

}  // namespace foretrace::emulate
