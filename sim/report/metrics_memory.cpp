// Metrics of the memory system: L1 and shared memory, L2, DRAM, and where a request's time goes.
#include "sim/report/metric_tables.h"

namespace foretrace::report {
namespace {

using P = const Prediction&;
using Launch = stats::LaunchCounters;
using Memory = stats::MemoryCounters;

// A counter as it stands: most rows of the table are these.
template <std::uint64_t Launch::*kField>
Value count(P p) {
  return Value(number(p.counters.*kField));
}
template <std::uint64_t Memory::*kField>
Value beyond(P p) {
  return Value(number(p.counters.memory.*kField));
}
template <std::uint64_t Launch::*kA, std::uint64_t Launch::*kB>
Value quotient(P p) {
  return ratio(number(p.counters.*kA), number(p.counters.*kB));
}
template <std::uint64_t Launch::*kA, std::uint64_t Launch::*kB>
Value sum(P p) {
  return Value(number(p.counters.*kA + p.counters.*kB));
}
/// Wavefronts by the rule beyond the floor of the accesses' width.
template <std::uint64_t Launch::*kByRule, std::uint64_t Launch::*kFloor>
std::uint64_t conflicts(P p) {
  return p.counters.*kByRule - std::min(p.counters.*kByRule, p.counters.*kFloor);
}
template <std::uint64_t Memory::*kSegment>
Value segment(P p) {
  return ratio(number(p.counters.memory.*kSegment), number(p.counters.memory.read_requests));
}

constexpr auto kConflictsLoad = &conflicts<&Launch::shared_wavefronts_ld, &Launch::shared_ideal_ld>;
constexpr auto kConflictsStore = &conflicts<&Launch::shared_wavefronts_st, &Launch::shared_ideal_st>;
constexpr auto kConflictsAtomic = &conflicts<&Launch::shared_wavefronts_atom, &Launch::shared_ideal_atom>;

Value l1_data_share(P p) { return percent(number(p.counters.l1_data_wavefronts), sm_cycles(p)); }
Value l1_tag_share(P p) { return percent(number(p.counters.l1_tag_cycles), sm_cycles(p)); }
Value l2_share(P p) {
  return percent(number(p.counters.memory.l2_slice_busy), p.gpu->l2.slices * cycles_at(p, p.gpu->clock.l2));
}
Value busiest_slice_share(P p) {
  return percent(number(p.counters.memory.l2_busiest_slice), cycles_at(p, p.gpu->clock.l2));
}
Value reply_share(P p) {
  return percent(number(p.counters.memory.tex_sectors_read) * kSectorBytes,
                 number(p.counters.sms) * p.gpu->network.reply_bytes * cycles_at(p, p.gpu->clock.l2));
}
Value request_share(P p) {
  return percent(number(p.counters.memory.tex_sectors_write) * kSectorBytes,
                 number(p.counters.sms) * p.gpu->network.request_bytes * cycles_at(p, p.gpu->clock.l2));
}
Value fabric_share(P p) {
  if (p.gpu->l2.partitions < 2) return 0.0;
  return percent(number(p.counters.memory.partition_sectors) * kSectorBytes,
                 2.0 * p.gpu->network.partition_bytes * cycles_at(p, p.gpu->clock.l2));
}
Value dram_share(P p) {
  return percent(number(p.counters.memory.dram_busy), p.gpu->dram.channels * cycles_at(p, p.gpu->clock.dram));
}
Value memory_throughput(P p) {
  Value most = l1_data_share(p);
  for (const Value each : {l1_tag_share(p), l2_share(p), reply_share(p), request_share(p), dram_share(p)}) {
    most = larger(most, each);
  }
  return most;
}
double dram_bytes(P p) {
  return number(p.counters.memory.dram_bytes_read + p.counters.memory.dram_bytes_write);
}

std::vector<Metric> l1_metrics() {
  return {
      {"smsp__inst_executed_op_global_ld.sum", "inst", "global loads by warps",
       count<&Launch::inst_global_ld>},
      {"smsp__inst_executed_op_global_st.sum", "inst", "global stores by warps",
       count<&Launch::inst_global_st>},
      {"smsp__inst_executed_op_local_ld.sum", "inst", "local loads by warps", count<&Launch::inst_local_ld>},
      {"smsp__inst_executed_op_local_st.sum", "inst", "local stores by warps", count<&Launch::inst_local_st>},
      {"smsp__inst_executed_op_shared_ld.sum", "inst", "shared loads by warps",
       count<&Launch::inst_shared_ld>},
      {"smsp__inst_executed_op_shared_st.sum", "inst", "shared stores by warps",
       count<&Launch::inst_shared_st>},
      {"l1tex__throughput.avg.pct_of_peak_sustained_active", "%",
       "the busier of L1's tag and data stages, share of the SMs' active cycles",
       [](P p) {
         return percent(number(std::max(p.counters.l1_data_wavefronts, p.counters.l1_tag_cycles)),
                        number(p.counters.sm_active));
       }},
      {"l1tex__t_sector_hit_rate.pct", "%",
       "sectors of loads and stores found in L1, of all that were looked up",
       [](P p) {
         const Launch& c = p.counters;
         return percent(number(c.l1_hits_global_ld + c.l1_hits_global_st + c.l1_hits_local_ld +
                               c.l1_hits_local_st + c.l1_hits_texture),
                        number(c.l1_sectors_global_ld + c.l1_sectors_global_st + c.l1_sectors_local_ld +
                               c.l1_sectors_local_st + c.l1_sectors_global_atom + c.l1_sectors_global_red +
                               c.l1_sectors_texture));
       }},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", "global load requests of warps",
       count<&Launch::l1_requests_global_ld>},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request", "global store requests of warps",
       count<&Launch::l1_requests_global_st>},
      {"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "request", "local load requests of warps",
       count<&Launch::l1_requests_local_ld>},
      {"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "request", "local store requests of warps",
       count<&Launch::l1_requests_local_st>},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "request",
       "global atomic requests that return a value", count<&Launch::l1_requests_global_atom>},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "request",
       "global atomic requests without a result", count<&Launch::l1_requests_global_red>},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector",
       "32-byte sectors that global loads touched", count<&Launch::l1_sectors_global_ld>},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector",
       "32-byte sectors that global stores touched", count<&Launch::l1_sectors_global_st>},
      {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", "32-byte sectors that local loads touched",
       count<&Launch::l1_sectors_local_ld>},
      {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", "32-byte sectors that local stores touched",
       count<&Launch::l1_sectors_local_st>},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "sector",
       "sectors of global loads found in L1", count<&Launch::l1_hits_global_ld>},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum", "sector",
       "sectors of global stores found in L1", count<&Launch::l1_hits_global_st>},
      {"l1tex__t_requests_pipe_tex.sum", "request", "lookups in textures and accesses of surfaces, of warps",
       count<&Launch::l1_requests_texture>},
      {"l1tex__t_sectors_pipe_tex.sum", "sector", "32-byte sectors that these touched",
       count<&Launch::l1_sectors_texture>},
      {"l1tex__t_sectors_pipe_tex_lookup_hit.sum", "sector", "those found in L1",
       count<&Launch::l1_hits_texture>},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sector/request",
       "sectors a global load request touches",
       quotient<&Launch::l1_sectors_global_ld, &Launch::l1_requests_global_ld>},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "sector/request",
       "sectors a global store request touches",
       quotient<&Launch::l1_sectors_global_st, &Launch::l1_requests_global_st>},
      {"foretrace__l1_data.pct", "%",
       "cycles in which L1's data stage was busy, global and shared, of the launch's", l1_data_share},
      {"foretrace__l1_tag.pct", "%", "cycles in which L1's tag stage was busy, of the launch's",
       l1_tag_share},
  };
}

