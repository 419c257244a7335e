// Chips for the memory tests: small ones whose every figure a test can compute by hand, and one of an
// H100's proportions.
#pragma once

#include "model/spec/gpu_spec.h"

namespace foretrace::memory_tests {

/// Two partitions, eight slices, four channels, all clocks alike, wide ports, no refresh.
inline spec::GpuSpec small_chip() {
  spec::GpuSpec chip;
  chip.name = "small";
  chip.clock = {1'000'000'000, 1'000'000'000, 1'000'000'000};
  chip.sm.count = 8;
  chip.sm.gpcs = 4;
  chip.network.request_latency = 50;
  chip.network.reply_latency = 60;
  chip.network.request_bytes = 64;
  chip.network.reply_bytes = 64;
  chip.network.gpc_reply_bytes = 128;
  chip.sm.cpcs = 1;
  chip.network.cpc_request_bytes = 64;
  chip.network.partition_request_bytes = 65536;
  chip.network.cpc_queue = 16;
  chip.network.slice_queue = 256;
  chip.network.partition_latency = 40;
  chip.network.partition_bytes = 256;
  chip.l2.bytes = 8 * 64 * 16 * 128;  // 1 MiB: 8 slices of 64 sets of 16 ways
  chip.l2.slices = 8;
  chip.l2.partitions = 2;
  chip.l2.ways = 16;
  chip.l2.latency = 70;
  chip.l2.slice_bytes = 64;
  chip.l2.write_cost = 1.5;
  chip.l2.granule_bytes = 4096;
  chip.l2.partition_bits = 0x0B3000;
  chip.l2.together_bits = 0x280;
  chip.l2.misses = 64;
  chip.l2.atomic_interval = 1.25;
  chip.l2.atomic_wide_interval = 1.0;
  chip.l2.atomic_compare_interval = 2.0;
  chip.l2.atomic_float_interval = 1.5;
  chip.l2.atomic_double_interval = 2.0;
  chip.l2.atomic_lone_interval = 3.0;
  chip.l2.atomic_pass_interval = 0.5;
  chip.l2.atomic_latency = 80;
  chip.l2.dirty_fraction = 0.25;
  chip.l2.partly_fraction = 0.125;
  chip.l2.completion_interval = 7;
  chip.dram.bytes = std::uint64_t{1} << 30;
  chip.dram.channels = 4;
  chip.dram.channel_bytes = 16;
  chip.dram.access_bytes = 64;
  chip.dram.latency = 100;
  chip.dram.queue = 32;
  chip.dram.ahead = 32;
  chip.dram.drain_from = 0.75;
  chip.dram.drain_until = 0.25;
  chip.dram.overtakings = 4;
  chip.dram.banks = 16;
  chip.dram.row_bytes = 1024;
  chip.dram.t_rcd = 20;
  chip.dram.t_rp = 21;
  chip.dram.t_cl = 22;
  chip.dram.t_ras = 45;
  chip.dram.t_wr = 19;
  chip.dram.t_rrd = 6;
  chip.dram.read_to_write = 7;
  chip.dram.write_to_read = 13;
  chip.dram.refresh_interval = 0;
  chip.dram.refresh_cycles = 0;
  return chip;
}

/// The proportions of an H100 SXM: 132 SMs, 80 slices, 80 channels, three clocks that have no simple ratio.
inline spec::GpuSpec large_chip() {
  spec::GpuSpec chip = small_chip();
  chip.name = "large";
  chip.clock = {1'980'000'000, 1'710'000'000, 2'619'000'000};
  chip.sm.count = 132;
  chip.sm.gpcs = 8;
  chip.network.gpc_reply_bytes = 700;
  chip.network.cpc_request_bytes = 350;
  chip.network.partition_bytes = 2560;
  chip.l2.bytes = 50ull << 20;
  chip.l2.slices = 80;
  chip.l2.dirty_fraction = 0.2;
  chip.dram.channels = 80;
  chip.dram.refresh_interval = 10'000;
  chip.dram.refresh_cycles = 300;
  return chip;
}

}  // namespace foretrace::memory_tests
