// A chip, or a launch's work, without one of its limits: what a verdict's gains are simulated on.
//
// Models:  each limit lifted alone: the chip's numbers behind it set to where they cost nothing, or the addresses of the recorded work
//          moved to where they ask for the fewest passes and sectors. All else stays: the gain is what is left after the next limit.
// Ignores: limits that no simple change lifts (the issue slots, the instructions themselves, dependences between them).
// Use:     reports only. `ideal.*` are no keys of a chip: no configuration and no --set can name them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "model/isa/operands.h"
#include "model/spec/gpu_spec.h"
#include "model/work/block_source.h"
#include "sim/engine/machine.h"

namespace foretrace::engine {

enum class Ideal : std::uint8_t {
  bank_conflicts,  ///< shared loads and stores take the fewest passes that their width needs
  coalescing,      ///< global loads and stores touch the fewest sectors that could hold their bytes
  dram,            ///< what misses in L2 is there at once
  l2,              ///< likewise, and L2 and the network take no time and any traffic
  memory_latency,  ///< what goes beyond L1 is answered at once, but no more of it
  residency,       ///< registers and shared memory do not limit the resident blocks; L1 as large as before
  shared_memory,   ///< the launch asks for no shared memory: neither blocks nor L1 give room to it
  atomics,         ///< no two lanes' atomics go to one word, as if each added to a copy of its own
  pipes,           ///< every arithmetic pipe takes an instruction per cycle
  code,            ///< instructions and constants are always cached
  launch           ///< blocks and warps start and end at once
};
inline constexpr std::size_t kIdeals = 11;

struct IdealText {
  const char* key;    ///< "ideal.bank_conflicts"
  const char* words;  ///< "without bank conflicts"
};
const IdealText& text_of(Ideal limit);

/// The chip without the limit; the chip itself where the limit lies in the work or in what the launch asks for.
spec::GpuSpec without(const spec::GpuSpec& spec, Ideal limit);
/// Whether the limit lies in the work's addresses.
constexpr bool of_work(Ideal limit) {
  return limit == Ideal::bank_conflicts || limit == Ideal::coalescing || limit == Ideal::atomics;
}

/// The records of complete blocks with their addresses moved. `source` must not give blocks that are executed while they are read.
class IdealBlocks final : public work::BlockSource {
 public:
  IdealBlocks(work::BlockSource& source, const isa::Program& program, Ideal limit);
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  struct Form {
    bool memory = false;
    isa::MemoryForm form;
  };
  struct Warp {
    std::uint64_t block = 0, number = 0;  ///< its block, and its number in it
  };
  work::WarpRecord moved(const work::WarpRecord& record, const Warp& warp);
  /// Whether the addresses were changed.
  bool without_conflicts(const isa::MemoryForm& form, std::uint32_t executed, work::LaneAddresses& addresses);
  bool coalesced(const isa::MemoryForm& form, std::uint32_t executed, work::LaneAddresses& addresses);
  void alone(const Warp& warp, std::uint32_t index, std::uint32_t executed, work::LaneAddresses& addresses);
  std::uint64_t place_of(std::string key, std::uint64_t bytes);

  work::BlockSource& source_;
  const work::Shapes shapes_;
  const Ideal limit_;
  std::vector<Form> forms_;
  std::unordered_map<std::string, std::uint64_t>
      places_;  // of what scattered lanes ask for, by their addresses; of atomics' copies, by warp and instruction
  std::uint64_t next_place_;
};

struct Gain {
  Ideal limit = Ideal::bank_conflicts;
  std::uint64_t cycles = 0;  ///< elapsed, without the limit
};

/// Simulates the launch of a trace again, once for each limit that can concern it, each on a chip of its own. Throws InputError as
/// TraceReader does.
std::vector<Gain> gains(const std::string& trace, const spec::GpuSpec& spec, const Launch& shape,
                        const RunOptions& options);

}  // namespace foretrace::engine
