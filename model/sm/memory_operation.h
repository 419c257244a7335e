// A memory instruction on its way through an SM's memory pipe, from its issue until it has its data or has left the SM.
//
// Models:  nothing; it is what the pipe's parts tell each other of an operation.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/isa/operands.h"
#include "model/rules/coalescing.h"
#include "model/sm/static_program.h"
#include "model/sm/swaps.h"
#include "model/units/units.h"
#include "model/work/signal.h"
#include "model/work/warp_record.h"

namespace foretrace::sm {

/// What the memory pipe needs of a warp's instruction at its issue.
struct MemoryIssue {
  const StaticInstruction* instruction = nullptr;
  std::uint32_t index = 0;
  std::uint16_t warp = 0;
  std::uint8_t copy_group = 0;
  std::uint16_t block = 0;  ///< its slot in the SM
  std::uint32_t generation = 0;
  std::uint32_t executed = 0;
  std::uint64_t local_base = 0;  ///< local memory: where this warp's window starts
  const work::WarpCursor* cursor = nullptr;
  std::uint32_t barrier_op = 0;  ///< 1 + that of BarrierUnit; 0: does nothing to mbarriers
  bool remote = false;           ///< of the shared memory of a block on another SM
  std::uint32_t passes = 1;      ///< of the texture unit; MATCH.ANY: values of its lanes
  bool waits = false;            ///< a load that may come too early
  std::uint8_t tells = 0;        ///< as in memory::Request
  work::Signal signal = {};
  Swap swap = {};
};

/// What an operation asks for, line by line. Kept apart from the rest, which is looked at far more often.
struct MemoryDetail {
  work::LaneAddresses addresses{};  // of atomics and reductions
  rules::Coalesced lines;
  rules::WrittenBytes written;  // by line: bytes that a store to global memory writes, or a load asks for
};
struct MemoryOperation {
  MemoryDetail* detail = nullptr;
  const StaticInstruction* instruction = nullptr;
  std::uint32_t index = 0;
  std::uint32_t executed = 0;
  std::uint16_t warp = 0;
  std::uint8_t sub_core = 0;
  std::uint8_t copy_group = 0;
  isa::Space space = isa::Space::global;  // a generic access: the one that it finds
  std::uint32_t generation = 0;
  Cycle ready = 0;  // tags looked up; later: data there
  Cycle accepted = 0;
  Cycle sources_read = 0;                ///< when its registers have been
  std::uint32_t wavefronts = 0;          // of the data stage
  std::uint32_t ideal = 1;               // floor of the width
  std::uint32_t shared_wavefronts = 0;   // copies: of the write to shared memory
  std::uint32_t waiting = 0;             // requests not yet arrived
  std::uint32_t lines = 0, sectors = 0;  // of its detail
  std::uint32_t way_pieces = 0;          // of a reduction: what the way to L2 holds of it
  bool missed = false;                   // some of its data were not in L1
  std::uint8_t half = 0;                 // of the data array: shared memory
  std::int32_t next_load = -1;           // of the same warp
  bool waits = false;
  std::uint8_t tells = 0;
  work::Signal signal;
  std::uint32_t barrier_op = 0;
  bool remote = false;
  std::uint32_t passes = 1;  // of the texture unit; MATCH.ANY: values of its lanes
  Swap swap;
};
/// All that are under way in an SM, by number. One that is new is as whoever had its number before left it.
class MemoryOperations {
 public:
  std::uint32_t take() {
    ++in_use_;
    if (free_.empty()) {
      operations_.emplace_back().detail = &details_.emplace_back();
      return static_cast<std::uint32_t>(operations_.size() - 1);
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    return id;
  }
  void give_back(std::uint32_t id) {
    --in_use_;
    free_.push_back(id);
  }
  /// Stays where it is until the next take().
  MemoryOperation& operator[](std::size_t id) { return operations_[id]; }
  const MemoryOperation& operator[](std::size_t id) const { return operations_[id]; }
  std::uint32_t number_of(const MemoryOperation& operation) const {
    return static_cast<std::uint32_t>(&operation - operations_.data());
  }
  bool empty() const { return in_use_ == 0; }

 private:
  std::vector<MemoryOperation> operations_;
  std::deque<MemoryDetail> details_;  // by operation
  std::vector<std::uint32_t> free_;
  std::uint32_t in_use_ = 0;
};

}  // namespace foretrace::sm
