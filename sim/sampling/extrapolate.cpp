#include "sim/sampling/extrapolate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "sim/sampling/constants.h"

namespace foretrace::sampling {

namespace {

std::uint64_t whole(double x) { return x <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(x)); }
double real(std::uint64_t x) { return static_cast<double>(x); }
double ratio(std::uint64_t a, std::uint64_t b, double otherwise = 1) {
  return b ? real(a) / real(b) : otherwise;
}

bool is_store(const sm::StaticInstruction& instruction) {
  return instruction.form.access == isa::Access::store ||
         instruction.form.access == isa::Access::matrix_store;
}

/// Per instruction: the survey's sums, and hits and stall cycles as often as the simulated executions had them.
void extend_instructions(stats::LaunchCounters& into, const stats::LaunchCounters& simulated,
                         const sm::StaticProgram& program) {
  into.l1_hits_global_ld = into.l1_hits_global_st = into.l1_hits_local_ld = into.l1_hits_local_st = 0;
  into.l1_hits_texture = 0;
  for (std::size_t i = 0; i < into.instructions.size(); ++i) {
    stats::InstructionCounters& row = into.instructions[i];
    const stats::InstructionCounters& seen = simulated.instructions[i];
    row.l1_hit_sectors =
        std::min(row.sectors, whole(real(seen.l1_hit_sectors) * ratio(row.sectors, seen.sectors, 0)));
    const double more = ratio(row.executed, seen.executed, 0);
    for (std::size_t s = 0; s < row.stalled.size(); ++s) row.stalled[s] = whole(real(seen.stalled[s]) * more);
    const sm::StaticInstruction& instruction = program.code[i];
    if (instruction.action != sm::Action::memory) continue;
    const bool local = instruction.form.space == isa::Space::local;
    if (instruction.form.texture) {
      into.l1_hits_texture += row.l1_hit_sectors;
      continue;
    }
    auto& hits = is_store(instruction) ? (local ? into.l1_hits_local_st : into.l1_hits_global_st)
                                       : (local ? into.l1_hits_local_ld : into.l1_hits_global_ld);
    hits += row.l1_hit_sectors;
  }
}

/// Warp states: as many warp-cycles as the SMs' active cycles hold at the occupancy that was seen, in the proportions of the instructions.
void extend_states(stats::LaunchCounters& into, const stats::LaunchCounters& simulated) {
  constexpr auto kSelected = static_cast<std::size_t>(stats::WarpState::selected);
  double others = 0;
  for (const auto& row : into.instructions) {
    others += real(std::accumulate(row.stalled.begin(), row.stalled.end(), std::uint64_t{0}) -
                   row.stalled[kSelected]);
  }
  const double wanted =
      real(into.sm_active) * ratio(simulated.warp_cycles, simulated.sm_active) - real(into.inst_executed);
  const double scale = others > 0 ? std::max(0.0, wanted) / others : 0;
  into.state = {};
  for (auto& row : into.instructions) {
    for (std::size_t s = 0; s < row.stalled.size(); ++s) {
      row.stalled[s] = s == kSelected ? row.executed : whole(real(row.stalled[s]) * scale);
      into.state[s] += row.stalled[s];
    }
  }
  into.warp_cycles = std::accumulate(into.state.begin(), into.state.end(), std::uint64_t{0});
}

void extend_time(stats::LaunchCounters& into, const stats::LaunchCounters& simulated, Cycle elapsed,
                 Cycle idle_at_end) {
  into.elapsed = elapsed;
  into.sms = simulated.sms;
  const Cycle after =
      elapsed > simulated.elapsed + idle_at_end ? elapsed - simulated.elapsed - idle_at_end : 0;
  for (const Cycle active : simulated.sm_active_each) {
    const Cycle all = active ? active + after : 0;
    into.sm_active_each.push_back(all);
    into.sm_active += all;
    into.sm_active_max = std::max(into.sm_active_max, all);
  }
  into.issue_active = into.inst_executed;
  const double schedulers = ratio(simulated.scheduler_cycles, simulated.sm_active);
  const double idle = std::max(0.0, schedulers * real(into.sm_active) - real(into.issue_active));
  const auto seen =
      std::accumulate(simulated.idle_reason.begin(), simulated.idle_reason.end(), std::uint64_t{0});
  for (std::size_t i = 0; i < into.idle_reason.size(); ++i)
    into.idle_reason[i] = whole(idle * ratio(simulated.idle_reason[i], seen, 0));
  into.scheduler_cycles =
      into.issue_active + std::accumulate(into.idle_reason.begin(), into.idle_reason.end(), std::uint64_t{0});
}

/// Pipes: instructions that have one pipe by the survey; those that take either of two as they were seen to.
void extend_pipes(stats::LaunchCounters& into, const stats::LaunchCounters& simulated,
                  const sm::StaticProgram& program) {
  std::array<std::uint64_t, spec::kPipes> fixed{}, fixed_seen{};
  std::uint64_t either = 0, either_seen = 0;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const sm::StaticInstruction& instruction = program.code[i];
    const sm::IssueClass& issue_class = program.classes[instruction.issue_class];
    const std::uint64_t all = into.instructions[i].executed, seen = simulated.instructions[i].executed;
    if (instruction.counted == issue_class.first && issue_class.second != spec::Pipe::none) {
      either += all;
      either_seen += seen;
    } else {
      fixed[static_cast<std::size_t>(instruction.counted)] += all;
      fixed_seen[static_cast<std::size_t>(instruction.counted)] += seen;
    }
  }
  for (std::size_t p = 0; p < into.pipe_inst.size(); ++p) {
    const std::uint64_t seen = simulated.pipe_inst[p];
    into.pipe_inst[p] =
        fixed[p] + whole(real(seen - std::min(seen, fixed_seen[p])) * ratio(either, either_seen, 0));
    into.pipe_busy[p] = whole(real(simulated.pipe_busy[p]) * ratio(into.pipe_inst[p], seen, 0));
  }
}

