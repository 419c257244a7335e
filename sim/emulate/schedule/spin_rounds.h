// Spin loops of the warps of a block: which write ended one, found by running a round again with former values.
//
// Models:  what schedule/waits.h says. A round that all lanes go through again is taken off the record; the access that ended the loop is
//          recorded with the write that it waited for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/isa/spin_loops.h"
#include "model/work/signal.h"
#include "sim/emulate/translate/micro_op.h"

namespace foretrace::emulate {

class SpinRounds {
 public:
  explicit SpinRounds(Execution& x) : x_(x) {}

  /// A warp's turn begins: others may have written since its last.
  void begin_turn() { in_vain_ = {}; }
  /// At every instruction of a launch with spin loops.
  void look();
  /// After the branch at `from`: a round that all its lanes go through again is forgotten.
  void forget(std::uint32_t from);
  /// Around an access to memory. True: it has been answered as if it had come too early, and is not executed.
  bool before_access(const MicroOp& op, std::uint32_t executed);
  void after_access(const MicroOp& op, std::uint32_t executed);
  /// What the access at hand waited for.
  const std::vector<work::Awaited>& awaited() const { return awaited_; }
  std::uint64_t rounds_tried() const { return rounds_tried_; }

 private:
  struct Former {
    int lane = 0;
    std::array<std::uint32_t, 4> words{};
  };
  /// A round of this turn that was tried and did not end its loop: the next ones of the turn find the same.
  struct InVain {
    std::uint32_t pc = 0;
    std::uint32_t executed = 0;  ///< no lane: none was tried
    std::uint64_t progress = 0;  ///< of the block, when it was
    bool operator==(const InVain&) const = default;
  };
  /// What stood in a lane's own memory before a store that was tried.
  struct Kept {
    std::uint64_t address = 0;
    int lane = 0;
    std::uint32_t bytes = 0;
    std::array<std::byte, 32> words{};
  };
  template <typename See>
  void for_lanes(const MicroOp& op, std::uint32_t executed, See&& see);
  void put_words(const MicroOp& op, int lane, const std::array<std::uint32_t, 4>& words);
  void answer(const MicroOp& op, std::uint32_t executed);
  void find_awaited(const isa::SpinLoop& loop, const MicroOp& op, std::uint32_t executed);
  bool leaves(const isa::SpinLoop& loop, const MicroOp& load, std::uint32_t executed, int lane,
              const std::array<std::uint32_t, 4>& words);
  bool follow(const isa::SpinLoop& loop, std::uint32_t from, int lane);
  void keep_local(const MicroOp& op, std::uint32_t executed);

  Execution& x_;
  std::uint64_t rounds_tried_ = 0;
  std::vector<work::Awaited> awaited_;  // by the access that is being executed
  std::vector<Former> former_;          // what it would have found before
  std::vector<std::uint32_t> tried_;    // registers while a round is tried
  InVain in_vain_;
  std::vector<Kept> kept_;  // and local memory, in the order of the stores
};

}  // namespace foretrace::emulate
