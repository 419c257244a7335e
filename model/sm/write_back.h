// What the memory pipe tells the warps: scoreboards that are released, copies and stores that are done.
//
// Models:  nothing; the times are the pipe's. An operation of a warp that has ended in the meantime means nothing to who gets its event.
#pragma once

#include <cstdint>

#include "model/sm/events.h"
#include "model/sm/memory_operation.h"
#include "model/sm/timeline.h"
#include "model/units/units.h"

namespace foretrace::sm {

class WriteBack {
 public:
  WriteBack(const MemoryOperations& operations, Events& events) : operations_(operations), events_(events) {}

  /// What becomes of operations is told there, which must outlive it.
  void observe(SmTimeline& timeline) { timeline_ = &timeline; }
  /// The scoreboard is released at `when`; kScoreboards or more: the instruction has none.
  void release(const MemoryOperation& operation, std::uint8_t scoreboard, Cycle when) {
    if (scoreboard >= kScoreboards) return;
    events_.push(when, {Event::Kind::release, scoreboard, operation.warp, 0, operation.generation});
    if (timeline_) tell_release(operation, scoreboard, when);
  }
  /// The warp's copy or store is done.
  void done(Event::Kind kind, const MemoryOperation& operation, Cycle when) {
    events_.push(when, {kind, 0, operation.warp, operation.copy_group, operation.generation});
    if (timeline_ && kind == Event::Kind::copy_done)
      timeline_->operation_written(operations_.number_of(operation), when);
  }
  /// An operation on mbarriers has come to them; what waits for a phase is answered `later`.
  void reach_barrier(const MemoryOperation& operation, Cycle later, Cycle when) {
    events_.push(when, {Event::Kind::barrier, static_cast<std::uint8_t>(later < 255 ? later : 255),
                        operation.warp, operation.barrier_op - 1, operation.generation});
  }

 private:
  [[gnu::cold]] void tell_release(const MemoryOperation& operation, std::uint8_t scoreboard, Cycle when) {
    const std::uint32_t number = operations_.number_of(operation);
    if (scoreboard == operation.instruction->write_barrier) {
      timeline_->operation_written(number, when);
    } else {
      timeline_->operation_sources_read(number, when);
    }
  }

  const MemoryOperations& operations_;
  Events& events_;
  SmTimeline* timeline_ = nullptr;  // null: nobody looks
};

}  // namespace foretrace::sm
