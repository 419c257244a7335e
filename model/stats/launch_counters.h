// What the simulation of one launch counts: plain fields, one add on the hot path each.
//
// Names in comments are Nsight Compute's where they mean the same; sim/report/metrics.cpp is the table that renders them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/stats/memory_counters.h"
#include "model/units/units.h"

namespace foretrace::stats {

/// Nsight Compute's warp states, smsp__average_warps_issue_stalled_<name>_per_issue_active.
enum class WarpState : std::uint8_t {
  barrier,
  branch_resolving,
  dispatch_stall,
  drain,
  gmma,
  imc_miss,
  lg_throttle,
  long_scoreboard,
  math_pipe_throttle,
  membar,
  mio_throttle,
  misc,
  no_instruction,
  not_selected,
  selected,
  short_scoreboard,
  sleeping,
  tex_throttle,
  wait
};
inline constexpr int kWarpStates = static_cast<int>(WarpState::wait) + 1;
const char* name_of(WarpState state);

using StateCycles = std::array<std::uint64_t, kWarpStates>;

/// Of one static instruction, summed over the launch.
struct InstructionCounters {
  std::uint64_t executed = 0;         ///< warp instructions
  std::uint64_t thread_executed = 0;  ///< active lanes
  std::uint64_t pred_on = 0;          ///< lanes whose guard was true
  std::uint64_t requests = 0;  ///< memory instructions with at least one lane, sent to L1 or shared memory
  std::uint64_t sectors = 0;   ///< 32-byte sectors touched (global, local)
  std::uint64_t ideal_sectors = 0;  ///< the fewest sectors that could hold the bytes the lanes asked for
  std::uint64_t wavefronts =
      0;  ///< data-stage passes by the rule (shared memory: by addresses; global: data wavefronts)
  std::uint64_t ideal_wavefronts = 0;  ///< floor of the access width
  std::uint64_t l1_hit_sectors = 0;
  StateCycles stalled{};  ///< warp-cycles spent with this instruction next, by state
};

/// Sums over all SMs unless a comment says otherwise.
struct LaunchCounters {
  // Time
  Cycle elapsed = 0;            ///< gpc__cycles_elapsed.max: launch to drain, SM cycles
  std::uint64_t sm_active = 0;  ///< sum over SMs of cycles with a resident warp: sm__cycles_active
  Cycle sm_active_max = 0;
  std::uint32_t sms = 0;  ///< SMs of the chip
  // Issue
  std::uint64_t inst_executed = 0, thread_inst_executed = 0, thread_inst_pred_on = 0;
  std::uint64_t issue_active = 0;  ///< scheduler cycles that issued
  std::uint64_t scheduler_cycles =
      0;  ///< schedulers x cycles their SM was active; = issue_active + sum of idle_reason
  std::array<std::uint64_t, 4>
      idle_reason{};  ///< scheduler cycles without issue: no warp resident, no eligible warp, pipe or operand busy (dispatch), warps throttled
  std::uint64_t warp_cycles = 0;  ///< sum over cycles of resident warps; = sum of state
  StateCycles state{};
  std::array<std::uint64_t, spec::kPipes>
      pipe_inst{};  ///< sm__inst_executed_pipe_*; FMA split as it was issued
  std::array<std::uint64_t, spec::kPipes>
      pipe_busy{};  ///< cycles a pipe's input was taken, summed over sub-cores
  // Memory instructions
  std::uint64_t inst_shared_ld = 0, inst_shared_st = 0, inst_shared_atom = 0;
  std::uint64_t inst_global_ld = 0, inst_global_st = 0, inst_global_atom = 0, inst_global_red = 0;
  std::uint64_t inst_local_ld = 0, inst_local_st = 0, inst_async_copy = 0, inst_matrix_ld = 0;
  // L1, requests and sectors by kind: l1tex__t_{requests,sectors}_pipe_lsu_mem_{global,local}_op_{ld,st}
  std::uint64_t l1_requests_global_ld = 0, l1_requests_global_st = 0, l1_requests_local_ld = 0,
                l1_requests_local_st = 0;
  std::uint64_t l1_requests_global_atom = 0, l1_requests_global_red = 0;
  std::uint64_t l1_sectors_global_ld = 0, l1_sectors_global_st = 0, l1_sectors_local_ld = 0,
                l1_sectors_local_st = 0;
  std::uint64_t l1_sectors_global_atom = 0, l1_sectors_global_red = 0;
  std::uint64_t l1_hits_global_ld = 0, l1_hits_global_st = 0, l1_hits_local_ld = 0,
                l1_hits_local_st = 0;    ///< sectors
  std::uint64_t l1_tag_cycles = 0;       ///< cycles the tag stage was busy
  std::uint64_t l1_data_wavefronts = 0;  ///< cycles the data stage was busy, shared and global
  // Shared memory: by the rule, and what arbitration added
  std::uint64_t shared_wavefronts_ld = 0, shared_wavefronts_st = 0, shared_wavefronts_atom = 0;
  std::uint64_t shared_wavefronts_product = 0;  ///< by warpgroup products
  std::uint64_t shared_ideal_ld = 0, shared_ideal_st = 0, shared_ideal_atom = 0;
  std::uint64_t shared_contention_ld = 0,
                shared_contention_st = 0;  ///< extra data-stage passes by arbitration with other traffic
  // Instruction and constant caches
  std::uint64_t l1i_misses = 0, constant_l0_misses = 0, constant_l1_misses = 0;
  std::uint64_t constant_l1_replays =
      0;  ///< LDC that found its line not there yet and went to the cache again
  std::uint64_t register_bank_conflict_cycles = 0;
  std::uint64_t branches = 0, divergent_branches = 0;
  // Blocks
  std::uint64_t blocks = 0;
  std::uint64_t barriers_waited = 0;
  MemoryCounters memory;
  std::vector<InstructionCounters> instructions;  ///< by index in Program::code
  std::vector<Cycle> sm_active_each;              ///< by SM: sm__cycles_active of each
};

}  // namespace foretrace::stats
