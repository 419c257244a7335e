// The runtime's functions that are not provided: a call says so by name and ends the program with exit code 125.
//
// Every exported name has a weak definition here; one that another file defines takes its place.
#include "sim/runtime/device/stop.h"

#pragma GCC visibility push(default)
#define FORETRACE_EXPORT(name) \
  extern "C" __attribute__((weak)) int name() { foretrace::runtime::stop_not_provided(#name); }
#include "sim/runtime/api/exports.def"
#undef FORETRACE_EXPORT
#pragma GCC visibility pop
