#include "model/rules/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace foretrace::rules {
namespace {

constexpr std::array kLimiterNames = {"warps", "registers", "shared_mem", "blocks", "barriers"};

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

std::uint32_t warps_of(std::uint32_t threads) { return (threads + kWarpSize - 1) / kWarpSize; }

/// Registers that a warp gets.
std::uint32_t warp_registers(const spec::LimitsSpec& limits, std::uint32_t registers) {
  return static_cast<std::uint32_t>(round_up(std::uint64_t{registers} * kWarpSize, limits.register_unit));
}

/// A kernel that asks for more than this cannot be encoded; the limit is on what is allocated, as in NVIDIA's header.
bool too_many_registers(const spec::LimitsSpec& limits, std::uint32_t registers) {
  return warp_registers(limits, registers) > warp_registers(limits, limits.registers_per_thread);
}

/// Warps that an SM's registers are enough for: they are given out in each sub-core, and what one cannot give to a whole warp is lost.
std::uint32_t warps_by_registers(const spec::LimitsSpec& limits, std::uint32_t registers) {
  return registers == 0 ? kNoLimit
                        : limits.registers / kSubCores / warp_registers(limits, registers) * kSubCores;
}

std::uint32_t register_limit(const spec::LimitsSpec& limits, std::uint32_t threads, std::uint32_t registers) {
  if (registers == 0) return kNoLimit;
  const std::uint32_t warps = warps_of(threads);
  const std::uint32_t warp = warp_registers(limits, registers);
  // The launch check assumes that all sub-cores get the same number of the block's warps.
  const std::uint64_t block = round_up(warps, limits.warp_granularity) * warp;
  if (block > limits.registers_per_block || too_many_registers(limits, registers)) return 0;
  return warps_by_registers(limits, registers) / warps;
}

std::uint64_t block_shared(const spec::LimitsSpec& limits, const KernelResources& kernel) {
  return round_up(kernel.static_shared + kernel.dynamic_shared + limits.shared_reserved, limits.shared_unit);
}

/// The smallest carve-out of at least `bytes`, the largest when none is.
std::uint32_t carveout_of(const spec::L1Spec& l1, std::uint64_t bytes) {
  for (const std::uint32_t carveout : l1.carveouts) {
    if (carveout >= bytes) return carveout;
  }
  return l1.carveouts.back();
}

/// The carve-out that a kernel's wish gives it: of those that are there, the smallest of at least so many percent of the largest that holds a
/// block; 0 without a wish. It limits the blocks (H100 and H200: profiled_carve_out_wish). Blocks of a few hundred bytes get more
/// there, which is not modelled.
std::uint32_t wished_carveout(const spec::L1Spec& l1, int percent, std::uint64_t block) {
  if (percent < 0) return 0;
  const std::uint64_t wish = static_cast<std::uint64_t>(percent) * l1.carveouts.back() / 100;
  return carveout_of(l1, std::max({wish, block, std::uint64_t{1}}));
}

std::uint32_t shared_limit(const spec::GpuSpec& spec, std::uint64_t block, std::uint32_t wish) {
  if (block > spec.limits.shared_per_block + spec.limits.shared_reserved) return 0;
  if (block == 0) return kNoLimit;
  return static_cast<std::uint32_t>((wish != 0 ? wish : spec.l1.carveouts.back()) / block);
}

/// What the driver sets the SM to when the kernel states no wish. Read off an H100 in 316 launch shapes, all of which come out the same
/// (validate/measurements, profiled_carve_out and profiled_carve_out_more, and the kernels that were measured):
/// the smallest carve-out that holds the resident blocks, and where that is at most the first one of half the unified memory also room
/// for as many blocks again, but for no more than three quarters of those that are missing to the most that an SM can hold, up to that
/// one. Blocks that fill the SM alone or in pairs of full size get no such room.
/// A kernel without shared memory gets room for the reserve of four times the blocks that the warps allow.
std::uint32_t shared_config(const spec::GpuSpec& spec, const KernelResources& kernel, const Occupancy& o) {
  const std::uint32_t spare = spec.l1.spare_factor;
  const std::uint32_t needed = carveout_of(spec.l1, o.blocks * o.shared_per_block);
  if (o.blocks <= 1) return needed;
  if (kernel.static_shared + kernel.dynamic_shared == 0) {
    const std::uint64_t blocks = std::min(spec.limits.blocks, spec.l1.spare_without_shared * o.limit_warps);
    return std::max(needed, carveout_of(spec.l1, blocks * o.shared_per_block));
  }
  if (o.limit_warps <= spare) return needed;
  const std::uint32_t half = carveout_of(spec.l1, spec.l1.unified_bytes / 2);
  const double missing = spec.limits.blocks - std::min<double>(o.blocks, spec.limits.blocks);
  const std::uint64_t blocks =
      std::min(spare * o.blocks, o.blocks + static_cast<std::uint32_t>(spec.l1.spare_share * missing));
  const std::uint32_t roomy = carveout_of(spec.l1, blocks * o.shared_per_block);
  return std::max(needed, std::min(half, roomy));
}

/// Largest register count with which `blocks` blocks fit, 0 when none does.
std::uint32_t registers_for(const spec::GpuSpec& spec, const KernelResources& kernel, std::uint32_t blocks) {
  for (std::uint32_t registers = kernel.registers; registers > 0; --registers) {
    if (register_limit(spec.limits, kernel.threads, registers) >= blocks) return registers;
  }
  return 0;
}

/// Most static and dynamic bytes per block with which `blocks` blocks fit; negative when none do.
std::int64_t shared_for(const spec::GpuSpec& spec, std::uint32_t blocks) {
  const std::uint64_t block =
      spec.l1.carveouts.back() / blocks / spec.limits.shared_unit * spec.limits.shared_unit;
  return static_cast<std::int64_t>(block) - spec.limits.shared_reserved;
}

/// Other block sizes, nearest first, the larger of two at the same distance first.
std::vector<std::uint32_t> other_sizes(const spec::LimitsSpec& limits, std::uint32_t threads) {
  const std::uint32_t here = warps_of(threads) * kWarpSize;
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t step = kWarpSize; step < limits.threads_per_block; step += kWarpSize) {
    if (here + step <= limits.threads_per_block) sizes.push_back(here + step);
    if (here > step) sizes.push_back(here - step);
  }
  return sizes;
}

}  // namespace

