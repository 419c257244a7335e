// foretrace report: the page of results that --json wrote.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/units/error.h"
#include "sim/app/options.h"
#include "sim/app/page.h"
#include "sim/report/json.h"

namespace foretrace::app {

int report_page(const Words& words) {
  std::string html, timeline;
  options::options_description known("options");
  known.add_options()("html", options::value(&html)->required(), "the page to write")(
      "timeline", options::value(&timeline), "show this timeline too: what foretrace timeline --json wrote");
  options::variables_map values;
  if (!parse(words, "report RESULT.json [RESULT.json] --html FILE [--timeline FILE]", known, "file", values))
    return 0;
  const auto files =
      values.count("file") ? values["file"].as<std::vector<std::string>>() : std::vector<std::string>{};
  if (files.empty() || files.size() > 2)
    throw InputError(fmt::format("{} result documents given; expected one, or two to compare", files.size()));
  std::vector<report::Document> documents;
  for (const std::string& file : files) documents.push_back(report::from_json(report::read_file(file), file));
  PageExtras extras;
  if (!timeline.empty()) {
    extras.timeline = report::read_file(timeline);
    const auto json = nlohmann::json::parse(extras.timeline, nullptr, false);
    if (!json.is_object() || !json.contains("timeline") || json.value("schema", 0) != 1)
      throw InputError(
          fmt::format("{}: no timeline; expected what foretrace timeline --json wrote", timeline));
  }
  write_page(html, documents, extras);
  return 0;
}

}  // namespace foretrace::app
