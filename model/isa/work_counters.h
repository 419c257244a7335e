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

/// What blocks that begin at once have all done before one of them gets further: the instructions up to the last, before the code's first
/// loop, barrier, call or atomic, that stores zero to global memory, where atomics follow (they zero counts before any is added to), or
/// that loads from it what may change, where minima, maxima, exchanges or bits follow (they see what the last launch left). 0: none.
std::uint32_t done_by_all_first(const Program& program);

}  // namespace foretrace::isa
