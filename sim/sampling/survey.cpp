#include "sim/sampling/survey.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <unordered_set>

#include "model/rules/branches.h"
#include "model/sm/access_shapes.h"
#include "sim/emulate/execute/device_runtime.h"
#include "sim/emulate/schedule/block_stream.h"
#include "sim/sampling/constants.h"
#include "sim/sampling/sums.h"

namespace foretrace::sampling {

namespace {

/// Blocks at the same places of the grid's sides: by dimension the first, those between, the last.
struct Class {
  std::array<std::uint64_t, 3> first{}, count{1, 1, 1};  // a box of blocks
  std::uint64_t blocks() const { return count[0] * count[1] * count[2]; }
  std::uint64_t block(std::uint64_t i, const Dim3& grid) const {
    const std::uint64_t x = first[0] + i % count[0], y = first[1] + i / count[0] % count[1],
                        z = first[2] + i / count[0] / count[1];
    return (z * grid.y + y) * grid.x + x;
  }
};

std::vector<Class> classes_of(const Dim3& grid) {
  std::vector<Class> classes{Class{}};
  const std::array<std::uint64_t, 3> extent{grid.x, grid.y, grid.z};
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<Class> split;
    for (const Class& each : classes) {
      const auto add = [&](std::uint64_t first, std::uint64_t count) {
        split.push_back(each);
        split.back().first[d] = first;
        split.back().count[d] = count;
      };
      add(0, 1);
      if (extent[d] > 2) add(1, extent[d] - 2);
      if (extent[d] > 1) add(extent[d] - 1, 1);
    }
    classes = std::move(split);
  }
  return classes;
}

/// Executes blocks and counts what they ask for.
class Counter {
 public:
  Counter(const emulate::Emulator& emulator, const sm::StaticProgram& program, const spec::GpuSpec& spec)
      : emulator_(emulator), program_(program), array_(spec.l1.unified_bytes, 0, spec.l1.sector_interval),
        shapes_(program, array_, counters_) {}

  /// `profile`: also notes there what ran when; may be null.
  stats::LaunchCounters count(std::uint64_t block, PhaseProfile* profile = nullptr) {
    profile_ = profile;
    counters_ = {};
    counters_.instructions.resize(program_.code.size());
    emulate::BlockStream stream(emulator_, block);
    const std::uint32_t warps = stream.warps();
    std::vector<Warp> readers(warps);
    // A warp's parts are read as they come, so that little is held.
    for (std::uint32_t left = warps; left != 0;) {
      for (std::uint32_t warp = 0; warp < warps; ++warp) {
        Warp& reader = readers[warp];
        if (reader.ended) continue;
        const work::WarpRecord* part = stream.next(warp);
        if (part == nullptr) {
          reader.ended = true;
          --left;
          continue;
        }
        if (reader.begun) {
          reader.cursor.go_on_with(*part);
        } else {
          reader.cursor = work::WarpCursor(program_.shapes, *part);
          reader.begun = true;
        }
        read(reader);
      }
    }
    counters_.blocks = 1;
    return std::move(counters_);
  }

 private:
  struct Warp {
    work::WarpCursor cursor;
    work::Step before;  // the instruction read last
    bool begun = false, any = false, ended = false;
  };

  void read(Warp& reader) {
    work::WarpCursor& cursor = reader.cursor;
    work::Step step;
    while (cursor.next(step)) {
      if (reader.any && program_.code[reader.before.index].action == sm::Action::control) {
        ++counters_.branches;
        if (rules::branch_between(reader.before, step).divergent()) ++counters_.divergent_branches;
      }
      reader.before = step;
      reader.any = true;
      const sm::StaticInstruction& instruction = program_.code[step.index];
      const auto active = static_cast<std::uint64_t>(std::popcount(step.active)),
                 on = static_cast<std::uint64_t>(std::popcount(step.executed));
      stats::InstructionCounters& counted = counters_.instructions[step.index];
      if (profile_) profile_->note(step.index);
      ++counted.executed;
      counted.thread_executed += active;
      counted.pred_on += on;
      ++counters_.inst_executed;
      counters_.thread_inst_executed += active;
      counters_.thread_inst_pred_on += on;
      switch (instruction.action) {
        case sm::Action::memory: {
          sm::MemoryIssue issue;
          issue.instruction = &instruction;
          issue.index = step.index;
          issue.executed = step.executed;
          issue.cursor = &cursor;
          shapes_.count(issue);
          break;
        }
        case sm::Action::barrier_sync: counters_.barriers_waited += step.executed ? 1 : 0; break;
        default: break;
      }
    }
  }

