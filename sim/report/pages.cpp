#include "sim/report/pages.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/json_text.h"
#include "sim/report/table.h"
#include "sim/report/text.h"
#include "sim/report/text_sections.h"

namespace foretrace::report {
namespace {

using Cells = std::vector<std::string>;

std::string csv_row(const Cells& cells) {
  std::string row;
  for (const std::string& cell : cells) {
    row += row.empty() ? "\"" : ",\"";
    for (const char c : cell) row += c == '"' ? "\"\"" : std::string(1, c);
    row += '"';
  }
  return row + "\n";
}

/// The shortest text that reads back to the same number; n/a for none.
std::string plain(Value value) { return value ? json_number(value).dump() : "n/a"; }

const Cells& launch_titles() {
  static const Cells kTitles = {"ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
                                "Stream", "Block Size", "Grid Size",    "Device",    "CC"};
  return kTitles;
}

Cells launch_cells(const LaunchResult& result, std::size_t id) {
  return {std::to_string(id),
          "0",
          "foretrace",
          result.arch,
          result.kernel,
          "1",
          std::to_string(result.place.stream.value_or(0)),
          in_brackets(result.block),
          in_brackets(result.grid),
          std::to_string(result.place.device.value_or(0)),
          fmt::format("{}.{}", result.sm / 10, result.sm % 10)};
}

/// The rows of a page: the first is the titles; raw has units in the second.
std::vector<Cells> raw_rows(const Document& document) {
  Cells titles = launch_titles(), units(titles.size());
  for (const Metric& metric : metrics()) {
    titles.push_back(metric.name);
    units.push_back(metric.unit);
  }
  std::vector<Cells> rows{titles, units};
  for (std::size_t i = 0; i < document.predictions.size(); ++i) {
    rows.push_back(launch_cells(document.predictions[i], i));
    for (const Metric& metric : metrics())
      rows.back().push_back(plain(document.predictions[i].metrics.get(metric.name)));
  }
  return rows;
}

std::string trimmed(std::string_view label) {
  return std::string(label.substr(std::min(label.find_first_not_of(' '), label.size())));
}

std::vector<Cells> details_rows(const Document& document) {
  Cells titles = launch_titles();
  for (const char* title : {"Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name",
                            "Rule Type", "Rule Description"})
    titles.push_back(title);
  std::vector<Cells> rows{titles};
  const auto add = [&](const Cells& launch, Cells more) {
    rows.push_back(launch);
    rows.back().insert(rows.back().end(), more.begin(), more.end());
  };
  for (std::size_t i = 0; i < document.predictions.size(); ++i) {
    const LaunchResult& result = document.predictions[i];
    const Cells launch = launch_cells(result, i);
    for (const SectionRow& row : section_rows()) {
      const Metric* metric = find_metric(row.metric);
      FORETRACE_ASSERT(metric != nullptr, "The report shows only metrics that are declared.");
      add(launch,
          {row.section, trimmed(row.label), metric->unit, plain(result.metrics.get(row.metric)), "", "", ""});
    }
    add(launch,
        {"GPU Speed Of Light Throughput", "", "", "", result.limiter.name, "INF", result.limiter.sentence});
  }
  return rows;
}

std::vector<Cells> source_rows(const LaunchResult& result) {
  Cells titles = {"#", "Address", "Source", "File", "Line", "Warp Stall Cycles"};
  for (const auto& counter : stats::kInstructionCounters) titles.push_back(counter.name);
  for (int s = 0; s < stats::kWarpStates; ++s)
    titles.push_back(fmt::format("stall_{}", stats::name_of(static_cast<stats::WarpState>(s))));
  std::vector<Cells> rows{titles};
  for (std::size_t i = 0; i < result.instructions.size(); ++i) {
    const InstructionResult& row = result.instructions[i];
    rows.push_back({std::to_string(i), fmt::format("{:#x}", row.offset), row.sass, row.file,
                    row.line ? std::to_string(row.line) : "", std::to_string(row.stall_cycles())});
    for (const auto& counter : stats::kInstructionCounters)
      rows.back().push_back(std::to_string(row.*counter.member));
    for (const std::uint64_t cycles : row.stalled) rows.back().push_back(std::to_string(cycles));
  }
  return rows;
}

std::string csv_of(const std::vector<Cells>& rows) {
  std::string text;
  for (const Cells& row : rows) text += csv_row(row);
  return text;
}

std::string raw_text(const LaunchResult& result) {
  Table table({"Metric", "Unit", "Value"}, 2);
  for (const Metric& metric : metrics())
    table.add({metric.name, metric.unit, plain(result.metrics.get(metric.name))});
  return table.text(4);
}

/// The columns that a reader wants; the CSV has all.
std::string source_text(const LaunchResult& result) {
  Table table({"Address", "Source", "Line", "Stalled", "Executed", "Sectors", "Wavefronts"}, 2);
  for (const InstructionResult& row : result.instructions) {
    table.add({fmt::format("{:04x}", row.offset), row.sass, row.line ? std::to_string(row.line) : "",
               std::to_string(row.stall_cycles()), std::to_string(row.executed), std::to_string(row.sectors),
               std::to_string(row.wavefronts)});
  }
  return table.text(4);
}

}  // namespace

PageName parse_page(const std::string& word) {
  if (word == "raw") return PageName::raw;
  if (word == "details") return PageName::details;
  if (word == "source") return PageName::source;
  throw InputError(fmt::format("--page {}: expected raw, details or source", word));
}

std::string page_csv(const Document& document, PageName page) {
  if (page == PageName::raw) return csv_of(raw_rows(document));
  if (page == PageName::details) return csv_of(details_rows(document));
  std::string text;
  for (const LaunchResult& result : document.predictions) {
    text += csv_row({"Kernel Name", result.kernel});  // as ncu: a table of its own per launch
    text += csv_of(source_rows(result));
  }
  return text;
}

std::string page_text(const Document& document, PageName page) {
  if (page == PageName::details) return to_text(document);
  std::string text;
  for (const LaunchResult& result : document.predictions) {
    text += fmt::format("  {} {} x {} on {}\n", result.kernel, in_brackets(result.grid),
                        in_brackets(result.block), result.arch);
    text += (page == PageName::raw ? raw_text(result) : source_text(result)) + "\n";
  }
  return text;
}

}  // namespace foretrace::report
