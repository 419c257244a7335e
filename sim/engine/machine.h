// A chip that runs launches: occupancy and carve-out by the rules, then the cycle model over the blocks' records.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "model/gpu/gpu.h"
#include "model/isa/program.h"
#include "model/rules/occupancy.h"
#include "model/spec/gpu_spec.h"
#include "model/stats/launch_counters.h"
#include "model/units/launch_shape.h"
#include "model/work/block_source.h"
#include "sim/sampling/estimate.h"

namespace foretrace::engine {

/// A launch as far as the model needs to know it.
struct Launch : LaunchShape {
  std::shared_ptr<const isa::Program> program;
  std::uint64_t buffer_bytes = 0;  ///< device memory of the launch's buffers; 0: not known (a trace)
  int carveout_percent = -1;       ///< see rules::KernelResources
  std::shared_ptr<const memory::PeerMemory> peer =
      nullptr;  ///< what lies in other devices' memory; null: nothing
};

/// How it is simulated. Whatever takes a launch from the command line on to the chip is this, with what it adds.
struct RunOptions : gpu::RunOptions {
  std::uint32_t blocks_per_sm = 0;          ///< at most so many are resident; 0: as many as fit
  const std::atomic<bool>* stop = nullptr;  ///< set by another thread: the run ends with emulate::Interrupted
};

struct Outcome {
  std::shared_ptr<const spec::GpuSpec> chip;  ///< at the clocks of the launch
  stats::LaunchCounters counters;
  rules::Occupancy occupancy;
  std::string next_step;
  sampling::Estimate estimate;
};

/// What one block of the launch asks of an SM.
rules::KernelResources resources_of(const Launch& shape);

/// Throws InputError when the chip cannot run the launch (another machine code, too many threads, too much shared memory ...).
void check_launch(const spec::GpuSpec& spec, const Launch& shape);

/// The chip at the clock at which it runs launches of these programs: the lower one where any makes products (isa::makes_products).
std::shared_ptr<const spec::GpuSpec> at_clock_of(std::shared_ptr<const spec::GpuSpec> spec,
                                                 const std::vector<const isa::Program*>& programs);

class Machine {
 public:
  explicit Machine(std::shared_ptr<const spec::GpuSpec> spec);
  const spec::GpuSpec& spec() const { return *spec_; }
  /// The chip at the clocks at which it runs the launch.
  const spec::GpuSpec& spec_for(const Launch& shape) { return *clocked_for(*shape.program).spec; }
  /// Blocks of the launch that the chip holds at a time.
  std::uint64_t resident_blocks(const Launch& shape) const;
  /// What L2 holds after the launches so far.
  std::shared_ptr<const memory::L2Contents> l2_contents() { return last_->gpu.l2_contents(); }
  /// Between launches: as much as L2 holds has passed through it.
  void empty_l2() { last_->gpu.empty_l2(); }
  /// The next run finds this in L2: what another machine of the same chip left there.
  void take_l2(std::shared_ptr<const memory::L2Contents> contents) { taken_ = std::move(contents); }
  /// Simulates a launch from the records of its blocks.
  Outcome run(const Launch& shape, work::BlockSource& source, const RunOptions& options);

 private:
  struct Clocked {  // the chip at one clock of its SMs
    explicit Clocked(std::shared_ptr<const spec::GpuSpec> at) : spec(std::move(at)), gpu(*spec) {}
    std::shared_ptr<const spec::GpuSpec> spec;
    gpu::Gpu gpu;
  };
  Clocked& clocked_for(const isa::Program& program);

  std::shared_ptr<const spec::GpuSpec> spec_;
  Clocked common_;
  std::unique_ptr<Clocked>
      products_;  // null: no launch yet that makes products, or they run at the same clock
  Clocked* last_ = &common_;
  std::shared_ptr<const memory::L2Contents> taken_;  // null: nothing
};

}  // namespace foretrace::engine
