// The driver's functions that are not provided: a call says so by name and ends the program with exit code 125.
//
// Every exported name has a weak definition here; one that another file defines takes its place. The section tells look-ups
// (entry_points.cpp) which those are.
#include "sim/runtime/device/stop.h"

#pragma GCC visibility push(default)
#define FORETRACE_ENTRY(name, version, per_thread, symbol)                              \
  extern "C" __attribute__((weak, noinline, section("foretrace_stubs"))) int symbol() { \
    foretrace::runtime::stop_not_provided(#symbol);                                     \
  }
#include "sim/runtime/driver/names.def"
#undef FORETRACE_ENTRY
#pragma GCC visibility pop