std::vector<Metric> shared_metrics() {
  return {
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum", "",
       "data-stage passes in which warpgroup products read their operands",
       count<&Launch::shared_wavefronts_product>},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "",
       "data-stage passes of shared loads: by the rule, and by arbitration with other traffic",
       sum<&Launch::shared_wavefronts_ld, &Launch::shared_contention_ld>},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "",
       "data-stage passes of shared stores: by the rule, and by arbitration with other traffic",
       sum<&Launch::shared_wavefronts_st, &Launch::shared_contention_st>},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "",
       "those passes of shared loads beyond the floor of their width",
       [](P p) { return Value(number(kConflictsLoad(p) + p.counters.shared_contention_ld)); }},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "",
       "those passes of shared stores beyond the floor of their width",
       [](P p) { return Value(number(kConflictsStore(p) + p.counters.shared_contention_st)); }},
      {"foretrace__shared_wavefronts_by_rule_op_ld.sum", "", "wavefronts of shared loads by their addresses",
       count<&Launch::shared_wavefronts_ld>},
      {"foretrace__shared_wavefronts_by_rule_op_st.sum", "", "wavefronts of shared stores by their addresses",
       count<&Launch::shared_wavefronts_st>},
      {"foretrace__shared_wavefronts_by_rule_op_atom.sum", "",
       "wavefronts of shared atomics by their addresses", count<&Launch::shared_wavefronts_atom>},
      {"foretrace__shared_wavefronts_ideal_op_ld.sum", "", "the floor: shared loads without any conflict",
       count<&Launch::shared_ideal_ld>},
      {"foretrace__shared_wavefronts_ideal_op_st.sum", "", "the floor: shared stores without any conflict",
       count<&Launch::shared_ideal_st>},
      {"foretrace__shared_wavefronts_ideal_op_atom.sum", "", "the floor: shared atomics without any conflict",
       count<&Launch::shared_ideal_atom>},
      {"foretrace__bank_conflicts_by_rule_op_ld.sum", "",
       "wavefronts of shared loads by addresses minus the floor",
       [](P p) { return Value(number(kConflictsLoad(p))); }},
      {"foretrace__bank_conflicts_by_rule_op_st.sum", "",
       "wavefronts of shared stores by addresses minus the floor",
       [](P p) { return Value(number(kConflictsStore(p))); }},
      {"foretrace__bank_conflicts_by_rule_op_atom.sum", "",
       "wavefronts of shared atomics by addresses minus the floor",
       [](P p) { return Value(number(kConflictsAtomic(p))); }},
      {"foretrace__shared_wavefronts_contention_op_ld.sum", "",
       "passes of shared loads that arbitration added: predicted, not arithmetic",
       count<&Launch::shared_contention_ld>},
      {"foretrace__shared_wavefronts_contention_op_st.sum", "",
       "passes of shared stores that arbitration added: predicted, not arithmetic",
       count<&Launch::shared_contention_st>},
      {"foretrace__inst_shared_atom.sum", "inst", "shared atomics by warps",
       count<&Launch::inst_shared_atom>},
      {"foretrace__inst_matrix_ld.sum", "inst", "matrix loads by warps (LDSM)",
       count<&Launch::inst_matrix_ld>},
      {"foretrace__inst_async_copy.sum", "inst", "asynchronous copies by warps (LDGSTS)",
       count<&Launch::inst_async_copy>},
  };
}

