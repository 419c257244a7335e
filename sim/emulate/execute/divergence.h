// Divergence and convergence: how groups of a warp's lanes part, wait and come together again.
//
// Models:  branches, calls and convergence: a spinning warp releases the lanes that wait at the loop's end; what waits together
//          at WARPSYNC is told by its mask alone; the guard takes part in BRA.DIV; CALL and RET are branches (docs/facts.md).
//          Fall-through runs first; what was pushed last is taken up first.
// Choice:  a WARPSYNC whose mask lies inside the running group passes, whatever its guard; a guard-false lane is there, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "sim/emulate/execute/running_warp.h"

namespace foretrace::emulate {

/// Moves the groups of the warp that runs. Its program counter is Group::pc while they move. What returns a bool says whether the warp
/// goes on; where it does not, RunningWarp::stop says why.
class Divergence {
 public:
  explicit Divergence(RunningWarp& x) : x_(x) {}

  Group copy_of_now() const;
  void push(Group group) { x_.warp->others.push_back(std::move(group)); }
  /// Another group that can run becomes the running one; false: there is none.
  bool take_up();
  void take(std::size_t index);

  /// The lanes of `taken` go to `target`, the others of the group on.
  void branch(std::uint32_t taken, std::uint32_t target);
  bool exit_lanes(std::uint32_t lanes);
  bool join(const MicroOp& op, std::uint32_t executed);
  void leave_barrier(std::uint32_t lanes, std::uint8_t barrier);
  void move_barrier(const MicroOp& op, std::uint32_t executed);
  bool warpsync(const MicroOp& op, std::uint32_t executed);
  /// How many different masks the lanes of a WARPSYNC have.
  std::uint32_t masks_of(const MicroOp& op, std::uint32_t executed) const;
  /// The other groups have their turn; when all that can run have had theirs, those that wait for them are let go: a lock's owner can be
  /// among them.
  bool yield();

 private:
  /// Merges waiting groups whose partners have all arrived, exited or left.
  void settle();
  /// Lanes parked at a convergence barrier go on without the others. `any`: also those that are not marked as early.
  bool release_joined(bool any);

  RunningWarp& x_;
};

}  // namespace foretrace::emulate
