// Warpgroup products (wgmma): an SM's four tensor cores as the one unit that they are to a warpgroup.
//
// Models:  a product can begin when the last of its four warps has issued it and the unit is free; it takes the columns' time or that of
//          its operands in shared memory, whichever is longer, and the next one follows without a gap. Warpgroups whose products wait take
//          turns of one product each. Groups of them are waited for. While a product runs it has the ports of its sub-cores' registers for
//          some of the cycles, for A and for sums, and what others dispatch waits for the cycles between.
// Ignores: mma.sync beside them (on the device it hardly gets a turn); products that wait for others' reads of registers.
// Source:  docs/sources.md:TENSOR-H100 4.1: initiation max(N/2, 16 + N/4), latency beyond it the same for all N; turns:
//          validate/microbenchmarks/chained_products; ports: arithmetic_beside.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/units/units.h"

namespace foretrace::sm {

/// What a product asks of the unit.
struct Product {
  std::uint16_t cycles = 0;  ///< of the tensor cores
  std::uint16_t shared = 0;  ///< of shared memory's data stage
  std::uint16_t first = 0;   ///< cycles at its beginning in which it reads A's registers
  std::uint16_t period = 0;  ///< cycles after which it reads sums again; 0: it has none
  bool ends_group = false;
};

class Products {
 public:
  /// A product that begins: whose it is, and until when the unit is taken.
  struct Begun {
    std::uint32_t block = 0;
    std::int64_t row = 0;
    Cycle end = 0;
    std::uint16_t shared = 0;
  };

  Products(std::size_t blocks, const spec::WgmmaSpec& spec)
      : latency_(spec.latency), port_cycles_(spec.port_cycles), of_(blocks) {}

  /// Warp `warp` of a block issues its next product. True: it was the last of the four (or `warps` there are), and the product waits for
  /// its turn. `row` comes back when it begins.
  bool issue(std::uint32_t block, std::uint32_t warp, std::uint32_t warps, const Product& product,
             std::int64_t row);
  /// When the unit is free for the next of those that wait; kNever: none waits.
  Cycle next() const { return turns_.empty() ? kNever : free_; }
  /// The next one begins; now is not before next().
  Begun begin(Cycle now);
  /// By how many cycles an instruction is dispatched later that needs the registers' ports for `passes` cycles from `now` on, because the
  /// product that runs has them.
  Cycle delay(Cycle passes, Cycle now) const {
    Cycle late = 0;
    for (Cycle at = now; passes > 0 && at < running_.end; ++at) {
      if (running_.reads(at)) {
        ++late;
      } else {
        --passes;
      }
    }
    return late;
  }
  /// When at most `most` of the warp's groups have not ended; kNever: other warps have to come first.
  Cycle groups_ended(std::uint32_t block, std::uint32_t warp, std::uint32_t most) const;
  /// When at most `most` of the warp's products have not begun; likewise.
  Cycle begun(std::uint32_t block, std::uint32_t warp, std::uint32_t most) const;
  void forget(std::uint32_t block);

 private:
  static constexpr std::uint32_t kWarps = 4;
  struct Op {
    std::uint32_t came = 0;  // warps
    Cycle start = kNever, end = kNever;
    Product product;
    std::int64_t row = 0;
  };
  struct Warpgroup {
    std::deque<Op> ops;
    std::uint64_t first = 0;                   // number of the first in `ops`
    std::uint64_t begun = 0;                   // number of the first that has not begun
    std::uint64_t issued = 0;                  // number of the first that not all warps have issued
    std::array<std::uint64_t, kWarps> next{};  // by warp: number of its next product
  };
  struct Turn {
    std::uint32_t block = 0, warpgroup = 0;
    bool operator==(const Turn&) const = default;
  };
  /// When the product that runs has the registers' ports.
  struct Reads {
    Cycle start = 0, first = 0, end = 0;  // A's registers until `first`, then sums
    Cycle period = 1, each = 0;
    bool reads(Cycle at) const { return at < first || (at - start) % period < each; }
  };
  const Warpgroup* find(std::uint32_t block, std::uint32_t warp) const;

  std::uint32_t latency_, port_cycles_;
  std::vector<std::vector<Warpgroup>> of_;  // by block
  std::deque<Turn> turns_;  // warpgroups that have products to begin, in the order in which they are served
  Turn last_;               // who began one last, and does not begin another while others wait
  Cycle free_ = 0;
  Reads running_;
};

}  // namespace foretrace::sm
