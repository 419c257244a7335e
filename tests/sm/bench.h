// A bench for one SM: a few printed instructions with their control bits, lanes and addresses; a memory that answers after a fixed time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/isa/parse.h"
#include "model/sm/sm.h"
#include "model/spec/gpu_spec.h"

namespace foretrace::sm_tests {

/// One instruction: text, stall count, scoreboards (7: none), wait mask, and what the warp did with it.
struct Line {
  std::string text;
  std::uint8_t stall = 1;
  std::uint8_t write = 7, read = 7, wait = 0;
  std::uint32_t executed = ~0u;
  std::uint64_t base = 0;   ///< address of lane 0
  std::int64_t stride = 4;  ///< from lane to lane
  std::uint64_t operand =
      0;  ///< SYNCS: the second address set of all lanes; LDGSTS: from lane to lane in shared memory, 0: as global
  work::Transfer transfer = {};  ///< of the copy engine
  std::uint32_t value = 0;       ///< the record's number (work::Shape::value); 0: the executed lanes
  bool skipped = false;          ///< a branch jumps over it
};

struct Ran {
  Cycle end = 0;  ///< cycle after the last warp's end
  stats::LaunchCounters counters;
  std::vector<memory::Request> requests;
  int announced = 0;                           ///< blocks that let dependent grids start
  std::vector<memory::CodeRequest> constants;  ///< that the GPC's cache was asked for
};

/// Cycles that warps were in a state.
inline std::uint64_t state(const Ran& ran, stats::WarpState which) {
  return ran.counters.state[static_cast<std::size_t>(which)];
}

/// The H100 with everything that these tests do not ask about out of the way: no launch costs, code there at once.
spec::GpuSpec bench_chip();

/// The program that the lines print, without an EXIT of its own; "first" is the label of the first.
std::shared_ptr<isa::Program> program_of(const std::vector<Line>& lines);

/// Runs `warps` warps of one block, all executing `lines` in order, and an EXIT after them.
Ran run(const spec::GpuSpec& chip, const std::vector<Line>& lines, int warps = 1, Cycle memory_latency = 300);

/// The same, with a list of lines for each warp (all lists equally long, the same texts and control bits).
/// `l1_bytes` 0: the least that the chip has.
Ran run_warps(const spec::GpuSpec& chip, const std::vector<std::vector<Line>>& warps,
              Cycle memory_latency = 300, std::uint64_t l1_bytes = 0, std::uint64_t block_shared = 0);

}  // namespace foretrace::sm_tests
