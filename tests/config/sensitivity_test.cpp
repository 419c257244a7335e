// Every key moves something: each is halved and doubled in turn, and some counter of some kernel, or some occupancy, must react.
//
// The kernels are hand-made programs that between them use every pipe, latency class and queue. They run on machines with an eighth
// of the SMs, L2 slices and channels, so that caches overflow and queues fill within milliseconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "model/config/load.h"
#include "model/gpu/gpu.h"
#include "model/isa/parse.h"
#include "model/rules/clusters.h"
#include "model/rules/occupancy.h"
#include "model/units/error.h"
#include "model/work/address_space.h"
#include "sim/engine/machine.h"
#include "tests/config/sensitivity_kernels.h"

namespace foretrace::config {
namespace {

const std::string kConfigs = std::string(FORETRACE_SOURCE_DIR) + "/configs";

class Source final : public work::BlockSource {
 public:
  Source(const Kernel& kernel, const sm::StaticProgram& program) : kernel_(kernel), program_(program) {}
  std::shared_ptr<const work::BlockRecord> next() override {
    if (given_ == kernel_.blocks) return nullptr;
    auto record = std::make_shared<work::BlockRecord>();
    record->block = given_;
    record->warps.resize(kernel_.warps);
    for (std::uint32_t warp = 0; warp < kernel_.warps; ++warp)
      write(record->warps[warp], given_ * kernel_.warps + warp,
            warp < kernel_.short_warps ? 1 : kernel_.rounds);
    ++given_;
    return record;
  }

 private:
  void write(work::WarpRecord& out, std::uint64_t warp, std::uint32_t rounds) const {
    work::WarpRecorder recorder(program_.shapes, out);
    const auto body = static_cast<std::uint32_t>(kernel_.lines.size());
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (std::uint32_t i = 0; i < body; i += kernel_.step) {
        const Line& line = kernel_.lines[i];
        std::array<work::LaneAddresses, 2> addresses{};
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
          const std::uint64_t address = line.base + lane * line.lane + warp * line.warp + round * line.round;
          addresses[0][lane] = address;
          addresses[1][lane] = kGlobal + address;  // a copy: shared destination, global source
        }
        if (program_.code[i].barrier_use != isa::BarrierUse::none) addresses[1].fill(line.operand);
        const std::uint32_t values = program_.code[i].compares_lanes ? 4 : 0;
        recorder.record(i, ~0u, ~0u, std::span(addresses.data(), program_.shapes.of[i].addresses), values, {},
                        &line.transfer);
      }
    }
    recorder.record(body, ~0u, ~0u);
    recorder.finish();
  }

  const Kernel& kernel_;
  const sm::StaticProgram& program_;
  std::uint64_t given_ = 0;
};

std::shared_ptr<isa::Program> program_of(const Kernel& kernel, int sm_number) {
  auto program = std::make_shared<isa::Program>();
  program->sm = sm_number;
  program->kernel = kernel.name;
  std::vector<Line> lines = kernel.lines;
  lines.push_back({"EXIT", 5});
  for (const Line& line : lines) {
    const auto offset = static_cast<std::uint32_t>(program->code.size() * kInstructionBytes);
    isa::Instruction instruction = isa::parse_text(line.text, offset, {{".L", 0}}, kernel.name);
    instruction.offset = offset;
    instruction.control.stall = line.stall;
    instruction.control.write_barrier = line.write;
    instruction.control.read_barrier = line.read;
    instruction.control.wait_mask = line.wait;
    program->code.push_back(instruction);
  }
  return program;
}

/// Numbers of one run, in an order of their own; equal digests mean that nothing reacted.
using Digest = std::vector<std::uint64_t>;

Digest digest_of(const rules::Occupancy& o) {
  return {o.limit_registers, o.limit_shared, o.limit_warps,   o.limit_blocks,
          o.limit_barriers,  o.blocks,       o.shared_config, o.shared_per_block};
}

