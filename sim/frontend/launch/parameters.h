// Do a launch's arguments suit the kernel's parameters?
//
// Models:  their number and sizes, from the cubin; their types as far as the mangled name tells them; the limits that
//          the kernel's source set (__launch_bounds__, __cluster_dims__).
// Ignores: what lies behind a pointer in a struct; limits of a chip.
// Source:  the cubin's KPARAM_INFO and launch attributes; the Itanium C++ ABI's names.
#pragma once

#include "model/isa/program.h"
#include "sim/frontend/launch/launch.h"

namespace foretrace::frontend {

/// Throws InputError: one line with the kernel, the argument and what was expected. A pointer takes buf, ref or null, a
/// number val of its size and kind (signed or not is all one), anything takes bytes of its size. A buffer's elements
/// must be of the size and kind of what the pointer points to where that is a number of more than one byte.
void check_parameters(const LaunchDescription& launch, const isa::Program& program);

}  // namespace foretrace::frontend
