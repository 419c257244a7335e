#include "model/config/keys.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace foretrace::config {
namespace {

using spec::LatencyClass;
using spec::Pipe;

template <class T>
void assign(T& field, std::span<const double> values) {
  if constexpr (std::is_same_v<T, std::vector<std::uint32_t>>) {
    field.clear();
    for (const double value : values) field.push_back(static_cast<std::uint32_t>(value));
  } else {
    field = static_cast<T>(values.front());
  }
}

template <Pipe pipe>
void set_pipe(Chip& chip, std::span<const double> values) {
  assign(chip.spec.pipe[static_cast<std::size_t>(pipe)].interval, values);
}
template <LatencyClass latency>
void set_latency(Chip& chip, std::span<const double> values) {
  assign(chip.spec.latency[static_cast<std::size_t>(latency)], values);
}
std::uint64_t hertz(double megahertz) { return static_cast<std::uint64_t>(std::llround(megahertz * 1e6)); }

template <spec::ClockChoice choice, auto domain>
void set_clock(Chip& chip, std::span<const double> values) {
  chip.clocks[static_cast<std::size_t>(choice)].*domain = hertz(values.front());
}

void set_product_clock(Chip& chip, std::span<const double> values) {
  chip.spec.product_clock = hertz(values.front());
}

constexpr KeyType kInteger = KeyType::integer;
constexpr KeyNeed kAlways = KeyNeed::always;
constexpr double kMega = 1024.0 * 1024.0;
constexpr double kTera = kMega * kMega;

// clang-format off
// The key is the field's path: FIELD(sm, count, ...) is "sm.count" and fills GpuSpec::sm.count.
#define FORETRACE_KEY(section, field, unit, type, low, high, need)                          \
  Key {                                                                                     \
    #section "." #field, unit, type, low, high, need,                                       \
        [](Chip& chip, std::span<const double> v) { assign(chip.spec.section.field, v); }   \
  }
#define FIELD(section, field, unit, low, high) \
  FORETRACE_KEY(section, field, unit, kInteger, low, high, kAlways)
#define PIPE(name) \
  Key { "pipe." #name ".interval", "cycle", kInteger, 1, 255, KeyNeed::pipe, &set_pipe<Pipe::name> }
#define LATENCY(name) \
  Key { "latency." #name, "cycle", kInteger, 1, 4096, KeyNeed::latency, &set_latency<LatencyClass::name> }
#define CLOCK(choice, domain)                                               \
  Key {                                                                     \
    "clock." #choice "." #domain, "MHz", KeyType::real, 1, 100000, kAlways, \
        &set_clock<spec::ClockChoice::choice, &spec::ClockSet::domain>      \
  }
// clang-format on

const Key kKeys[] = {
    CLOCK(base, sm),
    CLOCK(base, l2),
    CLOCK(base, dram),
    CLOCK(boost, sm),
    CLOCK(boost, l2),
    CLOCK(boost, dram),
    CLOCK(observed, sm),
    CLOCK(observed, l2),
    CLOCK(observed, dram),
    Key{"clock.products", "MHz", KeyType::real, 1, 100000, kAlways, &set_product_clock},

    FIELD(sm, count, "SM", 1, 4096),
    FIELD(sm, gpcs, "GPC", 1, 256),
    FIELD(sm, cpcs, "CPC", 1, 16),
    FIELD(sm, yield_latency, "cycle", 0, 1024),
    FIELD(sm, adu_queue, "instruction", 1, 16),

    FIELD(limits, warps, "warp", 4, 64),
    FIELD(limits, blocks, "block", 1, 64),
    FIELD(limits, threads_per_block, "thread", 32, 2048),
    FIELD(limits, registers, "register", 1024, kMega),
    FIELD(limits, registers_per_block, "register", 1024, kMega),
    FIELD(limits, registers_per_thread, "register", 16, 255),
    FIELD(limits, register_unit, "register", 32, 4096),
    FIELD(limits, warp_granularity, "warp", 1, 16),
    FIELD(limits, barriers, "barrier", 1, 4096),
    FIELD(limits, shared_per_block, "B", 1024, kMega),
    FIELD(limits, shared_reserved, "B", 0, 65536),
    FIELD(limits, shared_unit, "B", 1, 65536),

    FIELD(fetch, l1_bytes, "B", 128, 16 * kMega),
    FIELD(fetch, l1_ways, "way", 1, 1024),
    FIELD(fetch, prefetch_lines, "line", 0, 256),
    FIELD(fetch, first_latency, "cycle", 0, 4096),
    FIELD(fetch, branch_latency, "cycle", 1, 256),
    FIELD(fetch, resolve_latency, "cycle", 0, 256),
    FIELD(fetch, target_latency, "cycle", 0, 256),
    FIELD(fetch, mask_latency, "cycle", 0, 256),
    FIELD(fetch, mask_interval, "cycle", 0, 256),
    FIELD(fetch, converge_latency, "cycle", 1, 256),

    FIELD(register_file, banks, "bank", 1, 4),
    FIELD(register_file, ports, "read/cycle", 1, 16),
    FIELD(register_file, window, "cycle", 1, 16),
    FIELD(register_file, allocate_latency, "cycle", 1, 16),

    FIELD(constant, l0_bytes, "B", 64, kMega),
    FIELD(constant, l1_bytes, "B", 64, 16 * kMega),
    FIELD(constant, line_bytes, "B", 4, 4096),
    FIELD(constant, l0_miss, "cycle", 1, 4096),
    FIELD(constant, l1_miss, "cycle", 0, 4096),
    FIELD(constant, word_interval, "cycle", 0, 4096),
    FIELD(constant, line_interval, "cycle", 0, 4096),
    FIELD(constant, ask_again, "cycle", 1, 4096),

    FIELD(gpc_cache, bytes, "B", 1024, 64 * kMega),
    FIELD(gpc_cache, ways, "way", 1, 1024),
    FIELD(gpc_cache, line_bytes, "B", 128, 65536),
    FIELD(gpc_cache, latency, "cycle", 1, 4096),
    FIELD(gpc_cache, miss_latency, "cycle", 0, 4096),
    FIELD(gpc_cache, constant_miss_latency, "cycle", 0, 4096),
    FIELD(gpc_cache, interval, "cycle", 1, 256),
    FIELD(gpc_cache, tpc_interval, "cycle", 1, 256),
    FIELD(gpc_cache, fill_bytes, "B/L2 cycle", 1, 65536),
    FIELD(gpc_cache, preload_bytes, "B", 0, 64 * kMega),
    FIELD(gpc_cache, parameter_code, "B", 0, 16 * kMega),
    FIELD(gpc_cache, parameter_latency, "cycle", 0, 4096),

    PIPE(alu),
    PIPE(alulite),
    PIPE(fmaheavy),
    PIPE(fmalite),
    PIPE(fp16),
    PIPE(fp64),
    PIPE(xu),
    PIPE(tensor),
    PIPE(uniform),
    PIPE(cbu),
    PIPE(adu),
    PIPE(lsu),
    PIPE(tma),
    PIPE(tex),

    LATENCY(xu),
    LATENCY(fp64),
    LATENCY(tensor),
    LATENCY(shuffle),
    LATENCY(special_register),
    LATENCY(constant),
    LATENCY(uniform_load),
    LATENCY(uniform_reduce),
    LATENCY(match),
    LATENCY(matrix_load),

    FIELD(lsu, queue, "instruction", 1, 16),
    FIELD(lsu, issue_latency, "cycle", 0, 256),
    FIELD(lsu, address_latency, "cycle", 0, 256),
    FIELD(lsu, address_interval, "cycle", 1, 256),
    FIELD(lsu, uniform_interval, "cycle", 1, 256),
    FIELD(lsu, sm_interval, "cycle", 1, 256),
    FIELD(lsu, source_latency, "cycle", 1, 1024),
    FIELD(lsu, store_source_latency, "cycle", 1, 1024),
    FIELD(lsu, store_width_latency, "cycle", 0, 256),
    FIELD(lsu, in_flight, "instruction", 1, 65536),
    FIELD(lsu, data_queue, "instruction", 1, 1024),
    FIELD(lsu, width_latency, "cycle", 0, 64),

    FIELD(match, value_latency, "cycle", 0, 64),
    FIELD(match, value_interval, "cycle", 1, 64),
    FIELD(match, wide_latency, "cycle", 0, 256),
    FIELD(match, wide_value_latency, "cycle", 0, 64),
    FIELD(match, wide_value_interval, "cycle", 1, 64),

    FIELD(texture, interval, "cycle", 1, 255),
    FIELD(texture, latency, "cycle", 0, 4096),
    FIELD(texture, store_passes, "pass", 1, 16),

    FIELD(shared, latency, "cycle", 1, 4096),
    FIELD(shared, generic_latency, "cycle", 1, 4096),
    FIELD(shared, conflict_latency, "cycle", 0, 256),
    FIELD(shared, sub_core_interval, "cycle", 1, 64),
    FIELD(shared, atomic_latency, "cycle", 1, 4096),
    FIELD(shared, atomic_interval, "cycle", 1, 256),
    FIELD(shared, compare_passes, "pass", 1, 16),
    FIELD(shared, copy_wavefronts, "wavefront/cycle", 1, 16),

    FIELD(l1, unified_bytes, "B", 4096, 16 * kMega),
    FORETRACE_KEY(l1, carveouts, "B", KeyType::list, 0, 16 * kMega, kAlways),
    FIELD(l1, hit_latency, "cycle", 1, 4096),
    FIELD(l1, sets, "set", 1, 64),
    FIELD(l1, replacement_stretch, "access", 1, 65536),
    FORETRACE_KEY(l1, used_again_share, "1", KeyType::real, 0, 1, kAlways),
    FIELD(l1, lines_used_once, "line", 0, 65536),
    FIELD(l1, lines_kept_back, "line", 0, 1024),
    FIELD(l1, tag_lines, "line/cycle", 1, 32),
    FIELD(l1, tag_sectors, "sector/cycle", 1, 128),
    FIELD(l1, lines_in_flight, "line", 1, 65536),
    FIELD(l1, sectors_in_flight, "sector", 4, 262144),
    FIELD(l1, store_sectors_in_flight, "sector", 4, 262144),
    FIELD(l1, way_bytes, "B", 64, 1048576),
    FIELD(l1, way_address_bytes, "B", 16, 112),
    FIELD(l1, way_sector_bytes, "B", 16, 64),
    FIELD(l1, way_instructions, "instruction", 1, 1024),
    FIELD(l1, store_lines, "line", 1, 32),
    FIELD(l1, store_cycles, "cycle", 1, 4096),
    FIELD(l1, store_line_cycles, "cycle", 0, 64),
    FIELD(l1, store_interval, "cycle", 1, 64),
    FIELD(l1, store_queue, "line", 1, 1024),
    FIELD(l1, store_way_ahead, "cycle", 0, 1024),
    FIELD(l1, store_merge_cycles, "cycle", 0, 4096),
    FIELD(l1, fill_bytes, "B/cycle", 1, 4096),
    FIELD(l1, miss_latency, "cycle", 0, 4096),
    FORETRACE_KEY(l1, sector_interval, "cycle", KeyType::real, 0, 64, kAlways),
    FIELD(l1, spare_factor, "1", 1, 64),
    FORETRACE_KEY(l1, spare_share, "1", KeyType::real, 0, 1, kAlways),
    FIELD(l1, spare_without_shared, "1", 1, 64),
    FIELD(l1, narrow_interval, "cycle", 1, 64),

    FIELD(barrier, latency, "cycle", 1, 4096),
    FIELD(barrier, warp_interval, "cycle", 1, 256),
    FIELD(barrier, membar_block, "cycle", 1, 65536),
    FIELD(barrier, membar_gpu, "cycle", 1, 65536),
    FIELD(barrier, membar_return, "cycle", 0, 65536),
    FIELD(barrier, membar_system, "cycle", 1, 65536),
    FORETRACE_KEY(barrier, fence_latency, "cycle", kInteger, 1, 4096, KeyNeed::copies),

    FORETRACE_KEY(mbarrier, latency, "cycle", kInteger, 1, 4096, KeyNeed::copies),
    FORETRACE_KEY(mbarrier, wake_latency, "cycle", kInteger, 1, 4096, KeyNeed::copies),

    FORETRACE_KEY(tma, issue_latency, "cycle", kInteger, 1, 4096, KeyNeed::copies),
    FORETRACE_KEY(tma, source_latency, "cycle", kInteger, 1, 4096, KeyNeed::copies),
    FORETRACE_KEY(tma, row_interval, "cycle", kInteger, 1, 256, KeyNeed::copies),
    FORETRACE_KEY(tma, load_bytes, "B/cycle", KeyType::real, 1, 4096, KeyNeed::copies),
    FORETRACE_KEY(tma, write_latency, "cycle", kInteger, 1, 4096, KeyNeed::copies),
    FORETRACE_KEY(tma, store_latency, "cycle", kInteger, 1, 4096, KeyNeed::copies),

    FORETRACE_KEY(cluster, blocks, "block", kInteger, 1, 64, KeyNeed::copies),
    FORETRACE_KEY(cluster, groups, "SM", KeyType::list, 2, 4096, KeyNeed::copies),
    FORETRACE_KEY(cluster, hop_latency, "cycle", kInteger, 1, 4096, KeyNeed::copies),
    FORETRACE_KEY(cluster, barrier_latency, "cycle", kInteger, 1, 4096, KeyNeed::copies),
    FORETRACE_KEY(cluster, remote_latency, "cycle", kInteger, 1, 4096, KeyNeed::copies),
    FORETRACE_KEY(cluster, remote_bytes, "B/cycle", kInteger, 1, 4096, KeyNeed::copies),

    FORETRACE_KEY(wgmma, columns, "column/cycle", kInteger, 1, 256, KeyNeed::warpgroups),
    FORETRACE_KEY(wgmma, shared_bytes, "B/cycle", kInteger, 1, 4096, KeyNeed::warpgroups),
    FORETRACE_KEY(wgmma, register_interval, "cycle", kInteger, 1, 256, KeyNeed::warpgroups),
    FORETRACE_KEY(wgmma, latency, "cycle", kInteger, 1, 4096, KeyNeed::warpgroups),
    FORETRACE_KEY(wgmma, queue, "product", kInteger, 1, 64, KeyNeed::warpgroups),
    FORETRACE_KEY(wgmma, registers_latency, "cycle", kInteger, 1, 4096, KeyNeed::warpgroups),
    FORETRACE_KEY(wgmma, shared_interval, "cycle", kInteger, 1, 4096, KeyNeed::warpgroups),
    FORETRACE_KEY(wgmma, sum_registers, "register/cycle", kInteger, 1, 64, KeyNeed::warpgroups),
    FORETRACE_KEY(wgmma, port_cycles, "cycle", kInteger, 1, 64, KeyNeed::warpgroups),
    FORETRACE_KEY(wgmma, dispatch_passes, "cycle", kInteger, 1, 32, KeyNeed::warpgroups),

    FIELD(network, request_latency, "L2 cycle", 1, 4096),
    FIELD(network, reply_latency, "L2 cycle", 1, 4096),
    FIELD(network, request_bytes, "B/L2 cycle", 1, 4096),
    FIELD(network, reply_bytes, "B/L2 cycle", 1, 4096),
    FIELD(network, slice_queue, "L2 cycle", 1, kMega),
    FIELD(network, cpc_request_bytes, "B/L2 cycle", 1, 65536),
    FIELD(network, partition_request_bytes, "B/L2 cycle", 1, 65536),
    FIELD(network, cpc_queue, "sector", 5, 4096),
    FIELD(network, gpc_reply_bytes, "B/L2 cycle", 1, 65536),
    FORETRACE_KEY(network, cpc_step, "L2 cycle", KeyType::real, 0, 16, kAlways),
    FORETRACE_KEY(network, tpc_step, "L2 cycle", KeyType::real, 0, 16, kAlways),
    FORETRACE_KEY(network, partition_latency, "L2 cycle", kInteger, 1, 4096, KeyNeed::partitions),
    FORETRACE_KEY(network, partition_bytes, "B/L2 cycle", kInteger, 1, 65536, KeyNeed::partitions),

    FIELD(l2, bytes, "B", 4096, kTera),
    FIELD(l2, slices, "slice", 1, 1024),
    FIELD(l2, partitions, "partition", 1, 2),
    FIELD(l2, ways, "way", 1, 1024),
    FIELD(l2, latency, "L2 cycle", 1, 4096),
    FIELD(l2, slice_bytes, "B/L2 cycle", 1, 1024),
    FORETRACE_KEY(l2, write_cost, "1", KeyType::real, 0.1, 64, kAlways),
    FIELD(l2, partly_interval, "L2 cycle", 1, 64),
    FIELD(l2, completion_interval, "L2 cycle", 0, 64),
    FIELD(l2, tag_interval, "L2 cycle", 0, 16),
    FIELD(l2, line_turnaround, "L2 cycle", 0, 256),
    FORETRACE_KEY(l2, granule_bytes, "B", kInteger, 128, kMega, KeyNeed::partitions),
    FORETRACE_KEY(l2, partition_bits, "mask", kInteger, 0, 2 * kMega - 1, KeyNeed::partitions),
    FIELD(l2, together_bits, "mask", 0, kMega),
    FIELD(l2, misses, "line", 1, 65536),
    FIELD(l2, merged_reads, "read", 1, 32),
    FIELD(l2, merge_cycles, "L2 cycle", 0, 4096),
    FORETRACE_KEY(l2, atomic_interval, "L2 cycle", KeyType::real, 0, 1024, kAlways),
    FORETRACE_KEY(l2, atomic_wide_interval, "L2 cycle", KeyType::real, 0, 1024, kAlways),
    FORETRACE_KEY(l2, atomic_compare_interval, "L2 cycle", KeyType::real, 0, 1024, kAlways),
    FORETRACE_KEY(l2, atomic_float_interval, "L2 cycle", KeyType::real, 0, 1024, kAlways),
    FORETRACE_KEY(l2, atomic_double_interval, "L2 cycle", KeyType::real, 0, 1024, kAlways),
    FORETRACE_KEY(l2, atomic_lone_interval, "L2 cycle", KeyType::real, 0, 1024, kAlways),
    FORETRACE_KEY(l2, atomic_turn_interval, "L2 cycle", KeyType::real, 0, 1024, kAlways),
    FORETRACE_KEY(l2, read_pass_interval, "L2 cycle", KeyType::real, 0, 1024, KeyNeed::partitions),
    FORETRACE_KEY(l2, atomic_pass_interval, "L2 cycle", KeyType::real, 0, 1024, KeyNeed::partitions),
    FIELD(l2, atomic_latency, "L2 cycle", 1, 4096),
    FIELD(l2, launch_sectors, "sector", 0, kMega),
    FIELD(l2, launch_hits, "sector", 0, kMega),
    FIELD(l2, launch_dirty_lines, "line", 0, kMega),
    FORETRACE_KEY(l2, dirty_fraction, "1", KeyType::real, 0.001, 1, kAlways),
    FORETRACE_KEY(l2, partly_fraction, "1", KeyType::real, 0.001, 1, kAlways),

    FIELD(dram, bytes, "B", kMega, kTera),
    FIELD(dram, channels, "channel", 1, 1024),
    FIELD(dram, channel_bytes, "B/DRAM cycle", 1, 1024),
    FIELD(dram, access_bytes, "B", 32, 128),
    FIELD(dram, latency, "L2 cycle", 1, 65536),
    FIELD(dram, queue, "request", 1, 65536),
    FIELD(dram, ahead, "DRAM cycle", 0, 65536),
    FORETRACE_KEY(dram, drain_from, "1", KeyType::real, 0.001, 1, kAlways),
    FORETRACE_KEY(dram, drain_until, "1", KeyType::real, 0, 1, kAlways),
    FIELD(dram, overtakings, "queue", 1, 1024),
    FIELD(dram, banks, "bank", 1, 1024),
    FIELD(dram, row_bytes, "B", 128, 65536),
    FIELD(dram, t_rcd, "DRAM cycle", 1, 4096),
    FIELD(dram, t_rp, "DRAM cycle", 1, 4096),
    FIELD(dram, t_cl, "DRAM cycle", 1, 4096),
    FIELD(dram, t_ras, "DRAM cycle", 1, 4096),
    FIELD(dram, t_wr, "DRAM cycle", 1, 4096),
    FIELD(dram, t_rrd, "DRAM cycle", 0, 4096),
    FIELD(dram, read_to_write, "DRAM cycle", 0, 4096),
    FIELD(dram, write_to_read, "DRAM cycle", 0, 4096),
    FIELD(dram, refresh_interval, "DRAM cycle", 2, kMega),
    FIELD(dram, refresh_cycles, "DRAM cycle", 1, kMega),

    FIELD(launch, start, "cycle", 0, kMega),
    FIELD(launch, by_gpc, "1", 0, 1),
    FIELD(launch, first_group, "SM", 0, 256),
    FIELD(launch, first_group_turns, "turn", 1, 256),
    FORETRACE_KEY(launch, fill_interval, "cycle", KeyType::real, 0.01, 4096, kAlways),
    FORETRACE_KEY(launch, block_interval, "cycle", KeyType::real, 0.01, 4096, kAlways),
    FIELD(launch, sm_block_interval, "cycle", 1, 4096),
    FIELD(launch, block_start, "cycle", 0, 65536),
    FORETRACE_KEY(launch, warp_interval, "cycle", KeyType::real, 0.01, 256, kAlways),
    FIELD(launch, block_end, "cycle", 0, 65536),
    FIELD(launch, spare_warps, "warp", 0, 64),
    FIELD(launch, drain, "cycle", 0, kMega),

    FORETRACE_KEY(cuda, persisting_share, "1", KeyType::real, 0, 1, kAlways),
    FIELD(cuda, policy_window, "B", 0, 1024 * kMega),
    FIELD(cuda, copy_engines, "engine", 0, 64),
    FIELD(cuda, sync_domains, "domain", 1, 64),
    FIELD(cuda, compression, "1", 0, 1),
    FORETRACE_KEY(cuda, largest_cluster, "block", kInteger, 1, 16, KeyNeed::copies),
};

#undef FIELD
#undef PIPE
#undef LATENCY
#undef CLOCK
#undef FORETRACE_KEY

/// Levenshtein distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const Key> keys() { return kKeys; }

const Key* find_key(std::string_view name) {
  for (const Key& key : kKeys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::string_view form_of(const Key& key) {
  if (key.type == KeyType::real) return "real";
  if (key.type == KeyType::list) return "list";
  if (key.low == 0 && key.high == 1) return "switch";
  return key.unit == "mask" ? "mask" : "integer";
}

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  const auto best = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return distance(name, a) < distance(name, b);
  });
  return best == known.end() ? std::string() : *best;
}

std::string hint(std::string_view name, const std::vector<std::string>& known) {
  const std::string key = nearest(name, known);
  // Half of the letters may be wrong: what is further off has nothing to do with the name.
  return 2 * distance(name, key) <= name.size() ? "; the nearest is " + key : std::string();
}

}  // namespace foretrace::config
