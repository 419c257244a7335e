// Branches and everything else that may change which lanes of a warp run.
#pragma once

#include <cstdint>

#include "sim/emulate/translate/micro_op.h"

namespace foretrace::emulate {

/// Executes a MicroOp that is neither Kind::lane, Kind::warp nor Kind::nothing for the lanes `executed` of the running group, which stands at
/// it (Group::pc). True: the warp goes on with its running group; where not, RunningWarp::stop says why.
bool execute_control(Execution& x, const MicroOp& op, std::uint32_t executed);

}  // namespace foretrace::emulate
