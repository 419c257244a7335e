// Warpgroup products (wgmma): an SM's four tensor cores as the one unit that they are to a warpgroup.
//
// Models:  a product begins when the last of its four warps has issued it and the unit is free; it takes the columns' time or that of its
//          operands in shared memory, whichever is longer, and the next one follows without a gap; groups of them are waited for.
// Ignores: mma.sync beside them (on the device it hardly gets a turn); what the registers of an accumulator wait for.
// Source:  docs/sources.md:TENSOR-H100 4.1: initiation max(N/2, 16 + N/4), latency beyond it the same for all N.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "model/units/units.h"

namespace foretrace::sm {

/// What a product asks of the unit.
struct Product {
  std::uint16_t cycles = 0;  ///< of the tensor cores
  std::uint16_t shared = 0;  ///< of shared memory's data stage
  bool ends_group = false;
};

class Products {
 public:
  /// Cycles that the unit and shared memory are taken by one product.
  struct Use {
    Cycle start = 0, end = 0;
    std::uint16_t shared = 0;
  };

  Products(std::size_t blocks, std::uint32_t latency) : latency_(latency), of_(blocks) {}

  /// Warp `warp` of a block issues its next product at `now`. True: it was the last of the four (or `warps` there are), and `use` says
  /// when the unit works on it.
  bool issue(std::uint32_t block, std::uint32_t warp, std::uint32_t warps, const Product& product, Cycle now,
             Use& use);
  /// When at most `most` of the warp's groups have not ended; kNever: other warps have to come first.
  Cycle groups_ended(std::uint32_t block, std::uint32_t warp, std::uint32_t most) const;
  /// When at most `most` of the warp's products have not begun; likewise.
  Cycle begun(std::uint32_t block, std::uint32_t warp, std::uint32_t most) const;
  void forget(std::uint32_t block) { of_[block].clear(); }

 private:
  static constexpr std::uint32_t kWarps = 4;
  struct Op {
    std::uint32_t came = 0;  // warps
    Cycle start = kNever, end = kNever;
    bool ends_group = false;
  };
  struct Warpgroup {
    std::deque<Op> ops;
    std::uint64_t first = 0;                   // number of the first in `ops`
    std::array<std::uint64_t, kWarps> next{};  // by warp: number of its next product
  };
  const Warpgroup* find(std::uint32_t block, std::uint32_t warp) const;

  std::uint32_t latency_;
  std::vector<std::vector<Warpgroup>> of_;  // by block
  Cycle free_ = 0;
};

}  // namespace foretrace::sm
