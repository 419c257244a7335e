// What a launch's blocks do, learnt from some of them: the work of a grid that nobody wants to execute.
//
// Models:  sums over all blocks (instructions, lanes, requests, sectors, shared-memory wavefronts), from blocks spread over the grid and
//          weighted by class. The grid's corners, edges and interior are classes of their own, since that is where guards differ; a
//          class whose sampled blocks all did the same is taken to do so throughout, another is sampled until its mean is known.
// Ignores: time, and what blocks tell each other, but for a look at whether they do: some blocks are also executed after those before
//          them. The sampled blocks run in a fork of the memory, which is then forgotten.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/sm/static_program.h"
#include "model/stats/launch_counters.h"
#include "sim/emulate/emulator.h"

namespace foretrace::sampling {

struct SurveyedBlock {
  std::uint64_t block = 0;
  std::uint64_t instructions = 0;  ///< warp instructions
};

/// What a block executes, in the order in which it runs it: how often each instruction ran in stretches of equal length.
class PhaseProfile {
 public:
  /// One more warp instruction, in about the order in which a block executes them.
  void note(std::uint32_t instruction);
  /// How much what runs between these parts of its run (0 to 1, `from` < `to`) differs from what runs after it: the share of executed
  /// instructions that would have to be others. 0 where nothing is known, or nothing is left.
  double change(double from, double to) const;

 private:
  std::vector<std::uint64_t> sum(double from, double to) const;
  std::uint64_t length_ = 64, taken_ = 0;  // warp instructions of a stretch, of the last one so far
  std::vector<std::vector<std::uint64_t>> stretches_;
};

struct Survey {
  bool possible = true;       ///< false: blocks could not be executed out of order
  std::string obstacle;       ///< why it was not possible, as part of a sentence
  bool uniform = true;        ///< in every class all sampled blocks did the same, or all blocks were sampled
  bool dependent = false;     ///< a block did something else when those before it had been executed
  double instructions = 0;    ///< warp instructions of the launch
  double relative_error = 0;  ///< standard error of that, as a share of it
  double spread = 0;  ///< standard deviation of the blocks' warp instructions, as a share of their mean
  std::uint64_t executed = 0;         ///< warp instructions of the sample
  std::vector<SurveyedBlock> sample;  ///< ascending blocks
  PhaseProfile profile;               ///< of a block in the middle of the grid
  /// Sums that the machine code and the addresses alone decide, of the whole launch; all else is 0.
  stats::LaunchCounters sums;
};

/// `context`: the launch, as bound; its memory is read and not written. `budget`: warp instructions that the sample may take, about.
Survey survey(const emulate::LaunchContext& context, const sm::StaticProgram& program,
              const spec::GpuSpec& spec, std::uint64_t budget);

/// The launch without its effects: what is written goes to the fork, what is printed nowhere.
emulate::LaunchContext without_effects(const emulate::LaunchContext& context, emulate::GlobalMemory& fork);

/// Warp instructions of one block in the middle of the grid, counted up to `limit`; `limit` also when it cannot be told.
std::uint64_t typical_block(const emulate::LaunchContext& context, std::uint64_t limit);

}  // namespace foretrace::sampling