  const emulate::Emulator& emulator_;
  const sm::StaticProgram& program_;
  stats::LaunchCounters counters_;
  sm::DataArray array_;
  sm::AccessShapes shapes_;
  PhaseProfile* profile_ = nullptr;
};

/// What of a block's counts makes it the same as another.
std::uint64_t signature(const stats::LaunchCounters& counters) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 0x100000001b3;
    hash ^= hash >> 29;
  };
  for (const stats::InstructionCounters& each : counters.instructions) {
    mix(each.executed);
    mix(each.pred_on);
    mix(each.sectors);
    mix(each.wavefronts);
  }
  return hash;
}

struct Sampled {
  std::uint64_t block = 0, instructions = 0;
};

/// Variance of the mean of a sample that is spread over an ordered population: from the differences of neighbours, since what changes
/// slowly along the grid is covered by the spread.
double variance_of_mean(const std::vector<Sampled>& sample, std::uint64_t population) {
  const std::size_t n = sample.size();
  if (n < 2 || n >= population) return 0;
  double squares = 0;
  for (std::size_t i = 1; i < n; ++i) {
    const double step =
        static_cast<double>(sample[i].instructions) - static_cast<double>(sample[i - 1].instructions);
    squares += step * step;
  }
  const double nn = static_cast<double>(n);
  return squares / (2 * (nn - 1)) / nn * (1 - nn / static_cast<double>(population));
}

struct ClassSample {
  Class box;
  stats::LaunchCounters counted;  // sum of the sample
  std::vector<Sampled> sample;    // ascending blocks, once sorted
  std::unordered_set<std::uint64_t> taken;
  std::uint64_t first_signature = 0, tried = 0;
  bool uniform = true;
  bool complete() const { return sample.size() == box.blocks(); }
};

/// One more block of the class, where the sample is thinnest. False: there is none left.
bool take(ClassSample& from, const Dim3& grid, Counter& counter) {
  const std::uint64_t blocks = from.box.blocks();
  if (from.sample.size() == blocks) return false;
  // The golden ratio's multiples are spread evenly however many are taken; a block that was taken already: the next one.
  const double part = std::fmod(0.5 + static_cast<double>(from.tried++) * 0.6180339887498949, 1.0);
  auto index = std::min(blocks - 1, static_cast<std::uint64_t>(part * static_cast<double>(blocks)));
  while (!from.taken.insert(index).second) index = (index + 1) % blocks;
  const std::uint64_t block = from.box.block(index, grid);
  const stats::LaunchCounters counted = counter.count(block);
  const std::uint64_t mark = signature(counted);
  if (from.sample.empty()) {
    from.first_signature = mark;
    from.counted.instructions.resize(counted.instructions.size());
  }
  from.uniform = from.uniform && mark == from.first_signature;
  add_sums(from.counted, counted, 1);
  from.sample.push_back({block, counted.inst_executed});
  return true;
}

/// What is counted of a grid's blocks, by class.
class GridSample {
 public:
  GridSample(const Dim3& grid, Counter& counter, std::uint64_t budget)
      : grid_(grid), counter_(counter), budget_(budget) {
    for (const Class& box : classes_of(grid)) {
      classes_.emplace_back();
      classes_.back().box = box;
    }
  }

  void take_of_each_class() {
    const std::uint64_t share = budget_ / classes_.size();
    for (ClassSample& each : classes_) {
      std::uint64_t own = 0;
      while (each.sample.size() < kMostOfClass.whole() &&
             (each.sample.size() < kFewestOfClass.whole() || own < std::min(kEnoughOfClass.whole(), share)) &&
             (each.sample.size() < 2 || own < 2 * share) && take_one(each)) {
        own += each.sample.back().instructions;
      }
    }
  }

  /// More of the class that leaves most in doubt.
  void take_where_blocks_differ() {
    std::uint64_t most = budget_;
    while (used_ < most) {
      const Doubt doubt = doubt_now();
      const bool enough = doubt.error < kSurveyError * doubt.total;
      if (doubt.worst == nullptr || (enough && used_ > budget_ / 4)) return;
      const std::size_t more = doubt.worst->sample.size() / 2 + 1;
      for (std::size_t i = 0; i < more && used_ < most; ++i) {
        if (!take_one(*doubt.worst)) break;
      }
      if (doubt.error > kSurveyError * doubt.total)
        most = static_cast<std::uint64_t>(kSurveyBudgets * static_cast<double>(budget_));
    }
  }

