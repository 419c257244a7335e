// A recorded timeline as text and as JSON: a line per instruction of each chosen warp, a column per cycle.
//
// Models:  nothing: model/sm/timeline.h says what was recorded.
// Source:  docs/timeline.md describes both forms.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/isa/program.h"
#include "model/sm/timeline.h"

namespace foretrace::report {

struct TimelineDocument {
  std::string arch;  ///< the chip's name
  std::string what;  ///< the heading: a kernel and where it ran; empty: none
  std::shared_ptr<const isa::Program> program;
  std::vector<sm::TimelineRow> rows;
  std::uint64_t left_out = 0;   ///< instructions that were recorded and are not among the rows
  Cycle origin = 0;             ///< text: the cycle that is shown as 0
  Cycle from = 0, to = kNever;  ///< text: no column before or from there on
};

/// Aligned columns, at most `width` characters wide; cycles in which nothing changes are folded.
std::string timeline_text(const TimelineDocument& document, std::size_t width = 120);
/// Schema 1 of docs/timeline.md, indented.
std::string timeline_json(const TimelineDocument& document);

}  // namespace foretrace::report