const char* name_of(Limiter limiter) { return kLimiterNames[static_cast<std::size_t>(limiter)]; }

Occupancy occupancy(const spec::GpuSpec& spec, const KernelResources& kernel) {
  const spec::LimitsSpec& limits = spec.limits;
  Occupancy result;
  if (kernel.threads == 0) return result;
  const std::uint32_t warps = warps_of(kernel.threads);
  result.shared_per_block = block_shared(limits, kernel);
  result.registers_per_block = warp_registers(limits, kernel.registers) * warps;
  result.limit_warps = kernel.threads > limits.threads_per_block ? 0 : limits.warps / warps;
  result.limit_registers = register_limit(limits, kernel.threads, kernel.registers);
  const std::uint32_t wish = wished_carveout(spec.l1, kernel.carveout_percent, result.shared_per_block);
  result.limit_shared = shared_limit(spec, result.shared_per_block, wish);
  result.limit_blocks = limits.blocks;
  result.limit_barriers = kernel.barriers == 0 ? kNoLimit : limits.barriers / kernel.barriers;

  // The first of equals is named: what no change of the kernel's resources can lift comes first.
  const std::array<std::uint32_t, kLimiterNames.size()> by = {result.limit_warps, result.limit_registers,
                                                              result.limit_shared, result.limit_blocks,
                                                              result.limit_barriers};
  const auto least = std::min_element(by.begin(), by.end());
  result.blocks = *least;
  result.limiter = static_cast<Limiter>(least - by.begin());
  result.warps = result.blocks * warps;
  result.percent = 100.0 * result.warps / limits.warps;
  result.shared_config = wish != 0 ? wish : shared_config(spec, kernel, result);
  result.limit_shared_configured =
      result.shared_per_block == 0
          ? kNoLimit
          : static_cast<std::uint32_t>(result.shared_config / result.shared_per_block);
  result.most_warps = std::min(limits.warps, warps_by_registers(limits, kernel.registers));
  result.most_blocks = std::min({result.limit_blocks, result.limit_shared_configured, result.limit_barriers});
  return result;
}

