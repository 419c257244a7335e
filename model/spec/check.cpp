#include "model/spec/check.h"

#include <fmt/format.h>

#include <bit>

namespace foretrace::spec {
namespace {

using Result = std::optional<Problem>;

Result problem(std::string key, std::string sentence) { return Problem{std::move(key), std::move(sentence)}; }

}  // namespace

Result check(const ClockSet& clock) {
  if (clock.sm == 0) return problem("clock.boost.sm", "the SM clock must not be 0");
  if (clock.l2 == 0) return problem("clock.boost.l2", "the L2 clock must not be 0");
  if (clock.dram == 0) return problem("clock.boost.dram", "the DRAM clock must not be 0");
  return {};
}

Result check(const SmSpec& sm) {
  if (sm.gpcs > sm.count) {
    return problem("sm.gpcs", fmt::format("{} GPCs cannot share {} SMs: expected at most one GPC an SM",
                                          sm.gpcs, sm.count));
  }
  return {};
}

Result check(const LimitsSpec& limits) {
  if (limits.warps % kSubCores != 0) {
    return problem("limits.warps", fmt::format("expected a multiple of the {} sub-cores", kSubCores));
  }
  if (limits.threads_per_block > limits.warps * kWarpSize) {
    return problem("limits.threads_per_block",
                   fmt::format("a block of {} threads does not fit into the {} warps of an SM",
                               limits.threads_per_block, limits.warps));
  }
  if (limits.registers % (limits.register_unit * kSubCores) != 0) {
    return problem("limits.registers", fmt::format("expected a multiple of register_unit x {} sub-cores = {}",
                                                   kSubCores, limits.register_unit * kSubCores));
  }
  if (limits.registers_per_block > limits.registers) {
    return problem("limits.registers_per_block", "expected at most limits.registers");
  }
  if (limits.shared_per_block % limits.shared_unit != 0) {
    return problem("limits.shared_per_block", "expected a multiple of limits.shared_unit");
  }
  return {};
}

Result check(const FetchSpec& fetch) {
  if (fetch.l1_bytes % (kLineBytes * fetch.l1_ways) != 0) {
    return problem("fetch.l1_bytes", fmt::format("expected a multiple of {}: fetch.l1_ways lines of {} bytes",
                                                 kLineBytes * fetch.l1_ways, kLineBytes));
  }
  return {};
}

Result check(const ConstantSpec& constant) {
  if (constant.l0_bytes > constant.l1_bytes) {
    return problem("constant.l0_bytes", "expected at most constant.l1_bytes, the SM's cache");
  }
  if (!std::has_single_bit(constant.line_bytes))
    return problem("constant.line_bytes", "expected a power of two");
  return {};
}

Result check(const GpcCacheSpec& cache) {
  const std::uint32_t line = cache.line_bytes;
  if (!std::has_single_bit(line)) return problem("gpc_cache.line_bytes", "expected a power of two");
  if (cache.bytes % (line * cache.ways) != 0) {
    return problem(
        "gpc_cache.bytes",
        fmt::format("expected a multiple of {}: gpc_cache.ways lines of {} bytes", line * cache.ways, line));
  }
  if (cache.preload_bytes > cache.bytes) {
    return problem("gpc_cache.preload_bytes", "expected at most gpc_cache.bytes");
  }
  return {};
}

Result check(const LsuSpec& lsu) {
  if (lsu.uniform_interval > lsu.address_interval) {
    return problem("lsu.uniform_interval",
                   "expected at most lsu.address_interval: one address is no slower than 32");
  }
  return {};
}

Result check(const L1Spec& l1) {
  if (l1.carveouts.empty()) return problem("l1.carveouts", "expected at least one size");
  for (std::size_t i = 1; i < l1.carveouts.size(); ++i) {
    if (l1.carveouts[i] <= l1.carveouts[i - 1]) {
      return problem("l1.carveouts", fmt::format("expected ascending sizes, found {} after {}",
                                                 l1.carveouts[i], l1.carveouts[i - 1]));
    }
  }
  if (l1.carveouts.back() >= l1.unified_bytes) {
    return problem("l1.carveouts",
                   fmt::format("the largest, {} bytes, leaves no L1 of the {} bytes of l1.unified_bytes",
                               l1.carveouts.back(), l1.unified_bytes));
  }
  for (const auto& [key, bytes] : {std::pair{"l1.way_address_bytes", l1.way_address_bytes},
                                   std::pair{"l1.way_sector_bytes", l1.way_sector_bytes}}) {
    if (bytes % kWayPieceBytes != 0)
      return problem(key, fmt::format("expected a multiple of {} bytes", kWayPieceBytes));
  }
  const std::uint32_t line = l1.way_address_bytes + kSectorsPerLine * l1.way_sector_bytes;
  const std::uint32_t held = l1.store_lines * line;
  if (held != 0 && l1.way_bytes < held + kWayPieceBytes) {  // what is held back would wait for itself
    return problem(
        "l1.way_bytes",
        fmt::format("expected {} bytes or more, room for the {} lines of l1.store_lines and another",
                    held + kWayPieceBytes, l1.store_lines));
  }
  if (!std::has_single_bit(l1.sets)) {
    return problem("l1.sets", fmt::format("expected a power of two, found {}", l1.sets));
  }
  const std::uint32_t least_bytes = (l1.lines_kept_back + l1.sets) * static_cast<std::uint32_t>(kLineBytes);
  if (l1.unified_bytes - l1.carveouts.back() < least_bytes) {
    return problem(
        "l1.lines_kept_back",
        fmt::format(
            "{} lines kept back and one for each of {} sets do not fit into the {} bytes that the largest "
            "carve-out leaves",
            l1.lines_kept_back, l1.sets, l1.unified_bytes - l1.carveouts.back()));
  }
  return {};
}

Result check(const NetworkSpec& network) {
  if (network.gpc_reply_bytes < network.reply_bytes) {
    return problem("network.gpc_reply_bytes",
                   "expected at least network.reply_bytes: a GPC's port is no narrower than one SM's");
  }
  return {};
}

Result check(const L2Spec& l2) {
  if (l2.partitions == 2 && !std::has_single_bit(l2.granule_bytes))
    return problem("l2.granule_bytes", "expected a power of two");
  if (l2.together_bits % kLineBytes != 0 || l2.together_bits >= l2.granule()) {
    return problem(
        "l2.together_bits",
        fmt::format("expected bits of an address between a line of {} bytes and a granule of {} bytes",
                    kLineBytes, l2.granule()));
  }
  // One of each pair of granules is the pair's number on its side: lines stay dense.
  if (l2.partitions == 2 && (l2.partition_bits & l2.granule_bytes) == 0)
    return problem("l2.partition_bits",
                   fmt::format("expected bit {} among them, l2.granule_bytes", l2.granule_bytes));
  if (l2.slices % l2.partitions != 0) {
    return problem("l2.slices", fmt::format("expected a multiple of the {} partitions", l2.partitions));
  }
  if (l2.ways < l2.partitions) {
    return problem("l2.ways", "expected at least l2.partitions: near copies and home lines share a set");
  }
  const std::uint64_t set_bytes = std::uint64_t{l2.slices} * l2.ways * static_cast<std::uint64_t>(kLineBytes);
  if (l2.bytes % set_bytes != 0) {
    return problem(
        "l2.bytes",
        fmt::format("expected sets x ways x slices x {} bytes: a multiple of {} ({} ways, {} slices)",
                    kLineBytes, set_bytes, l2.ways, l2.slices));
  }
  return {};
}

Result check(const DramSpec& dram) {
  if (dram.access_bytes % kSectorBytes != 0 || dram.access_bytes > kLineBytes ||
      kLineBytes % dram.access_bytes != 0) {
    return problem("dram.access_bytes", "expected 32, 64 or 128: whole sectors of a line");
  }
  if (dram.row_bytes % kLineBytes != 0) {
    return problem("dram.row_bytes", fmt::format("expected a multiple of a line's {} bytes", kLineBytes));
  }
  if (dram.drain_until > dram.drain_from)
    return problem("dram.drain_until", fmt::format("expected at most dram.drain_from ({})", dram.drain_from));
  if (dram.refresh_cycles >= dram.refresh_interval) {
    return problem(
        "dram.refresh_cycles",
        fmt::format("expected less than dram.refresh_interval ({}), or nothing else is ever served",
                    dram.refresh_interval));
  }
  return {};
}

Result check(const GpuSpec& gpu) {
  if (auto found = check(gpu.clock)) return found;
  if (auto found = check(gpu.sm)) return found;
  if (auto found = check(gpu.limits)) return found;
  if (auto found = check(gpu.fetch)) return found;
  if (auto found = check(gpu.constant)) return found;
  if (auto found = check(gpu.gpc_cache)) return found;
  if (auto found = check(gpu.lsu)) return found;
  if (auto found = check(gpu.l1)) return found;
  if (auto found = check(gpu.network)) return found;
  if (auto found = check(gpu.l2)) return found;
  if (auto found = check(gpu.dram)) return found;
  if (gpu.limits.shared_per_block + gpu.limits.shared_reserved > gpu.l1.carveouts.back()) {
    return problem("limits.shared_per_block",
                   fmt::format("with the reserved {} bytes it is more than the largest carve-out of {} bytes",
                               gpu.limits.shared_reserved, gpu.l1.carveouts.back()));
  }
  if (gpu.l2.slices % gpu.dram.channels != 0 && gpu.dram.channels % gpu.l2.slices != 0) {
    return problem("dram.channels",
                   fmt::format("{} channels cannot be dealt evenly to {} L2 slices (l2.slices)",
                               gpu.dram.channels, gpu.l2.slices));
  }
  if (gpu.dram.channels % gpu.l2.partitions != 0) {
    return problem("dram.channels",
                   fmt::format("expected a multiple of the {} L2 partitions", gpu.l2.partitions));
  }
  return {};
}

}  // namespace foretrace::spec
