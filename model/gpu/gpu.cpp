#include "model/gpu/gpu.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/gpu/grid.h"
#include "model/gpu/memory_service.h"
#include "model/gpu/over_time.h"
#include "model/gpu/sm_array.h"
#include "model/support/team.h"
#include "model/units/error.h"
#include "model/work/address_space.h"

namespace foretrace::gpu {

namespace {

/// The laws that hold in every run, whatever it simulated.
void check_conservation(const stats::LaunchCounters& counters) {
  const auto sum = [](const auto& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  };
  FORETRACE_ASSERT(counters.scheduler_cycles == counters.issue_active + sum(counters.idle_reason),
                   "each scheduler cycle either issues or has one reason why not");
  FORETRACE_ASSERT(counters.warp_cycles == sum(counters.state),
                   "each resident warp is in exactly one state at any cycle");
  FORETRACE_ASSERT(counters.issue_active == counters.inst_executed,
                   "one instruction per scheduler cycle that issues");
}

/// What the caller is told of a run, and what it decides.
class RunMonitor {
 public:
  explicit RunMonitor(const LaunchSetup& setup) : setup_(setup) {}
  /// After each window; `look` makes the snapshot.
  template <typename Look>
  void window_ended(Cycle now, Grid& grid, Look&& look) {
    if (setup_.progress && ++windows_ % 64 == 0) setup_.progress(grid.ended(), now);
    if (!setup_.watch || now - watched_ < setup_.watch_interval) return;
    watched_ = now;
    const Verdict verdict = setup_.watch(look());
    grid.skip(verdict.skip);
    stopped_ = verdict.stop;
  }
  bool stopped() const { return stopped_; }

