// Metrics of instructions, issue, pipes and warp states.
#include <utility>

#include "sim/report/metric_tables.h"

namespace foretrace::report {
namespace {

using P = const Prediction&;
using spec::Pipe;
using stats::WarpState;

double in_state(P p, WarpState state) { return number(p.counters.state[static_cast<std::size_t>(state)]); }

template <Pipe kPipe>
Value executed_by(P p) {
  return has_pipe(p, kPipe) ? Value(pipe_inst(p, kPipe)) : Value();
}

template <Pipe kPipe>
Value busy_cycles(P p) {
  return has_pipe(p, kPipe) ? Value(pipe_busy(p, kPipe)) : Value();
}

/// Share of the sub-cores' cycles, from the launch to its end, in which the inputs of these pipes were taken.
template <Pipe... kPipe>
Value busy_share(P p) {
  const double units = kSubCores * ((has_pipe(p, kPipe) ? 1.0 : 0.0) + ... + 0.0);
  return percent((pipe_busy(p, kPipe) + ... + 0.0), units * sm_cycles(p));
}

/// Share of the cycles in which the SM's memory unit took a warp instruction.
Value memory_unit_share(P p) {
  return percent(pipe_inst(p, Pipe::lsu) * p.gpu->lsu.sm_interval, sm_cycles(p));
}

Value issue_share_elapsed(P p) { return percent(number(p.counters.issue_active), kSubCores * sm_cycles(p)); }

Value sm_throughput(P p) {
  Value most = issue_share_elapsed(p);
  for (const Value each : {busy_share<Pipe::alu, Pipe::alulite>(p), busy_share<Pipe::fmaheavy>(p),
                           busy_share<Pipe::fmalite>(p), busy_share<Pipe::fp16>(p), busy_share<Pipe::fp64>(p),
                           busy_share<Pipe::xu>(p), busy_share<Pipe::tensor>(p), busy_share<Pipe::uniform>(p),
                           busy_share<Pipe::cbu>(p), busy_share<Pipe::adu>(p), memory_unit_share(p)}) {
    most = larger(most, each);
  }
  return most;
}

template <std::size_t kIndex>
Metric stall_metric() {
  constexpr auto kState = static_cast<WarpState>(kIndex);
  const std::string name = stats::name_of(kState);
  return {"smsp__average_warps_issue_stalled_" + name + "_per_issue_active.ratio", "inst",
          "warp-cycles in state " + name + " over cycles that issued",
          [](P p) { return ratio(in_state(p, kState), number(p.counters.issue_active)); }};
}

template <std::size_t... kIndex>
void add_stall_metrics(std::vector<Metric>& table, std::index_sequence<kIndex...>) {
  (table.push_back(stall_metric<kIndex>()), ...);
}

template <int kReason>
Value idle_share(P p) {
  return percent(number(p.counters.idle_reason[kReason]), number(p.counters.scheduler_cycles));
}

}  // namespace

std::vector<Metric> compute_metrics() {
  std::vector<Metric> table = {
      {"smsp__inst_executed.sum", "inst", "warp instructions executed",
       [](P p) { return Value(number(p.counters.inst_executed)); }},
      {"smsp__thread_inst_executed.sum", "inst", "instructions times active lanes, guard true or not",
       [](P p) { return Value(number(p.counters.thread_inst_executed)); }},
      {"smsp__thread_inst_executed_pred_on.sum", "inst", "instructions times lanes whose guard was true",
       [](P p) { return Value(number(p.counters.thread_inst_pred_on)); }},
      {"smsp__thread_inst_executed_per_inst_executed.ratio", "", "active lanes per warp instruction, of 32",
       [](P p) { return ratio(number(p.counters.thread_inst_executed), number(p.counters.inst_executed)); }},
      {"sm__inst_executed.avg.per_cycle_active", "inst/cycle", "warp instructions per cycle of an active SM",
       [](P p) { return ratio(number(p.counters.inst_executed), number(p.counters.sm_active)); }},
      {"sm__inst_executed.avg.per_cycle_elapsed", "inst/cycle",
       "warp instructions per cycle of an SM, whole launch",
       [](P p) { return ratio(number(p.counters.inst_executed), sm_cycles(p)); }},
      {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "%",
       "the busiest of issue slots, pipes and the memory unit's input, share of the launch's cycles",
       sm_throughput},
      {"smsp__issue_active.avg.pct_of_peak_sustained_active", "%",
       "share of the schedulers' active cycles that issued",
       [](P p) { return percent(number(p.counters.issue_active), number(p.counters.scheduler_cycles)); }},
      {"smsp__warps_active.avg.per_cycle_active", "warp", "resident warps per scheduler",
       [](P p) { return ratio(number(p.counters.warp_cycles), number(p.counters.scheduler_cycles)); }},
      {"smsp__warps_eligible.avg.per_cycle_active", "warp", "warps per scheduler that could have issued",
       [](P p) {
         return ratio(in_state(p, WarpState::selected) + in_state(p, WarpState::not_selected),
                      number(p.counters.scheduler_cycles));
       }},
      {"sm__inst_executed_pipe_alu.sum", "inst", "warp instructions of the integer and logic pipes",
       [](P p) { return Value(pipe_inst(p, Pipe::alu) + pipe_inst(p, Pipe::alulite)); }},
      {"sm__inst_executed_pipe_fma.sum", "inst", "warp instructions of the FMA pipes, heavy and lite",
       [](P p) { return Value(pipe_inst(p, Pipe::fmaheavy) + pipe_inst(p, Pipe::fmalite)); }},
      {"sm__inst_executed_pipe_fmaheavy.sum", "inst",
       "those of the heavy FMA pipe; n/a where FMA is one pipe",
       [](P p) { return has_pipe(p, Pipe::fmalite) ? Value(pipe_inst(p, Pipe::fmaheavy)) : Value(); }},
      {"sm__inst_executed_pipe_fp64.sum", "inst", "warp instructions of the FP64 pipe",
       executed_by<Pipe::fp64>},
      {"sm__inst_executed_pipe_xu.sum", "inst", "warp instructions of the transcendental and conversion pipe",
       executed_by<Pipe::xu>},
      {"sm__inst_executed_pipe_lsu.sum", "inst", "warp instructions of the load/store pipe",
       [](P p) { return Value(pipe_inst(p, Pipe::lsu)); }},
      {"sm__inst_executed_pipe_uniform.sum", "inst", "warp instructions of the uniform pipe",
       executed_by<Pipe::uniform>},
      {"sm__inst_executed_pipe_cbu.sum", "inst", "warp instructions of the branch unit",
       executed_by<Pipe::cbu>},
      {"sm__inst_executed_pipe_adu.sum", "inst",
       "warp instructions of the address divergence unit, LDC that its cache made wait twice",
       [](P p) { return Value(pipe_inst(p, Pipe::adu) + number(p.counters.constant_l1_replays)); }},
      {"sm__inst_executed_pipe_tensor.sum", "inst", "warp instructions of the tensor pipe",
       executed_by<Pipe::tensor>},
      {"sm__pipe_tensor_cycles_active.sum", "cycle",
       "cycles of the sub-cores' tensor cores; of a warpgroup product half its columns for each warp",
       busy_cycles<Pipe::tensor>},
      {"sm__inst_executed_pipe_tex.sum", "inst",
       "warp instructions of the texture pipe: textures and surfaces", executed_by<Pipe::tex>},
      {"sm__inst_executed_pipe_tma.sum", "inst", "warp instructions of the copy engine (TMA)",
       executed_by<Pipe::tma>},
      {"sm__pipe_tma_cycles_active.sum", "cycle", "cycles that the way to the copy engine was taken",
       busy_cycles<Pipe::tma>},
  };
  add_stall_metrics(table, std::make_index_sequence<stats::kWarpStates>());

  const std::vector<Metric> own = {
      {"foretrace__warp_latency_per_issue.ratio", "cycle",
       "warp-cycles over cycles that issued: the sum of all states",
       [](P p) { return ratio(number(p.counters.warp_cycles), number(p.counters.issue_active)); }},
      {"foretrace__issue_share.pct", "%", "issue slots used, share of the launch's cycles",
       issue_share_elapsed},
      {"foretrace__idle_no_warp.pct", "%", "scheduler cycles without issue: no warp resident", idle_share<0>},
      {"foretrace__idle_no_eligible_warp.pct", "%", "scheduler cycles without issue: no warp eligible",
       idle_share<1>},
      {"foretrace__idle_dispatch.pct", "%", "scheduler cycles without issue: pipe or operand ports busy",
       idle_share<2>},
      {"foretrace__idle_throttled.pct", "%", "scheduler cycles without issue: warps throttled by full queues",
       idle_share<3>},
      {"foretrace__pipe_alu.pct", "%",
       "input of the integer and logic pipes taken, share of the launch's cycles",
       busy_share<Pipe::alu, Pipe::alulite>},
      {"foretrace__pipe_fma.pct", "%", "inputs of the FMA pipes taken, share of the launch's cycles",
       busy_share<Pipe::fmaheavy, Pipe::fmalite>},
      {"foretrace__pipe_fmaheavy.pct", "%", "input of the heavy FMA pipe taken; n/a where FMA is one pipe",
       [](P p) { return has_pipe(p, Pipe::fmalite) ? busy_share<Pipe::fmaheavy>(p) : Value(); }},
      {"foretrace__pipe_fp16.pct", "%", "input of the half-precision pipe taken; n/a where FMA does its work",
       busy_share<Pipe::fp16>},
      {"foretrace__pipe_fp64.pct", "%", "input of the FP64 pipe taken", busy_share<Pipe::fp64>},
      {"foretrace__pipe_xu.pct", "%", "input of the transcendental pipe taken", busy_share<Pipe::xu>},
      {"foretrace__pipe_tensor.pct", "%", "input of the tensor pipe taken", busy_share<Pipe::tensor>},
      {"foretrace__pipe_uniform.pct", "%", "input of the uniform pipe taken", busy_share<Pipe::uniform>},
      {"foretrace__memory_unit.pct", "%", "cycles in which the SM's memory unit took a warp instruction",
       memory_unit_share},
      {"foretrace__register_bank_conflict_cycles.sum", "cycle",
       "cycles that operand reads waited for register banks",
       [](P p) { return Value(number(p.counters.register_bank_conflict_cycles)); }},
      {"foretrace__branches.sum", "inst", "branch instructions of warps",
       [](P p) { return Value(number(p.counters.branches)); }},
      {"foretrace__branches_divergent.sum", "inst", "branches that split a warp",
       [](P p) { return Value(number(p.counters.divergent_branches)); }},
      {"foretrace__barriers_waited.sum", "inst", "block barriers executed by warps",
       [](P p) { return Value(number(p.counters.barriers_waited)); }},
      {"gcc__cache_requests_type_instruction.sum", "request",
       "128-byte pieces of code that TPCs asked of their GPC's cache",
       [](P p) { return Value(number(p.counters.memory.gpc_code_requests)); }},
      {"foretrace__gpc_code_misses.sum", "", "256-byte lines of code that the GPCs' caches asked of L2",
       [](P p) { return Value(number(p.counters.memory.gpc_code_misses)); }},
      {"foretrace__gpc_constant_requests.sum", "",
       "pieces of constants that SMs asked of their GPC's cache for the first time",
       [](P p) { return Value(number(p.counters.memory.gpc_constant_requests)); }},
      {"foretrace__l1_instruction_misses.sum", "", "misses of the SMs' instruction caches",
       [](P p) { return Value(number(p.counters.l1i_misses)); }},
      {"foretrace__l0_constant_misses.sum", "", "misses of the sub-cores' constant caches",
       [](P p) { return Value(number(p.counters.constant_l0_misses)); }},
      {"foretrace__l1_constant_misses.sum", "", "misses of the SMs' constant caches",
       [](P p) { return Value(number(p.counters.constant_l1_misses)); }},
  };
  table.insert(table.end(), own.begin(), own.end());
  return table;
}

}  // namespace foretrace::report
