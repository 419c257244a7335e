#include "sim/compare/time_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/report/json_reader.h"
#include "sim/report/table.h"

namespace foretrace::compare {

namespace {

using report::Json;
using report::JsonReader;

/// Rows of a table in words and in the document.
constexpr std::array<std::pair<const char*, const char*>, 5> kParts{{{"kernels", "kernels_ns"},
                                                                     {"copies", "copies_ns"},
                                                                     {"calls of the host", "calls_ns"},
                                                                     {"the host's own work", "host_ns"},
                                                                     {"gaps", "gaps_ns"}}};

std::vector<TimePair> parts(const JsonReader& before, const JsonReader& after) {
  std::vector<TimePair> rows;
  rows.reserve(kParts.size());
  for (const auto& [name, key] : kParts) rows.push_back({name, before.number(key), after.number(key)});
  return rows;
}

/// Adds up rows of one name, of one side.
class Sums {
 public:
  void add(const std::string& name, bool after, double time, std::uint64_t count) {
    TimePair& row = rows_[name];
    row.name = name;
    (after ? row.after : row.before) += time;
    (after ? row.count_after : row.count_before) += count;
  }
  /// The largest change first.
  std::vector<TimePair> rows() const {
    std::vector<TimePair> rows;
    for (const auto& [name, row] : rows_) rows.push_back(row);
    const auto change = [](const TimePair& row) { return std::fabs(row.after - row.before); };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const TimePair& a, const TimePair& b) { return change(a) > change(b); });
    return rows;
  }

 private:
  std::map<std::string, TimePair> rows_;
};

void add_kernels(const JsonReader& document, bool after, Sums& sums) {
  constexpr const char* kTime = "gpu__time_duration.sum";
  for (const JsonReader& launch : document.objects("predictions")) {
    const JsonReader metrics = launch.object("metrics");
    if (!metrics.has(kTime)) continue;
    if (const auto time = metrics.number_or_null(kTime)) sums.add(launch.text("kernel"), after, *time, 1);
  }
  if (!document.has("represented")) return;
  for (const JsonReader& launch : document.objects("represented"))
    sums.add(launch.text("kernel"), after, launch.number("duration_ns"), 1);
}

void add_ranges(const JsonReader& line, bool after, Sums& sums) {
  if (!line.has("ranges")) return;
  for (const JsonReader& range : line.objects("ranges"))
    sums.add(range.text("name"), after, range.number("kernels_ns"), range.whole("count"));
}

/// The time line of a document, if it has one.
std::optional<JsonReader> line_of(const JsonReader& document) {
  if (!document.has("program")) return std::nullopt;
  const JsonReader program = document.object("program");
  return program.has("time_line") ? std::optional(program.object("time_line")) : std::nullopt;
}

std::string change_text(const TimePair& row) {
  if (row.before <= 0) return row.after <= 0 ? "" : "new";
  return fmt::format("{:+.1f}%", 100 * (row.after / row.before - 1));
}

std::vector<std::string> cells(const TimePair& row) {
  return {row.name, fmt::format("{:.2f}", row.before * 1e-3), fmt::format("{:.2f}", row.after * 1e-3),
          fmt::format("{:+.2f}", (row.after - row.before) * 1e-3), change_text(row)};
}

std::string table_of(const std::string& title, const std::vector<TimePair>& rows) {
  report::Table table({title, "before, us", "after, us", "change", ""}, 1);
  for (const TimePair& row : rows) table.add(cells(row));
  return table.text(2);
}

std::string counted_table(const std::string& title, const std::vector<TimePair>& rows) {
  constexpr std::size_t kShown = 20;
  if (rows.empty()) return "";
  report::Table table({title, "before, us", "after, us", "change", "", "number"}, 1);
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) {
    const TimePair& row = rows[i];
    std::vector<std::string> line = cells(row);
    line[0] = report::shortened(line[0], 48);
    line.push_back(row.count_before == row.count_after
                       ? fmt::format("{}", row.count_after)
                       : fmt::format("{} -> {}", row.count_before, row.count_after));
    table.add(line);
  }
  std::string text = table.text(2);
  if (rows.size() > kShown) text += fmt::format("  ... and {} more (--json has all)\n", rows.size() - kShown);
  return text;
}

}  // namespace

std::optional<TimeLinePair> compare_time_lines(std::string_view before, const std::string& before_name,
                                               std::string_view after, const std::string& after_name) {
  constexpr const char *kExpected = "a result document of foretrace --json",
                       *kForm = "docs/json_schema.json has it";
  const Json old_json = report::parse_json(before, before_name, kExpected),
             new_json = report::parse_json(after, after_name, kExpected);
  const report::JsonSource old_source{before_name, kForm}, new_source{after_name, kForm};
  const JsonReader old_document(old_json, old_source), new_document(new_json, new_source);
  const std::optional<JsonReader> old_line = line_of(old_document), new_line = line_of(new_document);
  if (!old_line || !new_line) return std::nullopt;

  TimeLinePair pair;
  pair.host_before = old_line->text("host");
  pair.host_after = new_line->text("host");
  pair.time = parts(old_line->object("time"), new_line->object("time"));
  const auto row = [&](const char* name, const char* key) {
    return TimePair{name, old_line->number(key), new_line->number(key)};
  };
  pair.time.insert(pair.time.begin(), row("whole", "duration_ns"));
  pair.critical = parts(old_line->object("critical_path"), new_line->object("critical_path"));
  pair.overlap = {row("won", "overlap_won_ns"), row("lost", "overlap_lost_ns")};
  Sums kernels, ranges;
  add_kernels(old_document, false, kernels);
  add_kernels(new_document, true, kernels);
  add_ranges(*old_line, false, ranges);
  add_ranges(*new_line, true, ranges);
  pair.kernels = kernels.rows();
  pair.ranges = ranges.rows();
  return pair;
}

std::string to_text(const TimeLinePair& pair) {
  return fmt::format("Time line, host {}\n",
                     pair.host_before == pair.host_after
                         ? pair.host_after
                         : fmt::format("{} -> {}", pair.host_before, pair.host_after)) +
         table_of("the GPU's time", pair.time) + table_of("critical path", pair.critical) +
         table_of("overlap", pair.overlap) + counted_table("kernel", pair.kernels) +
         counted_table("NVTX range", pair.ranges) + "\n";
}

}  // namespace foretrace::compare
