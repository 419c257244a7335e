#include "model/bounds/bounds.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::bounds {
namespace {

double l2_to_sm(const spec::GpuSpec& spec) {
  return static_cast<double>(spec.clock.sm) / static_cast<double>(spec.clock.l2);
}
double dram_to_sm(const spec::GpuSpec& spec) {
  return static_cast<double>(spec.clock.sm) / static_cast<double>(spec.clock.dram);
}

/// SM cycles from a request's departure from the SM to its data's arrival there, at best.
double l2_round_trip(const spec::GpuSpec& spec) {
  return (spec.network.request_latency + spec.l2.latency + spec.network.reply_latency) * l2_to_sm(spec);
}

}  // namespace

double l2_latency(const spec::GpuSpec& spec) { return spec.l1.miss_latency + l2_round_trip(spec); }

Work work_of(const stats::LaunchCounters& counters) {
  Work work;
  const stats::MemoryCounters& memory = counters.memory;
  work.blocks = counters.blocks;
  work.warp_instructions = counters.inst_executed;
  work.pipe_cycles = counters.pipe_busy;
  work.l1_tag_cycles = counters.l1_tag_cycles;
  work.l1_data_wavefronts = counters.l1_data_wavefronts;
  work.shared_wavefronts =
      counters.shared_wavefronts_ld + counters.shared_wavefronts_st + counters.shared_wavefronts_atom;
  work.l2_read_sectors = memory.tex_sectors_read;
  work.l2_atomic_sectors = memory.tex_sectors_atomic;
  work.l2_write_sectors = memory.tex_sectors_write + memory.tex_sectors_reduction;
  work.partition_sectors = memory.partition_sectors;
  work.dram_read_bytes = memory.dram_bytes_read;
  work.dram_write_bytes = memory.dram_bytes_write;
  work.reads_memory = work.l2_read_sectors + work.l2_atomic_sectors > 0;
  return work;
}