  /// Whether the blocks of each class all do the same.
  bool alike() const {
    return std::all_of(classes_.begin(), classes_.end(),
                       [](const ClassSample& each) { return each.uniform; });
  }

  /// The whole grid's sums, and how well they are known.
  void add_to(Survey& result) {
    double variance = 0, squares = 0;
    for (ClassSample& each : classes_) {
      sort_by_block(each.sample);
      const auto blocks = static_cast<double>(each.box.blocks());
      const double weight = blocks / static_cast<double>(each.sample.size());
      add_sums(result.sums, each.counted, weight);
      result.instructions += weight * static_cast<double>(each.counted.inst_executed);
      if (!each.uniform) {
        result.uniform = result.uniform && each.complete();
        variance += blocks * blocks * variance_of_mean(each.sample, each.box.blocks());
      }
      for (const Sampled& one : each.sample) {
        result.sample.push_back({one.block, one.instructions});
        squares += weight * static_cast<double>(one.instructions) * static_cast<double>(one.instructions);
      }
    }
    sort_by_block(result.sample);
    result.relative_error = result.instructions > 0 ? std::sqrt(variance) / result.instructions : 0;
    const auto blocks = static_cast<double>(grid_.count());
    const double mean = result.instructions / blocks;
    result.spread = mean > 0 ? std::sqrt(std::max(0.0, squares / blocks - mean * mean)) / mean : 0;
    result.executed = used_;
  }

 private:
  struct Doubt {
    double total = 0, error = 0;  ///< warp instructions of the grid; one standard deviation
    ClassSample* worst = nullptr;
  };

  static void sort_by_block(auto& sample) {
    std::sort(sample.begin(), sample.end(), [](const auto& a, const auto& b) { return a.block < b.block; });
  }

  bool take_one(ClassSample& from) {
    if (!take(from, grid_, counter_)) return false;
    used_ += from.sample.back().instructions;
    return true;
  }

  Doubt doubt_now() {
    Doubt doubt;
    double variance = 0, worst = 0;
    for (ClassSample& each : classes_) {
      const auto blocks = static_cast<double>(each.box.blocks());
      doubt.total +=
          blocks * static_cast<double>(each.counted.inst_executed) / static_cast<double>(each.sample.size());
      if (each.uniform || each.complete()) continue;
      sort_by_block(each.sample);
      const double own = blocks * blocks * variance_of_mean(each.sample, each.box.blocks());
      variance += own;
      if (own >= worst) {
        worst = own;
        doubt.worst = &each;
      }
    }
    doubt.error = std::sqrt(variance);
    return doubt;
  }

  const Dim3& grid_;
  Counter& counter_;
  std::uint64_t budget_, used_ = 0;  // warp instructions
  std::vector<ClassSample> classes_;
};

/// Whether some block does something else when the blocks before it have been executed. `work`: warp instructions of a block.
bool depends(const emulate::LaunchContext& context, const sm::StaticProgram& program,
             const spec::GpuSpec& spec, double work) {
  constexpr std::uint64_t kPlaces = kPlacesLooked.whole();
  const std::uint64_t blocks = context.grid.count();
  const std::uint64_t before = std::min({kBlocksBefore.whole(), blocks / (kPlaces + 1),
                                         static_cast<std::uint64_t>(kWorkBefore / std::max(work, 1.0))});
  for (std::uint64_t place = 1; before > 0 && place <= kPlaces; ++place) {
    const std::uint64_t block = blocks * place / (kPlaces + 1);
    const auto marks = [&](std::uint64_t first) {
      const auto fork = context.memory->fork();
      const emulate::Emulator emulator(without_effects(context, *fork));
      Counter counter(emulator, program, spec);
      for (std::uint64_t each = first; each < block; ++each) emulator.run_block(each, nullptr);
      return signature(counter.count(block));
    };
    if (marks(block) != marks(block - before)) return true;
  }
  return false;
}

}  // namespace

