// foretrace compare: two results side by side, or a result beside a user's own ncu CSV.

#include <iostream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/options.h"
#include "sim/app/page.h"
#include "sim/app/version.h"
#include "sim/compare/comparison.h"
#include "sim/report/json.h"

namespace foretrace::app {

int compare(const Words& words) {
  std::string ncu, arch, timeline;
  OutputOptions output;
  options::options_description known("options");
  known.add_options()("ncu", options::value(&ncu)->value_name("FILE.csv"),
                      "compare with this CSV of Nsight Compute: ncu --csv --page raw ...")(
      "arch", options::value(&arch)->value_name("CHIP"),
      "with --ncu: the chip whose predictions are meant, where the result holds several of its kind")(
      "timeline", options::value(&timeline)->value_name("FILE"),
      "with --html: show this timeline on the page too: what foretrace timeline --json wrote");
  output.add_to(known);
  output.add_page_to(known);
  options::variables_map values;
  if (!parse(words, "compare BEFORE.json AFTER.json | compare RESULT.json --ncu REPORT.csv", known, "file",
             values))
    return 0;
  const auto files =
      values.count("file") ? values["file"].as<std::vector<std::string>>() : std::vector<std::string>{};
  if (ncu.empty())
    refuse_given(values, {"arch"},
                 "no --ncu: it says whose predictions the CSV is held against; expected both");
  check_page("--timeline", timeline, output.html);
  const std::size_t expected = ncu.empty() ? 2 : 1;
  if (files.size() != expected) {
    throw InputError(fmt::format("{} result document{} given; expected {}", files.size(),
                                 files.size() == 1 ? "" : "s",
                                 expected == 2 ? "two, or one with --ncu" : "one with --ncu"));
  }
  const std::string text = report::read_file(files[0]);
  const report::Document first = report::from_json(text, files[0]);
  std::vector<report::Document> documents{first};
  std::string after;
  if (ncu.empty()) {
    after = report::read_file(files[1]);
    documents.push_back(report::from_json(after, files[1]));
  }
  compare::Comparison comparison =
      ncu.empty() ? compare::compare_results(first, files[0], documents[1], files[1])
                  : compare::compare_with_ncu(first, files[0], report::read_file(ncu), ncu, arch);
  if (ncu.empty()) comparison.time_line = compare::compare_time_lines(text, files[0], after, files[1]);
  const std::string json = compare::to_json(comparison, kVersion);
  if (!output.html.empty())
    write_page(output.html, documents,
               {timeline.empty() ? timeline : read_timeline(timeline),
                json,
                {program_of(text), program_of(after)},
                {}});
  if (output.json == "-") {
    std::cout << json;
    return 0;
  }
  if (!output.json.empty()) report::write_file(output.json, json);
  std::cout << compare::to_text(comparison);
  return 0;
}

}  // namespace foretrace::app
