// What warps do with mbarriers, on its way to them and back.
//
// Models:  an instruction's arrivals, beginnings and tests, which come to the barriers some cycles after its issue. A test of an mbarrier
//          (SYNCS.PHASECHK) stands on record once, when its phase had ended. Here its answer comes when the phase has ended in the
//          model's time: at once, at the next round of the loop that asks (StaticInstruction::poll_interval), or some cycles after the
//          phase's end where the test is suspended: with a time hint, and without one where the phase lacks bytes of copies (no wait in
//          wgmma_product on H100 goes round; waits for arrivals alone do). What waits for the answer is held by its scoreboard, as there.
//          Arrivals at barriers of another block of the cluster take the way between SMs.
#pragma once

#include <cstdint>
#include <vector>

#include "model/sm/mbarriers.h"
#include "model/sm/warp_table.h"

namespace foretrace::sm {

/// Whether the warp's instruction accesses the shared memory of another block of its cluster, as its first address tells.
bool accesses_other_block(const Block& block, const Warp& warp);

class BarrierUnit {
 public:
  /// Arrivals at other SMs go to `outbox`.
  BarrierUnit(const SmContext& context, const Blocks& blocks, std::vector<ClusterMessage>& outbox)
      : context_(context), blocks_(blocks), outbox_(outbox), mbarriers_(blocks.size()) {}

  /// What the warp's instruction does to barriers, under a number that execute() or Event::Kind::barrier takes.
  std::uint32_t add(const Warp& warp, std::uint16_t id);
  /// The operation has come to its barriers; what it answers is usable at `answered`, if a test has not to wait.
  void execute(std::uint32_t number, Cycle answered, Cycle now);
  /// Equal arrivals of the block in slot `block` at the barrier at `offset` of its cluster's block of that rank.
  void arrive(std::uint32_t block, std::uint32_t rank, std::uint32_t offset, const isa::Arrival& arrival,
              std::uint32_t times, Cycle now);
  /// The same at a barrier of the block in slot `block` itself. `by_bytes`: they are a copy's.
  void arrive_here(std::uint32_t block, std::uint32_t offset, const isa::Arrival& arrival,
                   std::uint32_t times, bool by_bytes, Cycle now);
  void forget(std::uint32_t block) { mbarriers_.forget(block); }
  /// Ends all waits. False: there was none.
  bool let_go(Cycle now);

 private:
  struct Operation {
    struct Item {
      std::uint32_t rank = 0, offset = 0, times = 0;
      std::uint32_t operand = 0;
    };
    std::vector<Item> items;
    isa::BarrierUse use = isa::BarrierUse::none;
    std::uint32_t index = 0;  ///< instruction
    std::uint32_t block = 0;
    std::uint64_t serial = 0;
    std::uint16_t warp = 0;
    std::uint32_t generation = 0;
    std::uint32_t waiting = 0;  ///< tests: barriers whose phase has not ended
    Cycle asked = 0, answered = 0;
  };
  void end_waits(bool by_bytes, Cycle now);
  void answer(std::uint32_t number, bool by_bytes, Cycle now);

  const SmContext& context_;
  const Blocks& blocks_;
  std::vector<ClusterMessage>& outbox_;
  Mbarriers mbarriers_;
  std::vector<Operation> operations_;
  std::vector<std::uint32_t> free_operations_;
  std::vector<std::uint32_t> ended_waits_;  // tickets: numbers of operations
};

}  // namespace foretrace::sm