Digest run(const Kernel& kernel, const Loaded& chip) {
  const rules::KernelResources resources{kernel.warps * kWarpSize, kernel.registers, 0, kernel.shared,
                                         kernel.barriers};
  const rules::Occupancy occupancy = rules::occupancy(chip.spec, resources);
  Digest digest = digest_of(occupancy);
  if (occupancy.blocks == 0) return digest;
  const auto code = program_of(kernel, chip.spec.sm_number);
  const auto clocked = engine::at_clock_of(std::make_shared<const spec::GpuSpec>(chip.spec), {code.get()});
  const sm::StaticProgram program(code, *clocked);
  gpu::Gpu gpu(*clocked);
  gpu::LaunchSetup setup;
  setup.blocks = kernel.blocks;
  setup.blocks_per_sm = occupancy.blocks;
  setup.warps = kernel.warps;
  setup.most_warps = occupancy.most_warps;
  setup.most_blocks = occupancy.most_blocks;
  if (kernel.cluster > 1) {
    setup.grid = {static_cast<std::uint32_t>(kernel.blocks), 1, 1};
    setup.cluster = {kernel.cluster, 1, 1};
    digest.push_back(rules::max_active_clusters(chip.spec, occupancy.blocks, kernel.cluster));
    if (digest.back() == 0) return digest;
  }
  setup.l1_bytes = chip.spec.l1.unified_bytes - occupancy.shared_config;
  Source source(kernel, program);
  const stats::LaunchCounters c = gpu.run(program, setup, source);
  digest.insert(digest.end(),
                {c.elapsed, c.sm_active, c.sm_active_max, c.issue_active, c.l1i_misses, c.constant_l0_misses,
                 c.constant_l1_misses, c.l1_hits_global_ld, c.l1_hits_global_st, c.l1_tag_cycles,
                 c.l1_data_wavefronts, c.register_bank_conflict_cycles});
  digest.insert(digest.end(), c.state.begin(), c.state.end());
  digest.insert(digest.end(), c.pipe_busy.begin(), c.pipe_busy.end());
  const auto* memory = reinterpret_cast<const std::uint64_t*>(&c.memory);
  digest.insert(digest.end(), memory, memory + sizeof c.memory / sizeof *memory);
  // A time counts where it is shown too: gpu__time_duration.
  digest.push_back(c.elapsed * 1'000'000'000 / clocked->clock.sm);
  return digest;
}

/// What makes a chip small: about an eighth of it, in proportion.
std::vector<Override> small(const std::string& chip) {
  // Three TPCs of a GPC: two in its first CPC.
  std::vector<Override> set = {{"sm.count", "12"}, {"sm.gpcs", "2"}, {"sm.cpcs", "2"}};
  if (chip == "rtx4090") {
    set.insert(set.end(), {{"l2.slices", "9"}, {"dram.channels", "3"}});
  } else if (chip == "gb203") {
    set.insert(set.end(), {{"l2.slices", "6"}, {"dram.channels", "2"}});
  } else {
    set.insert(set.end(), {{"l2.slices", "8"}, {"dram.channels", chip == "a100" ? "4" : "8"}});
  }
  if (chip != "gb203" && chip != "rtx4090") set.push_back({"network.partition_bytes", "128"});
  set.push_back({"network.gpc_reply_bytes", "200"});
  set.push_back({"gpc_cache.tpc_interval", "32"});
  set.push_back({"launch.by_gpc", "1"});  // launch.first_group means nothing without it
  set.push_back({"launch.first_group", "2"});
  if (chip == "a100")
    set.insert(set.end(),
               {{"l2.bytes", "4194304"}, {"network.cpc_request_bytes", "200"}});  // more than comes in
  if (chip == "h100" || chip == "gb203") set.push_back({"cluster.groups", "[6,6]"});
  return set;
}

class Sensitivity : public ::testing::TestWithParam<const char*> {
 protected:
  Sensitivity() : chip_(GetParam()) {
    const spec::GpuSpec spec = load_gpu(chip_, {}, {}, kConfigs).spec;
    const int sm_number = spec.sm_number;
    kernels_ = occupants(spec.limits);
    kernels_.push_back(one_of_each(sm_number));
    kernels_.push_back(back_to_back(sm_number));
    for (auto& kernel : floods(sm_number)) kernels_.push_back(kernel);
    for (auto& kernel : repeated_stores()) kernels_.push_back(kernel);
    for (auto& kernel : overflows()) kernels_.push_back(kernel);
    for (auto& kernel : asynchronous(sm_number)) kernels_.push_back(kernel);
  }

  Loaded load(const std::vector<Override>& more, const ClockRequest& clock) const {
    std::vector<Override> set = small(chip_);
    const auto put = [&](const std::string& key, const std::string& value) {
      std::erase_if(set, [&](const Override& other) { return other.key == key; });
      if (!value.empty()) set.push_back({key, value});
    };
    for (const Override& change : more) {
      put(change.key, change.value);
      // What another number of partitions needs beside it, and half the warps.
      const bool two = std::strtod(change.value.c_str(), nullptr) == 2;
      if (change.key == "l2.partitions") {
        put("network.partition_bytes", two ? "128" : "");
        if (two) put("network.partition_latency", "80");
        if (two) put("l2.granule_bytes", "4096");
        if (two) put("l2.partition_bits", "4096");
        if (two && chip_ == "rtx4090") put("l2.slices", "12");
        if (two && chip_ == "rtx4090") put("dram.channels", "4");
        if (two) put("l2.atomic_pass_interval", "0.7");
        if (two) put("l2.read_pass_interval", "0.8");
      }
      if (change.key == "limits.warps") put("limits.threads_per_block", "768");
    }
    return load_gpu(chip_, set, clock, kConfigs);
  }

  const Digest& before(std::size_t kernel, const ClockRequest& clock) {
    auto [at, fresh] = before_.try_emplace({kernel, clock.choice});
    if (fresh) at->second = run(kernels_[kernel], load({}, clock));
    return at->second;
  }

  /// Whether any kernel answers differently with the key's value times `factor`; false too when the loader refuses that value.
  bool reacts(const Value& value, double factor) {
    std::string text;
    const bool list = value.text.front() == '[';
    for (const double number : value.numbers) {
      const bool whole = number == static_cast<double>(static_cast<std::int64_t>(number)) &&
                         !value.key.starts_with("clock.");
      // Half or double of nothing is one or two of it.
      const double scaled = number == 0 ? (factor > 1 ? 2 : 1)
                            : whole     ? static_cast<double>(static_cast<std::int64_t>(number * factor))
                                        : number * factor;
      text += (text.empty() ? "" : ",") + std::to_string(scaled);
    }
    if (list) text = "[" + text + "]";
    ClockRequest clock;
    if (value.key.starts_with("clock.base")) clock.choice = spec::ClockChoice::base;
    if (value.key.starts_with("clock.observed")) clock.choice = spec::ClockChoice::observed;
    Loaded changed;
    try {
      changed = load({{value.key, text}}, clock);
    } catch (const InputError&) {
      return false;  // out of the key's range: the other direction has to do
    }
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (run(kernels_[i], changed) != before(i, clock)) return true;
    }
    return false;
  }

  std::string chip_;
  std::vector<Kernel> kernels_;
  std::map<std::pair<std::size_t, spec::ClockChoice>, Digest> before_;
};

