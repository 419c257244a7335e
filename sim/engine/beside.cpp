#include "sim/engine/beside.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/sm/joined_program.h"
#include "model/units/error.h"
#include "sim/engine/moved_blocks.h"

namespace foretrace::engine {

namespace {

/// From one launch's memory to the next one's, where they have memory of their own: more than a GPU has.
constexpr std::uint64_t kMemoryApart = std::uint64_t{1} << 40;

/// What stands on the chip while launches share it.
class Shared {
 public:
  Shared(const spec::GpuSpec& spec, const std::vector<BesideLaunch>& launches, bool apart)
      : spec_(spec), apart_(apart) {
    std::vector<const sm::StaticProgram*> kernels;
    for (const BesideLaunch& launch : launches) {
      if (launch.shape.cluster.count() > 1) {
        throw InputError(fmt::format("kernel {}: a launch with clusters cannot be simulated beside others",
                                     launch.shape.program->kernel));
      }
      programs_.push_back(std::make_unique<sm::StaticProgram>(launch.shape.program, spec));
      kernels.push_back(programs_.back().get());
    }
    joined_ = std::make_unique<sm::JoinedProgram>(kernels);
  }

  stats::LaunchCounters run(const std::vector<BesideLaunch>& launches, int threads,
                            std::vector<gpu::GridTime>& times,
                            std::shared_ptr<const memory::L2Contents> l2 = nullptr) {
    gpu::LaunchSetup setup;
    setup.l2 = std::move(l2);
    setup.peer = launches.back().shape.peer;  // all are of one device; the last knows most
    std::uint64_t carve_out = 0;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const gpu::GridBeside grid = grid_of(launches[i], i);
      const rules::Occupancy own = rules::occupancy(spec_, resources_of(launches[i].shape));
      carve_out = std::max<std::uint64_t>(carve_out, own.shared_config);
      setup.block_shared = std::max(setup.block_shared, grid.needs.shared);
      if (i > 0) {
        setup.beside.push_back(grid);
        continue;
      }
      setup.blocks = grid.blocks;
      setup.blocks_per_sm = grid.blocks_per_sm;
      setup.most_warps = own.most_warps;
      setup.most_blocks = own.most_blocks;
      setup.warps = grid.warps;
      setup.needs = grid.needs;
      const Dim3& size = launches[i].shape.grid;
      setup.grid = {size.x, size.y, size.z};
    }
    setup.l1_bytes = spec_.l1.unified_bytes - carve_out;
    setup.shared_bytes = carve_out;
    setup.threads = threads;
    setup.grid_times = &times;
    gpu::Gpu gpu(spec_);
    return gpu.run(joined_->program, setup, *sources_.front());
  }

  /// Warp instructions of the launch among those of all.
  std::uint64_t instructions_of(std::size_t i, const stats::LaunchCounters& together) const {
    std::uint64_t sum = 0;
    const std::size_t first = joined_->first[i];
    for (std::size_t at = first; at < first + programs_[i]->code.size(); ++at)
      sum += together.instructions[at].executed;
    return sum;
  }

 private:
  gpu::GridBeside grid_of(const BesideLaunch& launch, std::size_t i) {
    const rules::KernelResources resources = resources_of(launch.shape);
    const rules::Occupancy own = rules::occupancy(spec_, resources);
    sources_.push_back(std::make_unique<MovedBlocks>(launch.open(), programs_[i]->shapes,
                                                     joined_->program.shapes, joined_->first[i],
                                                     apart_ ? i * kMemoryApart : 0));
    gpu::GridBeside grid;
    grid.blocks = launch.shape.grid.count();
    grid.blocks_per_sm = own.blocks;
    grid.warps = static_cast<std::uint32_t>((launch.shape.block.count() + kWarpSize - 1) / kWarpSize);
    grid.needs = {own.registers_per_block, own.shared_per_block, resources.barriers, own.shared_config};
    grid.begin = launch.begin;
    grid.source = sources_.back().get();
    return grid;
  }

  const spec::GpuSpec& spec_;
  const bool apart_;
  std::vector<std::unique_ptr<sm::StaticProgram>> programs_;
  std::unique_ptr<sm::JoinedProgram> joined_;
  std::vector<std::unique_ptr<work::BlockSource>> sources_;
};

}  // namespace

Cycle BesideOutcome::one_by_one() const {
  Cycle end = 0;
  for (const Each& launch : each) end = std::max(end, launch.time.begin) + launch.alone.counters.elapsed;
  return end;
}

bool can_be_beside(const spec::GpuSpec& spec, const Launch& shape) {
  try {
    const Shared alone(spec, {{shape, 0, {}}}, false);
    return true;
  } catch (const InputError&) { return false; }
}

std::vector<gpu::GridTime> run_together(const spec::GpuSpec& spec, const std::vector<BesideLaunch>& launches,
                                        bool apart, int threads,
                                        std::shared_ptr<const memory::L2Contents> l2) {
  std::vector<gpu::GridTime> times;
  Shared(spec, launches, apart).run(launches, threads, times, std::move(l2));
  return times;
}

BesideOutcome run_beside(std::shared_ptr<const spec::GpuSpec> spec, const std::vector<BesideLaunch>& launches,
                         bool apart, int threads) {
  BesideOutcome outcome;
  RunOptions options;
  options.threads = threads;
  for (const BesideLaunch& launch : launches) {
    Machine machine(spec);
    const std::unique_ptr<work::BlockSource> source = launch.open();
    outcome.each.emplace_back();
    outcome.each.back().alone = machine.run(launch.shape, *source, options);
  }
  Shared shared(*spec, launches, apart);
  std::vector<gpu::GridTime> times;
  outcome.together = shared.run(launches, threads, times);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    outcome.each[i].time = times[i];
    outcome.each[i].instructions = shared.instructions_of(i, outcome.together);
  }
  return outcome;
}

}  // namespace foretrace::engine
