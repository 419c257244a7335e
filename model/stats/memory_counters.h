// What the memory system counts. Names in comments are Nsight Compute's where they mean the same.
#pragma once

#include <cstdint>

namespace foretrace::stats {

struct MemoryCounters {
  // What SMs asked of L2 (each sector once, wherever it is homed): lts__t_sectors_srcunit_tex*
  std::uint64_t tex_sectors_read = 0, tex_sectors_write = 0;  ///< _op_read, _op_write
  std::uint64_t tex_sectors_atomic = 0, tex_sectors_reduction = 0;
  std::uint64_t tex_sectors_hit = 0,
                tex_sectors_miss =
                    0;             ///< _lookup_hit, _lookup_miss: a miss counts as all the sectors it brings
  std::uint64_t tex_requests = 0;  ///< lts__t_requests_srcunit_tex.sum
  // Every lookup of every slice, the traffic between partitions and instruction fetches included: lts__t_sectors*
  std::uint64_t lts_sectors = 0,
                lts_sectors_hit = 0;  ///< lts__t_sectors.sum, hit share: lts__t_sector_hit_rate.pct
  std::uint64_t lts_sectors_read = 0, lts_sectors_write = 0;  ///< lts__t_sectors_op_read.sum, _op_write.sum
  std::uint64_t partition_sectors = 0;                        ///< sectors that crossed between partitions
  std::uint64_t dram_bytes_read = 0, dram_bytes_write = 0;    ///< dram__bytes_read.sum, dram__bytes_write.sum
  std::uint64_t dram_row_hits = 0, dram_row_misses = 0;
  std::uint64_t fill_sectors = 0;  ///< sectors read from DRAM to complete partly written ones
  std::uint64_t waits_let_go =
      0;  ///< 1: loads that waited for what could not come were let go (memory/signals.h)
  std::uint64_t dirty_sectors_left = 0;  ///< dirty in L2 when asked (at the kernel's end)
  // The GPCs' caches of code and constants: what SMs asked of them, and the lines that they asked of L2
  std::uint64_t gpc_code_requests = 0,
                gpc_code_misses = 0;  ///< gcc__cache_requests_type_instruction.sum, 256-byte lines
  std::uint64_t gpc_constant_requests = 0, gpc_constant_misses = 0;
  // Busy time for the throughput percentages: sums over units of cycles in the unit's own domain.
  std::uint64_t l2_slice_busy = 0;  ///< L2 cycles slices spent delivering or taking data, all slices
  std::uint64_t dram_busy = 0;      ///< DRAM cycles channels' data buses were taken, all channels
  // A request's segments sum to its latency (asserted): SM cycles summed over read replies.
  std::uint64_t read_requests = 0, read_latency = 0;
  std::uint64_t segment_network = 0, segment_l2 = 0, segment_partition = 0, segment_dram_queue = 0,
                segment_dram = 0;
};

}  // namespace foretrace::stats
