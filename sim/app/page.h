// The page of results: what the documents do not hold (the chip's ceilings and assumptions, occupancy by resource, source text) is found
// here and handed to sim/report/page.h.
#pragma once

#include <string>
#include <vector>

#include "sim/report/document.h"

namespace foretrace::app {

struct PageExtras {
  std::string timeline;    ///< what foretrace timeline --json wrote; empty: none
  std::string comparison;  ///< what foretrace compare --json wrote; empty: none
  /// By document: its program as a whole (program_of()); empty: none has one.
  std::vector<std::string> programs = {};
  /// By document: its program's time line (trace_rows()), or "null"; empty: none has one.
  std::vector<std::string> traces = {};
};

/// What a result document's text says of a program as a whole; "null": it is no program's.
std::string program_of(const std::string& text);

/// What foretrace timeline --json wrote to the file. Throws InputError: it is something else.
std::string read_timeline(const std::string& file);

/// Throws InputError where `file`, which `option` names, would be shown on a page and `page`, its file, is not asked for.
void check_page(const char* option, const std::string& file, const std::string& page);

/// Writes the page. Sources that are not where the documents say are left out, and the page says so.
void write_page(const std::string& path, const std::vector<report::Document>& documents,
                const PageExtras& extras = {});

}  // namespace foretrace::app
