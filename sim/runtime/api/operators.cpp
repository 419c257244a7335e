// Foretrace's own calls, which no library of NVIDIA's has: a program looks for them by name (docs/run.md).
#include "sim/runtime/device/operators.h"
#include "sim/runtime/api/api.h"

/// The calling thread's launches belong to the operator `name`, inside of those that are open, until its end. `note`: what is to be known
/// about it; may be null. The texts are copied.
FORETRACE_API void foretrace_operator_begin(const char* name, const char* note) {
  foretrace::runtime::begin_operator(name, note);
}

/// Ends the innermost one that the calling thread has open.
FORETRACE_API void foretrace_operator_end(void) { foretrace::runtime::end_operator(); }
