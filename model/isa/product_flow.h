// Whether what matrix products compute decides anything but values: then nobody need compute them who wants times alone.
//
// Models:  values followed from the products' results through registers, predicates and memory, along all ways through the code;
//          memory (shared, local, global) is one place each. What decides: an address, a guard, a branch, a barrier, whatever a copy
//          or a call is told.
// Assumes: tensor maps and mbarriers do not hold products' results.
// Ignores: by the safe side: code with indirect branches, calls of the driver or instructions that are not understood decides.
#pragma once

#include "model/isa/program.h"

namespace foretrace::isa {

/// HMMA, IMMA, ... and those of a warpgroup.
bool multiplies_matrices(Opcode opcode);
/// Whether any of its instructions does.
bool multiplies_matrices(const Program& program);

/// Whether results of matrix products may decide what the program does; false also where there are none.
bool products_decide(const Program& program);

}  // namespace foretrace::isa
