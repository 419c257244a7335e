// The predicted time line as a trace that viewers open (ui.perfetto.dev, chrome://tracing): a row per stream, a slice per launch.
//
// Source: "Trace Event Format", the JSON form that both read: complete events ("X") in microseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrace::runtime {

/// A launch on the GPU's time line.
struct Span {
  std::uint64_t number = 0, stream = 0;  ///< of the launch; of its stream, 0: the default stream
  double begin = 0, seconds = 0;         ///< on the time line
  std::string kernel, shape;             ///< "<<<8, 128>>>"
  std::string how;                       ///< "simulated: dram", "as #54"
};

/// `chip`: the GPU's name.
std::string perfetto_trace(const std::vector<Span>& spans, const std::string& chip);

}  // namespace foretrace::runtime
