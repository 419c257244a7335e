// Whether what an instruction brings decides that a loop ends.
//
// Models:  the value and all that is computed of it, through registers, predicates and shared memory, and what is loaded where it points to.
// Ignores: other memory.
#pragma once

#include <cstddef>
#include <optional>

#include "model/isa/program.h"

namespace foretrace::isa {

/// The instruction that a branch goes to; none: it is no branch to a label.
std::optional<std::size_t> branch_target(const Instruction& in);

/// Whether the loop, the instructions from `first` to the branch back to it, `last`, is left, or gone through again, by what instruction
/// `asks` in it brings.
bool ends_by(const Program& program, std::size_t first, std::size_t last, std::size_t asks);

}  // namespace foretrace::isa
