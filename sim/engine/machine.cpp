#include "sim/engine/machine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/isa/compatibility.h"
#include "model/isa/matrix_shapes.h"
#include "model/rules/clusters.h"
#include "model/units/error.h"
#include "sim/emulate/fault.h"

namespace foretrace::engine {

namespace {

/// The options' progress, which also ends the run where it is to stop.
std::function<void(std::uint64_t, Cycle)> stopping(const RunOptions& options) {
  if (options.stop == nullptr) return options.progress;
  return [stop = options.stop, progress = options.progress](std::uint64_t done, Cycle now) {
    if (*stop) throw emulate::Interrupted();
    if (progress) progress(done, now);
  };
}

}  // namespace

rules::KernelResources resources_of(const Launch& shape) {
  rules::KernelResources resources;
  resources.threads = static_cast<std::uint32_t>(shape.block.count());
  resources.registers = shape.program->registers;
  resources.static_shared = shape.program->static_shared;
  resources.dynamic_shared = shape.dynamic_shared;
  resources.barriers = shape.program->barriers;
  resources.carveout_percent = shape.carveout_percent;
  return resources;
}

void check_launch(const spec::GpuSpec& spec, const Launch& shape) {
  const isa::Program& program = *shape.program;
  if (!isa::runs_on(program.sm, isa::Target::plain, spec.sm_number)) {
    throw InputError(fmt::format("kernel {}: its machine code is for sm_{}; {} runs sm_{}", program.kernel,
                                 program.sm, spec.name, spec.sm_number));
  }
  if (shape.block.count() > spec.limits.threads_per_block) {
    throw InputError(fmt::format("kernel {}: a block of {} threads; expected at most {} on {}",
                                 program.kernel, shape.block.count(), spec.limits.threads_per_block,
                                 spec.name));
  }
  if (program.max_threads && shape.block.count() > program.max_threads) {
    throw InputError(fmt::format("kernel {}: a block of {} threads; its __launch_bounds__ allow {}",
                                 program.kernel, shape.block.count(), program.max_threads));
  }
  if (shape.buffer_bytes > spec.dram.bytes) {
    throw InputError(fmt::format("kernel {}: its buffers take {} bytes; {} has {} bytes of device memory",
                                 program.kernel, shape.buffer_bytes, spec.name, spec.dram.bytes));
  }
  const std::string why = rules::impossible(spec, resources_of(shape));
  if (!why.empty()) throw InputError(fmt::format("kernel {}: {}", program.kernel, why));
}

std::shared_ptr<const spec::GpuSpec> at_clock_of(std::shared_ptr<const spec::GpuSpec> spec,
                                                 const std::vector<const isa::Program*>& programs) {
  if (spec->product_clock == spec->clock.sm) return spec;
  if (std::none_of(programs.begin(), programs.end(),
                   [](const isa::Program* program) { return isa::makes_products(*program); })) {
    return spec;
  }
  auto lower = std::make_shared<spec::GpuSpec>(*spec);
  lower->clock.sm = lower->product_clock;
  return lower;
}

Machine::Machine(std::shared_ptr<const spec::GpuSpec> spec) : spec_(spec), common_(std::move(spec)) {}

Machine::Clocked& Machine::clocked_for(const isa::Program& program) {
  std::shared_ptr<const spec::GpuSpec> spec = at_clock_of(spec_, {&program});
  if (spec == spec_) return common_;
  if (!products_) products_ = std::make_unique<Clocked>(std::move(spec));
  return *products_;
}

std::uint64_t Machine::resident_blocks(const Launch& shape) const {
  return std::uint64_t{rules::occupancy(*spec_, resources_of(shape)).blocks} * spec_->sm.count;
}

Outcome Machine::run(const Launch& shape, work::BlockSource& source, const RunOptions& options) {
  check_launch(*spec_, shape);
  Clocked& chip = clocked_for(*shape.program);
  Outcome outcome;
  outcome.chip = chip.spec;
  const rules::KernelResources resources = resources_of(shape);
  outcome.occupancy = rules::occupancy(*spec_, resources);
  outcome.next_step = rules::next_step(*spec_, resources);
  const sm::StaticProgram program(shape.program, *chip.spec);
  gpu::LaunchSetup setup;
  setup.blocks = shape.grid.count();
  setup.blocks_per_sm = outcome.occupancy.blocks;
  setup.most_warps = outcome.occupancy.most_warps;
  setup.most_blocks = outcome.occupancy.most_blocks;
  if (options.blocks_per_sm && options.blocks_per_sm < setup.blocks_per_sm) {
    setup.blocks_per_sm = setup.most_blocks = options.blocks_per_sm;
  }
  setup.warps = static_cast<std::uint32_t>((shape.block.count() + kWarpSize - 1) / kWarpSize);
  setup.l1_bytes = spec_->l1.unified_bytes - outcome.occupancy.shared_config;
  setup.block_shared = outcome.occupancy.shared_per_block;
  setup.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  setup.cluster = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
  if (shape.cluster.count() > 1) {
    const std::uint64_t clusters = rules::max_active_clusters(
        *spec_, setup.blocks_per_sm, static_cast<std::uint32_t>(shape.cluster.count()));
    if (clusters == 0) {
      throw InputError(fmt::format("kernel {}: no GPC of {} holds a cluster of {} blocks",
                                   shape.program->kernel, spec_->name, shape.cluster.count()));
    }
  }
  setup.peer = shape.peer;
  // A warm launch finds in L2 what the one before it left, at whatever clock that was.
  if (options.warm && &chip != last_ && !taken_) taken_ = last_->gpu.l2_contents();
  last_ = &chip;
  setup.l2 = std::exchange(taken_, nullptr);
  static_cast<gpu::RunOptions&>(setup) = options;
  setup.progress = stopping(options);
  outcome.counters = chip.gpu.run(program, setup, source);
  if (outcome.counters.memory.waits_let_go) {
    outcome.estimate.note =
        "blocks waited for others that could not start beside them, and were let go: its time means little";
  }
  outcome.estimate.cycles_low = outcome.estimate.cycles_high = static_cast<double>(outcome.counters.elapsed);
  return outcome;
}

}  // namespace foretrace::engine