std::string impossible(const spec::GpuSpec& spec, const KernelResources& kernel) {
  const spec::LimitsSpec& limits = spec.limits;
  if (kernel.threads == 0)
    return fmt::format("0 threads per block; expected 1 to {}", limits.threads_per_block);
  if (kernel.threads > limits.threads_per_block) {
    return fmt::format("{} threads per block; {} has at most {}", kernel.threads, spec.name,
                       limits.threads_per_block);
  }
  if (too_many_registers(limits, kernel.registers)) {
    return fmt::format("{} registers per thread; {} has at most {}", kernel.registers, spec.name,
                       limits.registers_per_thread);
  }
  if (register_limit(limits, kernel.threads, kernel.registers) == 0) {
    const std::uint64_t need = round_up(warps_of(kernel.threads), limits.warp_granularity) *
                               warp_registers(limits, kernel.registers);
    return fmt::format(
        "{} registers per thread with {} threads per block need {} registers per block; {} has at most {}",
        kernel.registers, kernel.threads, need, spec.name, limits.registers_per_block);
  }
  if (block_shared(limits, kernel) > limits.shared_per_block + limits.shared_reserved) {
    return fmt::format("{} bytes of shared memory per block ({} static, {} dynamic); {} has at most {}",
                       kernel.static_shared + kernel.dynamic_shared, kernel.static_shared,
                       kernel.dynamic_shared, spec.name, limits.shared_per_block);
  }
  if (kernel.barriers > limits.barriers) {
    return fmt::format("{} barriers per block; {} has {} per SM", kernel.barriers, spec.name,
                       limits.barriers);
  }
  return "";
}

NextStep better(const spec::GpuSpec& spec, const KernelResources& kernel) {
  NextStep step;
  step.kernel = kernel;
  const Occupancy now = occupancy(spec, kernel);
  if (now.blocks == 0 || now.warps == spec.limits.warps) return step;

  // Same block size: shed registers and shared memory until one more block fits.
  const std::uint32_t blocks = now.blocks + 1;
  KernelResources leaner = kernel;
  if (now.limit_registers < blocks) leaner.registers = registers_for(spec, kernel, blocks);
  if (now.limit_shared < blocks) {
    const std::int64_t room = std::max<std::int64_t>(0, shared_for(spec, blocks));
    const auto total = static_cast<std::uint64_t>(room);
    leaner.dynamic_shared = total > kernel.static_shared ? total - kernel.static_shared : 0;
    leaner.static_shared = std::min(kernel.static_shared, total);
  }
  const Occupancy then = occupancy(spec, leaner);
  if (leaner.registers > 0 && then.blocks >= blocks) return {true, leaner, then};

  // Another block size with the resources as they are.
  for (const std::uint32_t threads : other_sizes(spec.limits, kernel.threads)) {
    KernelResources other = kernel;
    other.threads = threads;
    const Occupancy result = occupancy(spec, other);
    if (result.warps > now.warps) return {true, other, result};
  }
  return step;
}

std::string next_step(const spec::GpuSpec& spec, const KernelResources& kernel) {
  const Occupancy now = occupancy(spec, kernel);
  if (now.blocks == 0) return impossible(spec, kernel);
  if (now.warps == spec.limits.warps) return "";
  const NextStep step = better(spec, kernel);
  if (!step.exists)
    return "No smaller need for registers or shared memory and no other block size gives more warps.";
  std::vector<std::string> needs;
  if (step.kernel.registers != kernel.registers)
    needs.push_back(fmt::format("at most {} registers per thread", step.kernel.registers));
  const std::uint64_t shared = step.kernel.static_shared + step.kernel.dynamic_shared;
  if (shared != kernel.static_shared + kernel.dynamic_shared) {
    needs.push_back(fmt::format("at most {} bytes of shared memory per block", shared));
  }
  if (step.kernel.threads != kernel.threads)
    needs.push_back(fmt::format("{} threads per block", step.kernel.threads));
  return fmt::format("With {}: {} blocks, {} warps ({:g}%).", fmt::join(needs, " and "), step.result.blocks,
                     step.result.warps, step.result.percent);
}

}  // namespace foretrace::rules
