// Pages of results and of validations: one HTML file each that opens from disk and needs no network.
//
// Models:  the order in which one asks: what limits it, the memory chart, roofline, occupancy, source beside SASS, warp states,
//          pipelines, timeline, what is assumed. The parts in sim/report/html are put together and the data placed among them.
// Ignores: how anything is drawn: that is the page's own JavaScript, from the result documents alone.
// Source:  docs/page.md.
#pragma once

#include <string>
#include <vector>

namespace foretrace::report {

/// What the page shows, each part JSON text.
struct PageParts {
  std::vector<std::string> documents;  ///< result documents: one, or two side by side
  std::string facts;       ///< an array by document of an array by prediction: the chip's ceilings
                           ///< and assumptions, occupancy by resource; null where not known
  std::string sources;     ///< an object: source text by file name
  std::string timeline;    ///< docs/timeline.md; empty: none
  std::string comparison;  ///< docs/comparison_schema.json; empty: none
  std::vector<std::string> programs =
      {};  ///< by document: an object with its "program" and "represented", or null
  std::vector<std::string> traces = {};  ///< by document: the rows of its program's time line, or null
};

std::string page(const PageParts& parts);

/// The page of a validation, from its document (docs/validation_schema.json): what is not in that is not in the page.
std::string validation_page(const std::string& validation);

}  // namespace foretrace::report
