#include "sim/compare/time_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/json_text.h"
#include "sim/report/table.h"

namespace foretrace::compare {

namespace {

using report::Json;

/// Rows of a table in words and in the document.
constexpr std::array<std::pair<const char*, const char*>, 5> kParts{{{"kernels", "kernels_ns"},
                                                                     {"copies", "copies_ns"},
                                                                     {"calls of the host", "calls_ns"},
                                                                     {"the host's own work", "host_ns"},
                                                                     {"gaps", "gaps_ns"}}};

double ns(const Json& object, const char* key) { return object.at(key).get<double>(); }

std::vector<TimePair> parts(const Json& before, const Json& after) {
  std::vector<TimePair> rows;
  for (const auto& [name, key] : kParts) rows.push_back({name, ns(before, key), ns(after, key)});
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

void add_kernels(const Json& document, bool after, Sums& sums) {
  for (const Json& launch : document.at("predictions")) {
    const Json& metrics = launch.at("metrics");
    const auto time = metrics.find("gpu__time_duration.sum");
    if (time != metrics.end() && time->is_number())
      sums.add(launch.at("kernel"), after, time->get<double>(), 1);
  }
  if (!document.contains("represented")) return;
  for (const Json& launch : document.at("represented"))
    sums.add(launch.at("kernel"), after, ns(launch, "duration_ns"), 1);
}

void add_ranges(const Json& line, bool after, Sums& sums) {
  if (!line.contains("ranges")) return;
  for (const Json& range : line.at("ranges"))
    sums.add(range.at("name"), after, ns(range, "kernels_ns"), range.at("count"));
}

/// The time line of a document; null: it has none.
const Json* line_of(const Json& document) {
  const auto program = document.find("program");
  if (program == document.end() || !program->contains("time_line")) return nullptr;
  return &program->at("time_line");
}

TimeLinePair compare(const std::array<Json, 2>& documents, const std::array<const Json*, 2>& lines) {
  const Json &before = *lines[0], &after = *lines[1];
  TimeLinePair pair;
  pair.host_before = before.at("host");
  pair.host_after = after.at("host");
  pair.time = parts(before.at("time"), after.at("time"));
  pair.time.insert(pair.time.begin(), {"whole", ns(before, "duration_ns"), ns(after, "duration_ns")});
  pair.critical = parts(before.at("critical_path"), after.at("critical_path"));
  pair.overlap = {{"won", ns(before, "overlap_won_ns"), ns(after, "overlap_won_ns")},
                  {"lost", ns(before, "overlap_lost_ns"), ns(after, "overlap_lost_ns")}};
  Sums kernels, ranges;
  for (const bool second : {false, true}) {
    add_kernels(documents[second], second, kernels);
    add_ranges(*lines[second], second, ranges);
  }
  pair.kernels = kernels.rows();
  pair.ranges = ranges.rows();
  return pair;
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
  std::array<Json, 2> documents;
  std::array<const Json*, 2> lines{};
  for (const bool second : {false, true}) {
    const std::string& name = second ? after_name : before_name;
    try {
      documents[second] = Json::parse(second ? after : before);
      lines[second] = line_of(documents[second]);
    } catch (const Json::exception& error) { throw InputError(fmt::format("{}: {}", name, error.what())); }
  }
  if (lines[0] == nullptr || lines[1] == nullptr) return std::nullopt;
  try {
    return compare(documents, lines);
  } catch (const Json::exception& error) {
    throw InputError(
        fmt::format("{}, {}: the time line of one is damaged: {}", before_name, after_name, error.what()));
  }
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
