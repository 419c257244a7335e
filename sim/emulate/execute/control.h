// Branches and everything else that may change which lanes of a warp run.
#pragma once

#include <cstdint>

#include "sim/emulate/translate/micro_op.h"

namespace foretrace::emulate {

/// Executes a MicroOp that is neither Kind::lane, Kind::warp nor Kind::nothing for the lanes `executed` of the running group, which stands at
/// it (Group::pc). True: the warp goes on with its running group; where not, RunningWarp::stop says why.
bool execute_control(Execution& x, const MicroOp& op, std::uint32_t executed);

/// Whether a BRA.U goes, whose predicate is true for the lanes `saying`: of a group of `lanes`, whose guard is true for `executed`.
inline bool goes_uniformly(const MicroOp& op, std::uint32_t executed, std::uint32_t saying,
                           std::uint32_t lanes) {
  return (op.flags & 1) != 0 ? executed != 0 : (executed & saying) == lanes;
}

}  // namespace foretrace::emulate
