// foretrace report: results that --json wrote, as a page to look at, as Nsight Compute's pages, and for speedscope.

#include <iostream>
#include <utility>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/options.h"
#include "sim/app/page.h"
#include "sim/app/trace_rows.h"
#include "sim/report/json.h"
#include "sim/report/pages.h"

namespace foretrace::app {

namespace {

struct Wanted {
  std::string html, timeline, perfetto, page, speedscope;
  bool csv = false;
};

PageExtras extras_of(const Wanted& wanted, std::vector<std::string> programs) {
  PageExtras extras;
  extras.programs = std::move(programs);
  if (!wanted.perfetto.empty()) {
    extras.traces = {trace_rows(report::read_file(wanted.perfetto), wanted.perfetto)};
    if (extras.programs.front() == "null")
      throw InputError(
          fmt::format("--perfetto {}: the result is no program's; expected what foretrace run "
                      "--json wrote beside it",
                      wanted.perfetto));
  }
  if (!wanted.timeline.empty()) extras.timeline = read_timeline(wanted.timeline);
  return extras;
}

void check(const Wanted& wanted, std::size_t documents) {
  if (documents == 0 || documents > 2)
    throw InputError(fmt::format("{} result documents given; expected one, or two to compare", documents));
  if (wanted.html.empty() && wanted.page.empty() && wanted.speedscope.empty() && !wanted.csv)
    throw InputError("nothing to write; expected --html, --page, --csv or --speedscope");
  check_page("--timeline", wanted.timeline, wanted.html);
  check_page("--perfetto", wanted.perfetto, wanted.html);
  if (documents == 2 && wanted.html.empty())
    throw InputError(
        "two result documents stand side by side on a page alone; expected --html, or one document");
}

}  // namespace

int report_page(const Words& words) {
  Wanted wanted;
  options::options_description known("options");
  known.add_options()("html", result_file(&wanted.html), "write a page to look at to this file")(
      "timeline", options::value(&wanted.timeline)->value_name("FILE"),
      "show this timeline on it too: what foretrace timeline --json wrote")(
      "perfetto", options::value(&wanted.perfetto)->value_name("FILE"),
      "of a program's result, the first one: show its whole time line: what foretrace run --perfetto wrote")(
      "page", options::value(&wanted.page)->value_name("NAME"),
      "print a page as Nsight Compute has it: raw (every metric), details (the sections), source (by "
      "instruction)")("csv", options::bool_switch(&wanted.csv),
                      "print that page (default: details) as ncu --csv does, in base units")(
      "speedscope", result_file(&wanted.speedscope),
      "write stalled warp-cycles by kernel, inlined call, source line and state to this file for "
      "speedscope.app");
  options::variables_map values;
  if (!parse(words,
             "report RESULT.json [RESULT.json] [--html FILE [--timeline FILE] [--perfetto FILE]] [--page "
             "NAME] [--csv] "
             "[--speedscope FILE]",
             known, "file", values))
    return 0;
  const auto files =
      values.count("file") ? values["file"].as<std::vector<std::string>>() : std::vector<std::string>{};
  check(wanted, files.size());
  std::vector<report::Document> documents;
  std::vector<std::string> programs;
  for (const std::string& file : files) {
    const std::string text = report::read_file(file);
    documents.push_back(report::from_json(text, file));
    if (!wanted.html.empty()) programs.push_back(program_of(text));
  }
  if (!wanted.html.empty()) write_page(wanted.html, documents, extras_of(wanted, std::move(programs)));
  const report::Document& first = documents.front();
  if (!wanted.speedscope.empty()) report::write_file(wanted.speedscope, report::to_speedscope(first));
  if (wanted.csv || !wanted.page.empty()) {
    const report::PageName page = report::parse_page(wanted.page.empty() ? "details" : wanted.page);
    std::cout << (wanted.csv ? report::page_csv(first, page) : report::page_text(first, page));
  }
  return 0;
}

}  // namespace foretrace::app