TEST_P(Sensitivity, EveryKeyMovesACounter) {
  const Loaded chip = load({}, {});
  int moved = 0;
  for (const Value& value : chip.values) {
    if (value.key == "dram.bytes") continue;       // below
    if (value.key.starts_with("cuda.")) continue;  // what programs are told: no cycle depends on it
    const bool reacted = reacts(value, 2) || reacts(value, 0.5);
    EXPECT_TRUE(reacted) << value.key << " = " << value.text << " on " << chip_
                         << ": no counter reacts to half or double of it";
    moved += reacted ? 1 : 0;
  }
  EXPECT_GT(moved, 100);
}

TEST_P(Sensitivity, DeviceMemoryHoldsTheBuffersOrTheLaunchIsRefused) {
  const Loaded whole = load({}, {});
  const Loaded half = load({{"dram.bytes", std::to_string(whole.spec.dram.bytes / 2)}}, {});
  engine::Launch shape{{{1, 1, 1}, {32, 1, 1}, {}, 0},
                       program_of(kernels_.front(), whole.spec.sm_number),
                       whole.spec.dram.bytes};
  EXPECT_NO_THROW(engine::check_launch(whole.spec, shape));
  EXPECT_THROW(engine::check_launch(half.spec, shape), InputError);
  ++shape.buffer_bytes;
  EXPECT_THROW(engine::check_launch(whole.spec, shape), InputError);
}

INSTANTIATE_TEST_SUITE_P(Chips, Sensitivity, ::testing::Values("h100", "a100", "rtx4090", "gb203"),
                         [](const auto& chip) { return std::string(chip.param); });

}  // namespace
}  // namespace foretrace::config
