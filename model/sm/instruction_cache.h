// Where instructions come from: an L0 cache and a stream buffer a sub-core, an L1 cache an SM, then L2.
//
// Models:  128-byte lines (eight instructions); an L0 miss costs fetch.l1_latency when L1 has the line, else a trip to L2;
//          the stream buffer asks for the next fetch.prefetch_lines lines ahead of the line that is used; FIFO replacement.
// Ignores: fetch bandwidth (one instruction a cycle a sub-core, as much as can be issued), wrong-path fetches.
// Source:  facts B2 (HUE, UPC): sizes, hop latency, 8-entry stream buffer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/units/units.h"

namespace foretrace::sm {

class InstructionCache {
 public:
  InstructionCache(const spec::FetchSpec& spec, std::size_t code_bytes);

  /// When the line of instruction `index` can be issued from by `sub_core`: `now` for a hit, later for a known wait, kNever when it
  /// has to come from L2 (ask again after fill()). Starts what is missing; `requests` receives lines to ask L2 for.
  Cycle ready(int sub_core, std::uint32_t index, Cycle now, std::vector<std::uint32_t>& requests);

  /// The launch brings the kernel's first lines to L1; called at the SM's first block.
  void preload(Cycle now);

  /// Line `line` arrived from L2 at `now`.
  void fill(std::uint32_t line, Cycle now);

  std::uint64_t l0_misses = 0, l1_misses = 0;

 private:
  struct Level {
    std::vector<Cycle> ready;          // by line: when it can be used; kNever: absent
    std::vector<std::uint32_t> order;  // lines in order of arrival
    std::size_t first = 0;             // oldest still present in `order`
    std::size_t capacity = 0;          // lines
    void insert(std::uint32_t line, Cycle when);
  };
  /// Makes `line` come to the sub-core; when it is usable, kNever if L2 has to be asked.
  Cycle start(int sub_core, std::uint32_t line, Cycle now, std::vector<std::uint32_t>& requests);

  Cycle arrival(int sub_core, Cycle now);

  const spec::FetchSpec& spec_;
  std::uint32_t lines_;
  Level l0_[kSubCores];
  Level l1_;
  std::array<Cycle, kSubCores> last_arrival_{};
  std::vector<std::uint8_t> wanted_;   // by line: sub-cores that wait for L2
};

}  // namespace foretrace::sm