std::vector<Metric> l2_metrics() {
  return {
      {"lts__t_sectors_srcunit_tex.sum", "sector", "sectors that the SMs asked of L2",
       [](P p) {
         const Memory& m = p.counters.memory;
         return Value(number(m.tex_sectors_read + m.tex_sectors_write + m.tex_sectors_atomic +
                             m.tex_sectors_reduction));
       }},
      {"lts__t_sectors_srcunit_tex_op_read.sum", "sector", "those of loads",
       beyond<&Memory::tex_sectors_read>},
      {"lts__t_sectors_srcunit_tex_op_write.sum", "sector", "those of stores",
       beyond<&Memory::tex_sectors_write>},
      {"lts__t_sectors_srcunit_tex_lookup_hit.sum", "sector", "those found in L2",
       beyond<&Memory::tex_sectors_hit>},
      {"lts__t_sectors_srcunit_tex_lookup_miss.sum", "sector", "those not found in L2",
       beyond<&Memory::tex_sectors_miss>},
      {"lts__t_sectors.sum", "sector",
       "sectors looked up by all slices, traffic between partitions and the launch's own included",
       beyond<&Memory::lts_sectors>},
      {"lts__t_sector_hit_rate.pct", "%",
       "sectors found by all slices, traffic between partitions and the launch's own included",
       [](P p) {
         return percent(number(p.counters.memory.lts_sectors_hit), number(p.counters.memory.lts_sectors));
       }},
      {"foretrace__l2_hit_rate_srcunit_tex.pct", "%", "sectors found in L2, of those that the SMs asked for",
       [](P p) {
         const Memory& m = p.counters.memory;
         return percent(number(m.tex_sectors_hit), number(m.tex_sectors_hit + m.tex_sectors_miss));
       }},
      {"foretrace__l2_slices.pct", "%", "cycles in which L2's slices moved data, of the launch's", l2_share},
      {"foretrace__l2_busiest_slice.pct", "%", "the same of the slice that did most", busiest_slice_share},
      {"foretrace__l2_fabric.pct", "%", "data between L2's partitions over what both ways can carry",
       fabric_share},
      {"foretrace__network_reply.pct", "%", "load data from L2 over what the SMs' ports can take",
       reply_share},
      {"foretrace__network_request.pct", "%", "store data to L2 over what the SMs' ports can send",
       request_share},
      {"foretrace__l2_partition_sectors.sum", "sector", "sectors that crossed between L2's partitions",
       beyond<&Memory::partition_sectors>},
      {"foretrace__l2_dirty_sectors_left.sum", "sector", "dirty sectors that stay in L2 at the kernel's end",
       beyond<&Memory::dirty_sectors_left>},
      {"foretrace__l2_fill_sectors.sum", "sector", "sectors read from DRAM to complete partly written ones",
       beyond<&Memory::fill_sectors>},
  };
}