std::vector<Bound> lower_bounds(const spec::GpuSpec& spec, const Work& work) {
  std::vector<Bound> bounds;
  const auto add = [&bounds](std::string name, std::string what, double cycles) {
    if (cycles > 0) bounds.push_back({std::move(name), std::move(what), cycles});
  };
  const double sms =
      static_cast<double>(std::min<std::uint64_t>(spec.sm.count, std::max<std::uint64_t>(1, work.blocks)));
  const double sub_cores = sms * kSubCores;
  const auto real = [](std::uint64_t value) { return static_cast<double>(value); };

  add("issue", "warp instructions / (schedulers of the SMs that have a block)",
      real(work.warp_instructions) / sub_cores);
  for (int pipe = 0; pipe < spec::kPipes; ++pipe) {
    const auto each = static_cast<spec::Pipe>(pipe);
    if (each == spec::Pipe::none) continue;
    add(fmt::format("pipe_{}", spec::name_of(each)), "cycles the pipe's input is taken / sub-cores",
        real(work.pipe_cycles[static_cast<std::size_t>(pipe)]) / sub_cores);
  }
  add("l1_tags", "tag-stage cycles / SMs", real(work.l1_tag_cycles) / sms);
  add("l1_data", "data-stage wavefronts / SMs", real(work.l1_data_wavefronts) / sms);
  add("shared", "shared-memory wavefronts / SMs", real(work.shared_wavefronts) / sms);

  const double to_sm = l2_to_sm(spec);
  const double in = real(work.l2_read_sectors + work.l2_atomic_sectors) * kSectorBytes;
  const double out = real(work.l2_write_sectors + work.l2_atomic_sectors) * kSectorBytes;
  if (spec.l1.fill_bytes > 0)
    add("l1_fill", "bytes from L2 / (SMs x l1.fill_bytes)", in / (sms * spec.l1.fill_bytes));
  add("network_reply", "bytes from L2 / (SMs x network.reply_bytes)",
      in / (sms * spec.network.reply_bytes) * to_sm);
  add("network_gpc", "bytes from L2 / (GPCs x network.gpc_reply_bytes)",
      in / (std::min<double>(spec.sm.gpcs, sms) * spec.network.gpc_reply_bytes) * to_sm);
  add("network_request", "bytes to L2 / (SMs x network.request_bytes)",
      out / (sms * spec.network.request_bytes) * to_sm);
  // A read's data leave one slice, or two where they crossed; a write's enter one.
  add("l2", "bytes to and from SMs / (slices x l2.slice_bytes)",
      std::max(in, out) / (real(spec.l2.slices) * spec.l2.slice_bytes) * to_sm);
  if (spec.l2.partitions > 1) {
    add("partition", "bytes between the partitions / (2 x network.partition_bytes)",
        real(work.partition_sectors) * kSectorBytes / (2.0 * spec.network.partition_bytes) * to_sm);
  }
  // A launch ends before its last writes have left the controllers' queues.
  const double queued = real(spec.dram.channels) * spec.dram.queue * kLineBytes;
  const double written = std::max(0.0, real(work.dram_write_bytes) - queued);
  add("dram", "DRAM bytes / (channels x dram.channel_bytes), less the writes that may still be queued",
      (real(work.dram_read_bytes) + written) / (real(spec.dram.channels) * spec.dram.channel_bytes) *
          dram_to_sm(spec));
  if (spec.l1.sectors_in_flight > 0) {
    add("outstanding", "Little: sectors from L2 x L2 latency / (SMs x l1.sectors_in_flight)",
        real(work.l2_read_sectors) * l2_round_trip(spec) / (sms * spec.l1.sectors_in_flight));
  }

  const spec::LaunchSpec& launch = spec.launch;
  double chain = real(launch.start) + launch.block_start + launch.block_end + launch.drain;
  if (work.reads_memory) chain += l2_latency(spec);
  add("latency", "launch, block start, one L2 read if there is any, block end, drain", chain);
  if (work.blocks > 0) {
    const std::uint64_t rounds =
        (work.blocks - 1) / spec.sm.count;  // further blocks of the SM that gets most
    add("dispatch", "blocks one after the other, chip-wide and on the fullest SM",
        real(launch.start) +
            std::max(real(work.blocks - 1) * launch.block_interval, real(rounds) * launch.sm_block_interval));
  }
  return bounds;
}

const Bound& tightest(const std::vector<Bound>& bounds) {
  FORETRACE_ASSERT(!bounds.empty(), "a launch without any bound");
  return *std::max_element(bounds.begin(), bounds.end(),
                           [](const Bound& a, const Bound& b) { return a.cycles < b.cycles; });
}

Ceilings ceilings(const spec::GpuSpec& spec) {
  const double sub_cores = static_cast<double>(spec.sm.count) * kSubCores;
  const auto rate = [&](spec::Pipe pipe) {
    const std::uint32_t interval = spec.pipe[static_cast<std::size_t>(pipe)].interval;
    return interval == 0 ? 0.0 : kWarpSize * sub_cores / interval;
  };
  Ceilings result;
  result.warp_instructions = sub_cores;
  // Two FP32 pipes can together not take more than what the scheduler issues.
  result.fp32_operations =
      2 * std::min(rate(spec::Pipe::fmaheavy) + rate(spec::Pipe::fmalite), kWarpSize * sub_cores);
  result.fp64_operations = 2 * rate(spec::Pipe::fp64);
  result.l2_bytes = static_cast<double>(spec.l2.slices) * spec.l2.slice_bytes / l2_to_sm(spec);
  result.dram_bytes = static_cast<double>(spec.dram.channels) * spec.dram.channel_bytes / dram_to_sm(spec);
  return result;
}

double roofline(const Ceilings& ceilings, double operations, double intensity) {
  return std::min(operations, intensity * ceilings.dram_bytes);
}

}  // namespace foretrace::bounds
