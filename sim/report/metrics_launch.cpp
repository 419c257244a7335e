// Metrics of time, of the launch as it was asked for, and of occupancy.
#include "sim/report/metric_tables.h"

namespace foretrace::report {
namespace {

using P = const Prediction&;

/// Nsight Compute reports no fewer: the driver allocates at least 16 registers per thread (measured on an
/// H100).
constexpr std::uint32_t kLeastRegisters = 16;

double block_warps(P p) { return number((p.block.count() + kWarpSize - 1) / kWarpSize); }

}  // namespace

std::vector<Metric> launch_metrics() {
  return {
      {"gpc__cycles_elapsed.max", "cycle",
       "SM cycles from the launch to the end of its last block and the drain",
       [](P p) { return Value(number(p.counters.elapsed)); }},
      {"gpu__time_duration.sum", "ns", "time from the launch to its end at the stated SM clock",
       [](P p) { return p.gpu->clock.sm > 0 ? Value(1e9 * seconds(p)) : Value(); }},
      {"sm__cycles_active.avg", "cycle", "cycles with a resident warp, mean over all SMs",
       [](P p) { return ratio(number(p.counters.sm_active), p.counters.sms); }},
      {"sm__cycles_active.max", "cycle", "cycles with a resident warp of the busiest SM",
       [](P p) { return Value(number(p.counters.sm_active_max)); }},
      {"gpc__cycles_elapsed.avg.per_second", "hz", "SM clock",
       [](P p) { return Value(number(p.gpu->clock.sm)); }},
      {"lts__cycles_elapsed.avg.per_second", "hz", "clock of L2 and its network",
       [](P p) { return Value(number(p.gpu->clock.l2)); }},
      {"dram__cycles_elapsed.avg.per_second", "hz", "DRAM command clock",
       [](P p) { return Value(number(p.gpu->clock.dram)); }},

      {"launch__grid_size", "", "blocks of the grid", [](P p) { return Value(number(p.grid.count())); }},
      {"launch__block_size", "", "threads of a block", [](P p) { return Value(number(p.block.count())); }},
      {"launch__thread_count", "thread", "threads of the grid",
       [](P p) { return Value(number(p.grid.count() * p.block.count())); }},
      {"launch__registers_per_thread", "register/thread", "registers allocated per thread, at least 16",
       [](P p) { return Value(number(std::max(p.program->registers, kLeastRegisters))); }},
      {"launch__shared_mem_per_block_static", "byte/block", "static shared memory per block",
       [](P p) { return Value(number(p.program->static_shared)); }},
      {"launch__shared_mem_per_block_dynamic", "byte/block", "dynamic shared memory per block",
       [](P p) { return Value(number(p.dynamic_shared)); }},
      {"launch__shared_mem_per_block_driver", "byte/block", "shared memory the driver takes of each block",
       [](P p) { return Value(number(p.gpu->limits.shared_reserved)); }},
      {"launch__shared_mem_config_size", "byte", "part of the unified L1 set aside as shared memory",
       [](P p) { return Value(number(p.occupancy.shared_config)); }},
      {"launch__occupancy_limit_registers", "block", "blocks per SM that the registers allow",
       [](P p) { return Value(number(p.occupancy.limit_registers)); }},
      {"launch__occupancy_limit_shared_mem", "block", "blocks per SM that the shared memory allows",
       [](P p) { return Value(number(p.occupancy.limit_shared_mem)); }},
      {"launch__occupancy_limit_warps", "block", "blocks per SM that the warp slots allow",
       [](P p) { return Value(number(p.occupancy.limit_warps)); }},
      {"launch__occupancy_limit_blocks", "block", "blocks per SM that the block slots allow",
       [](P p) { return Value(number(p.occupancy.limit_blocks)); }},
      {"launch__occupancy_limit_barriers", "block", "blocks per SM that the named barriers allow",
       [](P p) { return Value(number(p.occupancy.limit_barriers)); }},
      {"launch__waves_per_multiprocessor", "", "grid over the blocks that all SMs hold at a time",
       [](P p) { return ratio(number(p.grid.count()), number(p.occupancy.blocks) * p.counters.sms); }},
      {"sm__maximum_warps_per_active_cycle_pct", "%", "theoretical occupancy: resident warps over warp slots",
       [](P p) { return percent(p.occupancy.warps, p.gpu->limits.warps); }},
      {"sm__warps_active.avg.pct_of_peak_sustained_active", "%",
       "achieved occupancy: mean resident warps of an active SM over its warp slots",
       [](P p) {
         return percent(number(p.counters.warp_cycles), number(p.counters.sm_active) * p.gpu->limits.warps);
       }},

      {"foretrace__blocks_per_sm", "block", "blocks an SM holds: the least of the limits",
       [](P p) { return Value(number(p.occupancy.blocks)); }},
      {"foretrace__warps_per_block", "warp", "warps of a block", [](P p) { return Value(block_warps(p)); }},
      {"launch__sm_count", "SM", "SMs of the chip", [](P p) { return Value(number(p.counters.sms)); }},
      {"foretrace__launch_cycles.avg", "cycle",
       "cycles in which an SM held no warp: launch, block dispatch, tail and drain, mean over all SMs",
       [](P p) {
         const Value active = ratio(number(p.counters.sm_active), p.counters.sms);
         return active ? Value(number(p.counters.elapsed) - *active) : Value();
       }},
      {"foretrace__launch_cycles.min", "cycle",
       "cycles of the launch in which even the busiest SM held no warp",
       [](P p) {
         return Value(number(p.counters.elapsed - std::min(p.counters.elapsed, p.counters.sm_active_max)));
       }},
      {"foretrace__assumed_values", "",
       "configuration values that rest on an assumption, not on a source or a measurement",
       [](P p) { return Value(number(p.assumed_values)); }},
      {"foretrace__transferred_values", "",
       "configuration values that were found on another chip and are taken to hold on this one",
       [](P p) { return Value(number(p.transferred_values)); }},
  };
}

}  // namespace foretrace::report
