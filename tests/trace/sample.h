// A small program and records of it, made by hand: no compiler, no cubin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/isa/program.h"
#include "model/work/warp_record.h"
#include "sim/trace/launch_info.h"

namespace foretrace::trace_test {

/// vector_add of validate/kernels for sm_90, as nvcc 13.0.88 compiles it.
isa::Program vector_add_program();
/// The same with the code of a loop that waits for a flag instead: a load, YIELD, a comparison, the branch back, EXIT.
isa::Program waiting_program();
isa::Program swapping_program();  ///< a compare-and-swap that is tried until nobody came between
isa::Program arriving_program();  ///< an mbarrier
isa::Program matching_program();  ///< MATCH.ANY
isa::Program meeting_program();   ///< a barrier for as many threads as a register says
isa::Program walking_program();   ///< a load of a constant where a uniform register says
trace::LaunchInfo sample_launch(std::uint32_t blocks);

/// One block whose warps walk a loop of loads, adds and stores `iterations` times, as a tiled product does: strided
/// addresses that move by the same step each time. With `scattered` the lanes' addresses follow no rule.
work::BlockRecord sample_block(const isa::Program& program, std::uint64_t block, unsigned warps,
                               unsigned iterations, bool scattered);

}  // namespace foretrace::trace_test