emulate::LaunchContext without_effects(const emulate::LaunchContext& context, emulate::GlobalMemory& fork) {
  emulate::LaunchContext own = context;
  own.memory = &fork;
  own.outside = nullptr;
  if (emulate::blocks_may_wait(*context.program))
    own.idle_limit = std::min(own.idle_limit, kPatience.whole());
  own.print = own.report = [](std::string_view) {};
  if (own.device_runtime != nullptr) own.device_runtime = &own.device_runtime->silent();
  own.bounds_reported = nullptr;  // silent: the launch itself has to say it
  return own;
}

void PhaseProfile::note(std::uint32_t instruction) {
  constexpr std::size_t kMostStretches = kProfileStretches.whole();
  if (stretches_.empty() || taken_ == length_) {
    if (stretches_.size() == kMostStretches) {  // pairs become one
      for (std::size_t i = 0; i < kMostStretches / 2; ++i) {
        std::vector<std::uint64_t>&into = stretches_[i], &first = stretches_[2 * i],
        &second = stretches_[2 * i + 1];
        if (first.size() < second.size()) std::swap(first, second);
        std::transform(second.begin(), second.end(), first.begin(), first.begin(), std::plus<>());
        if (i > 0) into = std::move(first);
      }
      stretches_.resize(kMostStretches / 2);
      length_ *= 2;
    }
    stretches_.emplace_back();
    taken_ = 0;
  }
  std::vector<std::uint64_t>& now = stretches_.back();
  if (now.size() <= instruction) now.resize(instruction + 1);
  ++now[instruction];
  ++taken_;
}

std::vector<std::uint64_t> PhaseProfile::sum(double from, double to) const {
  std::vector<std::uint64_t> result;
  const auto count = static_cast<double>(stretches_.size());
  for (auto i = static_cast<std::size_t>(from * count); i < static_cast<std::size_t>(std::ceil(to * count));
       ++i) {
    const std::vector<std::uint64_t>& each = stretches_[i];
    if (result.size() < each.size()) result.resize(each.size());
    std::transform(each.begin(), each.end(), result.begin(), result.begin(), std::plus<>());
  }
  return result;
}

double PhaseProfile::change(double from, double to) const {
  if (stretches_.empty() || to >= 1) return 0;
  std::vector<std::uint64_t> seen = sum(from, to), left = sum(to, 1);
  seen.resize(std::max(seen.size(), left.size()));
  left.resize(seen.size());
  const auto all_seen = static_cast<double>(std::accumulate(seen.begin(), seen.end(), std::uint64_t{0}));
  const auto all_left = static_cast<double>(std::accumulate(left.begin(), left.end(), std::uint64_t{0}));
  if (all_seen == 0 || all_left == 0) return 0;
  double differ = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    differ += std::abs(static_cast<double>(seen[i]) / all_seen - static_cast<double>(left[i]) / all_left);
  }
  return differ / 2;
}

std::uint64_t typical_block(const emulate::LaunchContext& context, std::uint64_t limit) {
  const auto fork = context.memory->fork();
  const emulate::Emulator emulator(without_effects(context, *fork));
  emulate::BlockStream stream(emulator, emulator.blocks() / 2);
  std::uint64_t instructions = 0;
  try {
    for (bool more = true; more && instructions < limit;) {
      more = false;
      for (std::uint32_t warp = 0; warp < stream.warps(); ++warp) {
        const work::WarpRecord* part = stream.next(warp);
        if (part == nullptr) continue;
        instructions += part->instructions;
        more = true;
      }
    }
  } catch (const emulate::KernelFault&) { return limit; }
  return std::min(instructions, limit);
}

Survey survey(const emulate::LaunchContext& context, const sm::StaticProgram& program,
              const spec::GpuSpec& spec, std::uint64_t budget) {
  Survey result;
  const auto fork = context.memory->fork();
  const emulate::Emulator emulator(without_effects(context, *fork));
  Counter counter(emulator, program, spec);
  GridSample sample(context.grid, counter, budget);
  try {
    counter.count(emulator.blocks() / 2, &result.profile);
    sample.take_of_each_class();
    sample.take_where_blocks_differ();
  } catch (const emulate::KernelFault& fault) {
    result.possible = false;
    result.obstacle = fault.kind() == emulate::FaultKind::never_ends ? "its blocks wait for each other"
                                                                     : "a block on its own fails";
    return result;
  }
  result.sums.instructions.resize(program.code.size());
  sample.add_to(result);
  if (!sample.alike())
    result.dependent =
        depends(context, program, spec, result.instructions / static_cast<double>(context.grid.count()));
  return result;
}

}  // namespace foretrace::sampling
