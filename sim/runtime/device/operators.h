// The program's operators: which of them a launch belongs to. A program, or a package that replaces a library's calls, says so by
// foretrace_operator_begin and foretrace_operator_end (api/operators.cpp).
//
// Models:  a stack for each thread. A launch belongs to the innermost operator that is open on the thread that makes the call; a graph's
//          launches to the one in which the node was made or captured, and what a kernel launches to its own. On the time line each is
//          a range, operator/NAME, but for one right inside another of its name.
#pragma once

#include <memory>

#include "sim/runtime/device/operation.h"

namespace foretrace::runtime {

void begin_operator(const char* name, const char* note);
/// Ends the innermost one; nothing where the thread has none open.
void end_operator();
/// The calling thread's innermost one; null: none is open, or it has no name.
std::shared_ptr<const NamedOperator> current_operator();

}  // namespace foretrace::runtime
