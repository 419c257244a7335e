// Nsight Compute's pages of a result: raw, details and source, as text and as its CSV.
//
// Models:  ncu --page NAME [--csv]: the launch's columns, names of sections and metrics, units in a row of their own (raw) or in a column
//          (details). Values are in base units.
// Ignores: what a profiler knows of a process (its number, its host): those cells say 0 and foretrace.
// Source:  Nsight Compute's command line documentation; `foretrace compare --ncu` reads the raw page back.
#pragma once

#include <string>

#include "sim/report/document.h"

namespace foretrace::report {

enum class PageName { raw, details, source };
/// "raw", "details", "source"; throws InputError for another word.
PageName parse_page(const std::string& word);

/// The page as ncu's CSV, or as text in columns.
std::string page_csv(const Document& document, PageName page);
std::string page_text(const Document& document, PageName page);

/// Stalled warp-cycles by kernel, inlined call, source line and state, a profile per prediction, for speedscope.app.
std::string to_speedscope(const Document& document);

}  // namespace foretrace::report
