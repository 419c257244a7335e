// The predicted time line as a trace that viewers open (ui.perfetto.dev, chrome://tracing): a row per stream, copy engine and host
// thread, the chip's load by kernels, each piece of work linked to the call that asked for it,
// the program's own ranges around its calls.
//
// Source: "Trace Event Format", the JSON form that both read: complete events ("X") and flows ("s", "f") in microseconds, counters ("C").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/host/ranges.h"
#include "sim/host/time_line.h"

namespace foretrace::runtime {

/// A launch.
struct Span {
  std::uint64_t number = 0;
  std::string kernel, shape;  ///< "<<<8, 128>>>"
  std::string how;            ///< "simulated: dram", "as #54"
};

/// `spans`: by number; kernels that are none of them are left out. The line must be settled. `chip`: the GPU's name.
std::string perfetto_trace(const std::vector<Span>& spans, const host::TimeLine& line,
                           const std::vector<host::Range>& ranges, const std::string& chip);

}  // namespace foretrace::runtime