/// By the growth of each: what goes with the work, and what a cache that has it misses no more. Extra passes by contention: as they were,
/// and then as often as in the steady state, when fills come as they will.
void extend_sums(stats::LaunchCounters& into, const stats::LaunchCounters& simulated,
                 const SteadyRate& rate) {
  const double all = ratio(into.inst_executed, simulated.inst_executed);
  const std::uint64_t left = into.inst_executed - std::min(into.inst_executed, simulated.inst_executed);
  const double more = ratio(left, rate.to.instructions - rate.from.instructions, 0);
  const auto steady = [&](std::uint64_t gpu::Snapshot::*member) {
    return whole(more * real(rate.to.*member - rate.from.*member));
  };
  for (const auto& counter : stats::kLaunchCounters) {
    const std::uint64_t seen = simulated.*counter.member;
    switch (counter.growth) {
      case stats::Growth::with_work: into.*counter.member = whole(all * real(seen)); break;
      case stats::Growth::first_touch: into.*counter.member = seen; break;
      case stats::Growth::steady: into.*counter.member = seen; break;  // and below
      case stats::Growth::work:                                        // the survey's
      case stats::Growth::hits:                                        // extend_instructions
      case stats::Growth::time: break;                                 // extend_time, extend_states
    }
  }
  static_assert(std::count_if(std::begin(stats::kLaunchCounters), std::end(stats::kLaunchCounters),
                              [](const auto& each) { return each.growth == stats::Growth::steady; }) == 2,
                "what grows as in the steady state is in gpu::Snapshot and below");
  into.shared_contention_ld += steady(&gpu::Snapshot::shared_contention_ld);
  into.shared_contention_st += steady(&gpu::Snapshot::shared_contention_st);
}

/// What the memory system counted: as it was, and then what it did for an instruction in the steady state, for those that are left.
void extend_memory(stats::LaunchCounters& into, const stats::LaunchCounters& simulated,
                   const SteadyRate& rate, double dirty_sectors) {
  using Memory = stats::MemoryCounters;
  const std::uint64_t left = into.inst_executed - std::min(into.inst_executed, simulated.inst_executed);
  const double more = ratio(left, rate.to.instructions - rate.from.instructions, 0);
  into.memory = simulated.memory;
  for (const auto& counter : stats::kMemoryCounters) {
    if (counter.growth != stats::Growth::steady) continue;
    const std::uint64_t before = rate.from.memory.*counter.member, after = rate.to.memory.*counter.member;
    into.memory.*counter.member += whole(more * real(after - std::min(before, after)));
  }
  Memory& memory = into.memory;
  memory.read_latency = memory.segment_network + memory.segment_l2 + memory.segment_partition +
                        memory.segment_dram_queue + memory.segment_dram;
  // What is written stays in L2 until it holds as much as it may; the rest goes to DRAM.
  const double stayed = more * std::max(0.0, real(rate.to.memory.dirty_sectors_left) -
                                                 real(rate.from.memory.dirty_sectors_left));
  const double kept = std::clamp(dirty_sectors - real(memory.dirty_sectors_left), 0.0, stayed);
  memory.dirty_sectors_left += whole(kept);
  memory.dram_bytes_write += whole(stayed - kept) * kSectorBytes;
  // Stores that the simulated part had not come to: what the survey says that they write.
  const std::uint64_t stored = into.l1_sectors_global_st + into.l1_sectors_local_st;
  const std::uint64_t seen = simulated.l1_sectors_global_st + simulated.l1_sectors_local_st;
  const double written =
      seen ? real(simulated.memory.tex_sectors_write) / real(seen) * real(stored) : real(stored);
  if (written > kUnseenStores * real(memory.tex_sectors_write)) {
    const std::uint64_t missing = whole(written) - memory.tex_sectors_write;
    memory.tex_sectors_write += missing;
    memory.tex_sectors_hit += missing;
    memory.lts_sectors += missing;
    memory.lts_sectors_hit += missing;
    memory.lts_sectors_write += missing;
    memory.dram_bytes_write += missing * kSectorBytes;
  }
}

}  // namespace

stats::LaunchCounters extrapolate(const stats::LaunchCounters& simulated, const Survey& survey,
                                  const SteadyRate& rate, const sm::StaticProgram& program,
                                  double dirty_sectors, Cycle elapsed, Cycle idle_at_end) {
  stats::LaunchCounters all = survey.sums;
  extend_instructions(all, simulated, program);
  extend_time(all, simulated, elapsed, idle_at_end);
  extend_states(all, simulated);
  extend_pipes(all, simulated, program);
  extend_sums(all, simulated, rate);
  extend_memory(all, simulated, rate, dirty_sectors);
  return all;
}

}  // namespace foretrace::sampling