std::vector<Metric> dram_metrics() {
  return {
      {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%",
       "the busiest of L1, the network, L2 and DRAM, share of the launch's cycles", memory_throughput},
      {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "%",
       "cycles in which DRAM's data buses were taken", dram_share},
      {"dram__bytes_read.sum", "byte", "bytes read from DRAM", beyond<&Memory::dram_bytes_read>},
      {"dram__bytes_write.sum", "byte", "bytes written to DRAM before the kernel's end",
       beyond<&Memory::dram_bytes_write>},
      {"dram__bytes.sum.per_second", "byte/second", "bytes moved to and from DRAM over the launch's time",
       [](P p) { return ratio(dram_bytes(p), seconds(p)); }},
      {"foretrace__dram_peak.per_second", "byte/second", "what DRAM's buses can move",
       [](P p) {
         return Value(number(p.gpu->clock.dram) * p.gpu->dram.channels * p.gpu->dram.channel_bytes);
       }},
      {"foretrace__dram_row_hit_rate.pct", "%", "DRAM accesses that found their row open",
       [](P p) {
         const Memory& m = p.counters.memory;
         return percent(number(m.dram_row_hits), number(m.dram_row_hits + m.dram_row_misses));
       }},
      {"foretrace__read_latency.avg", "cycle",
       "SM cycles of a load request beyond L1; the five parts below sum to it",
       segment<&Memory::read_latency>},
      {"foretrace__read_latency_network.avg", "cycle", "in the network", segment<&Memory::segment_network>},
      {"foretrace__read_latency_l2.avg", "cycle", "in an L2 slice", segment<&Memory::segment_l2>},
      {"foretrace__read_latency_partition.avg", "cycle", "between L2's partitions",
       segment<&Memory::segment_partition>},
      {"foretrace__read_latency_dram_queue.avg", "cycle", "waiting for DRAM",
       segment<&Memory::segment_dram_queue>},
      {"foretrace__read_latency_dram.avg", "cycle", "in DRAM", segment<&Memory::segment_dram>},
  };
}

}  // namespace

std::vector<Metric> memory_metrics() {
  std::vector<Metric> table;
  for (auto part : {l1_metrics(), shared_metrics(), l2_metrics(), dram_metrics()}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  return table;
}

}  // namespace foretrace::report
