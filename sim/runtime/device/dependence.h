// Where in its time a kernel waits for the one before it, and lets the next one go (programmatic dependent launch).
#pragma once

#include "sim/host/schedule.h"
#include "sim/report/prediction.h"

namespace foretrace::runtime {

/// Of a launch by itself, ns from its begin. From what its warps have spent at each instruction, in the order of the code: a warp waits
/// for the grid before (griddepcontrol.wait) when it has done what stands before; the last block has let the next go
/// (griddepcontrol.launch_dependents) when what stands behind is left. Ignores code that stands elsewhere than its turn comes.
host::Dependence dependence_of(const report::Prediction& prediction);

}  // namespace foretrace::runtime
