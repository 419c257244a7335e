// Atomics by which warps share work out among them: a loop goes on, or ends, by the count that it was told (tickets, work lists).
//
// Models:  an integer addition to global memory in a loop that tells what was there, followed through registers, predicates and shared
//          memory (one place) to a branch or an exit that leaves the loop, along the ways within it.
// Ignores: counts that are told through global or local memory; what is added by compare-and-swap. A place in a list that somebody
//          appends to decides nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "model/isa/program.h"

namespace foretrace::isa {

/// Instruction indices in ascending order.
std::vector<std::uint32_t> work_counters(const Program& program);

/// The instructions up to the last that stores zero to global memory before the code's first loop, barrier, call or atomic, where atomics
/// follow; 0: there is none. Blocks that begin at once have zeroed what is theirs before one adds to what is another's.
std::uint32_t zeroes_before_atomics(const Program& program);

}  // namespace foretrace::isa
