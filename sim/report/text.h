// The result document as text for eyes, in the manner of Nsight Compute's sections.
//
// Models:  launches one after another; a launch's chips and what-ifs are columns beside each other.
// Ignores: metrics that no section shows; the JSON has them all, and every figure here is one of the
//          document's.
// Source:  section names as in Nsight Compute; docs/json.md.
#pragma once

#include <cstddef>
#include <string>

#include "sim/report/document.h"

namespace foretrace::report {

struct TextOptions {
  std::size_t hottest = 8;    ///< instructions listed by stall cycles, each chip
  std::size_t accesses = 12;  ///< memory instructions listed, each chip
};

/// The whole report, ending with a newline.
std::string to_text(const Document& document, const TextOptions& options = {});

}  // namespace foretrace::report