 private:
  const LaunchSetup& setup_;
  std::uint64_t windows_ = 0;
  Cycle watched_ = 0;
  bool stopped_ = false;
};

/// Whether the memory system serves a window's requests while SMs simulate the next one. Not where something is looked at between
/// windows: blocks of a cluster, what a load of a spin loop waits for when it is sent, a simulation that may be stopped. With one
/// thread there is nothing to gain.
bool serves_beside(const sm::StaticProgram& program, const LaunchSetup& setup) {
  return setup.threads > 1 && !setup.watch && !setup.timeline && !setup.clusters() &&
         program.shapes.loops.empty();
}

/// Whether windows end at the instants at which a launch is looked at. One whose warps wait for each other is looked at where its windows
/// end.
bool at_instants(const sm::StaticProgram& program, const LaunchSetup& setup) {
  return !setup.clusters() && program.shapes.loops.empty();
}

void begin_launch(memory::MemorySystem& memory, const LaunchSetup& setup) {
  memory.set_peer(setup.peer);
  if (setup.l2) return memory.begin_launch(*setup.l2);
  memory.begin_launch(setup.warm);
}

/// The next time at which anything happens; nothing in between needs a window. kNever: all is done, or warps wait.
Cycle next_event(const MemoryService& memory, SmArray& sms, const Grid& grid, Cycle now) {
  return std::min({memory.next_event(), sms.next_event(now), grid.next_event()});
}

}  // namespace

Gpu::Gpu(const spec::GpuSpec& spec) : spec_(spec), memory_(spec_), code_caches_(spec_) {}
Gpu::~Gpu() = default;

Cycle Gpu::lookahead() const {
  return std::max<Cycle>(1, std::min<Cycle>({memory_.lookahead(), code_caches_.lookahead(),
                                             spec_.launch.block_end + spec_.launch.block_start}));
}

Cycle Gpu::window_of(const LaunchSetup& setup, bool beside) const {
  Cycle window = setup.window ? std::min(setup.window, lookahead()) : lookahead();
  if (setup.clusters())
    window = std::min<Cycle>({window, spec_.cluster.hop_latency, spec_.cluster.barrier_latency});
  return beside ? std::min(window, memory_.lookahead() / 2) : window;
}

stats::LaunchCounters Gpu::run(const sm::StaticProgram& program, const LaunchSetup& setup,
                               work::BlockSource& source) {
  FORETRACE_ASSERT(setup.blocks_per_sm > 0, "a launch fits on an SM");
  const bool beside = serves_beside(program, setup);
  Cycle window = window_of(setup, beside);
  begin_launch(memory_, setup);
  code_caches_.begin_launch(work::kCodeBase, program.code.size() * kInstructionBytes);
  Grid grid(spec_, setup, source);
  SmArray sms(spec_, program, setup, code_caches_);
  MemoryService memory(memory_, sms, setup.timeline);
  RunMonitor monitor(setup);
  OverTime over_time(!setup.watch);
  const auto between_windows = [&](Cycle at) {
    memory.serve(at);  // it is ahead of the SMs by the way to it, always by the same
    return instant(at, grid, sms);
  };
  support::Team team(std::max(1, setup.threads));
  Cycle now = 0;
  while (!monitor.stopped()) {
    grid.place(now, sms);
    // While SMs have something to do, the memory system serves the window before beside them: it answers after this one.
    const bool serves = memory.behind(now) && sms.busy_before(now + window);
    if (!serves) {
      if (memory.behind(now)) memory.serve(now);
      const Cycle next = next_event(memory, sms, grid, now);
      if (next == kNever && sms.let_go(now)) continue;  // warps waited for what will never come
      if (next == kNever) break;
      if (next > now) {  // what the memory system does meanwhile may answer within the next window
        over_time.look_back(next, between_windows);
        memory.serve(now = next);
      }
    }
    const Cycle until = at_instants(program, setup) ? std::min(now + window, over_time.next()) : now + window;
    sms.advance(team, until, [&] {
      if (serves) memory.work(now);
    });
    sms.exchange();
    if (serves) memory.hand_out();
    memory.take(now, until);
    if (!beside || over_time.next() <= until) memory.serve(until);
    grid.take(sms.ends());
    now = until;
    if (over_time.next() <= now) over_time.add(instant(now, grid, sms));
    monitor.window_ended(now, grid, [&] { return look(now, grid, sms); });
  }
  if (setup.timeline) setup.timeline->finish();
  // Stores are acknowledged while the launch drains: they make it longer only where they take longer than that (measured: an empty
  // kernel and one that stores differ by their SMs' active cycles alone).
  const Cycle end = monitor.stopped() ? now : std::max(grid.settled() + spec_.launch.drain, sms.last_reply());
  over_time.look_back(end, between_windows);
  stats::LaunchCounters counters = counters_of(sms, program, now, monitor.stopped());
  counters.elapsed = end;
  FORETRACE_ASSERT(monitor.stopped() || counters.blocks + grid.skipped() == grid.blocks(),
                   "every block of the grid ran once");
  counters.over_time = over_time.closed(counters, grid.blocks(), spec_.l2.launch_sectors);
  if (setup.grid_times) *setup.grid_times = grid.times(end);
  return counters;
}

Snapshot Gpu::look(Cycle now, const Grid& grid, const SmArray& sms) const {
  Snapshot snapshot;
  snapshot.now = now;
  snapshot.placed = grid.placed();
  snapshot.ended = grid.ended();
  snapshot.memory = memory_.counters();
  code_caches_.count(snapshot.memory);
  sms.count(snapshot);
  return snapshot;
}

stats::Instant Gpu::instant(Cycle now, const Grid& grid, const SmArray& sms) const {
  stats::Instant instant;
  instant.now = now;
  instant.ended = grid.ended();
  const stats::MemoryCounters& counted = memory_.counters();
  instant.l2_sectors = counted.lts_sectors;
  instant.dram_bytes = counted.dram_bytes_read + counted.dram_bytes_write;
  sms.count(instant);
  return instant;
}

stats::LaunchCounters Gpu::counters_of(SmArray& sms, const sm::StaticProgram& program, Cycle now,
                                       bool stopped) const {
  stats::LaunchCounters counters;
  counters.sms = spec_.sm.count;
  counters.instructions.resize(program.code.size());
  sms.finish(now, stopped, counters);
  counters.memory = memory_.counters();
  code_caches_.count(counters.memory);
  counters.memory.lts_sectors += spec_.l2.launch_sectors;
  counters.memory.lts_sectors_hit += spec_.l2.launch_hits;
  check_conservation(counters);
  return counters;
}

}  // namespace foretrace::gpu
