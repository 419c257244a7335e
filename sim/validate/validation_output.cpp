// A validation as text and as JSON.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/document.h"
#include "sim/report/json_text.h"
#include "sim/report/table.h"
#include "sim/validate/accuracy.h"
#include "sim/validate/stall_states.h"
#include "sim/validate/validation.h"

namespace foretrace::validate {

constexpr std::size_t kNamesShown = 5;  // of launches that were left out for one reason
constexpr int kValidationSchema = 1;    // docs/validation_schema.json
namespace {

using report::grouped;
using report::Json;
using report::json_number;
using report::Table;

/// The sets of launches that figures are given over.
struct Part {
  std::string name;
  Launches launches;
  std::string key() const { return name == "held-out" ? "held_out" : name; }  ///< in JSON
};

/// Development and held-out apart and together; where one of them is empty, only together.
std::vector<Part> parts(const Validation& validation) {
  std::vector<Part> all{{"all", validation.all()}};
  Launches development = validation.development(), held_out = validation.held_out();
  if (development.empty() || held_out.empty()) return all;
  return {{"development", std::move(development)}, {"held-out", std::move(held_out)}, std::move(all.front())};
}

/// Metrics that both sides have for some launch, in the order of their declarations.
std::vector<std::string> shared_metrics(const Validation& validation) {
  std::vector<std::string> names;
  for (const report::Metric& metric : report::metrics()) {
    const bool both =
        std::any_of(validation.launches.begin(), validation.launches.end(), [&](const auto& launch) {
          return launch.predicted.metrics.has(metric.name) && launch.measured.metrics.count(metric.name) > 0;
        });
    if (both) names.push_back(metric.name);
  }
  return names;
}

std::string places(const std::optional<double>& value, int count = 2) {
  return value ? fmt::format("{:.{}f}", *value, count) : "-";
}

/// Launches whose own numbers may be read.
Launches readable(const Validation& validation) {
  return validation.show_held_out ? validation.all() : validation.development();
}

std::string launches_text(const Validation& validation) {
  const Launches launches = readable(validation);
  Table table({"Launch", "Class", "Elapsed", "Measured", "Error %", "SM active", "Measured", "Error %"}, 2);
  for (const auto* launch : launches) {
    std::vector<std::string> cells{launch->predicted.name, launch->kernel_class};
    for (const char* name : {kElapsed, kActive}) {
      const auto value = launch->value(name), reference = launch->reference(name);
      cells.push_back(value ? fmt::format("{:.0f}", *value) : "-");
      cells.push_back(reference ? fmt::format("{:.0f}", *reference) : "-");
      cells.push_back(value && reference ? places(compare::relative_error_pct(*value, *reference)) : "-");
    }
    table.add(std::move(cells));
  }
  std::string out = table.empty() ? std::string() : table.text(2) + "\n";
  if (const std::size_t hidden = validation.launches.size() - launches.size(); hidden > 0) {
    out += fmt::format(
        "  {} launches of held-out kernels stand in the sums below, not here (--show-held-out)\n\n", hidden);
  }
  return out;
}

std::string classes_text(const Validation& validation) {
  Table table({"Class, cycle error %", "n", "Elapsed mean", "median", "p90", "worst", "r", "Active mean",
               "median", "p90", "worst", "r"},
              1);
  for (const ClassErrors& each : errors_by_class(readable(validation))) {
    std::vector<std::string> cells{each.name, fmt::format("{}", each.launches)};
    for (const compare::ErrorStatistics* errors : {&each.elapsed, &each.active}) {
      for (const auto* value :
           {&errors->mean_abs_pct, &errors->median_abs_pct, &errors->p90_abs_pct, &errors->worst_abs_pct}) {
        cells.push_back(places(*value));
      }
      cells.push_back(places(errors->pearson, 4));
    }
    table.add(std::move(cells));
  }
  return table.empty() ? std::string() : table.text(2) + "\n";
}

std::string metrics_text(const Validation& validation) {
  Table table({"Absolute error, %", "n", "mean", "median", "p90", "worst", "r"}, 1);
  for (const std::string& name : shared_metrics(validation)) {
    const compare::ErrorStatistics errors = errors_of(validation.all(), name);
    table.add({name, fmt::format("{}", errors.pairs), places(errors.mean_abs_pct),
               places(errors.median_abs_pct), places(errors.p90_abs_pct), places(errors.worst_abs_pct),
               places(errors.pearson, 4)});
  }
  return table.empty() ? std::string() : table.text(2) + "\n";
}

const char* verdict(const Row& row) { return !row.pass ? "" : *row.pass ? "yes" : "NO"; }

/// Held-out launches are named only when asked.
bool may_name(const Validation& validation, const Part& part) {
  return validation.show_held_out || std::none_of(part.launches.begin(), part.launches.end(),
                                                  [](const auto* launch) { return launch->held_out; });
}

std::string rows_text(const Validation& validation) {
  std::string out;
  for (const Part& part : parts(validation)) {
    Table table({fmt::format("Asked of {} launches ({})", part.launches.size(), part.name), "To reach", "n",
                 "Reached", "Met"},
                2);
    std::set<std::string> not_asked;
    for (const Row& row : accuracy_rows(part.launches)) {
      table.add({row.name, row.asked.empty() ? "(reported)" : row.asked, fmt::format("{}", row.n),
                 row.n == 0 ? "-" : row.reached, verdict(row)});
      not_asked.insert(row.not_asked.begin(), row.not_asked.end());
    }
    out += table.text(2);
    if (!not_asked.empty()) {
      out += "  Some counts are not asked to be equal, because the device's two runs differ, of ";
      out += may_name(validation, part) ? fmt::format("{}\n", fmt::join(not_asked, ", "))
                                        : fmt::format("{} launches\n", not_asked.size());
    }
    out += "\n";
  }
  return out;
}

std::string predictors_text(const Validation& validation) {
  std::string out;
  for (const Part& part : parts(validation)) {
    Table table({fmt::format("Cycle error % ({})", part.name), "Elapsed mean", "p90", "worst", "r",
                 "Active mean", "p90", "worst", "r"},
                1);
    const auto add = [&](const std::string& name, const compare::ErrorStatistics& elapsed,
                         const compare::ErrorStatistics& active) {
      std::vector<std::string> cells{name};
      for (const compare::ErrorStatistics* errors : {&elapsed, &active}) {
        for (const auto* value : {&errors->mean_abs_pct, &errors->p90_abs_pct, &errors->worst_abs_pct}) {
          cells.push_back(places(*value));
        }
        cells.push_back(places(errors->pearson, 4));
      }
      table.add(std::move(cells));
    };
    add("foretrace", errors_of(part.launches, kElapsed, kLeastElapsed),
        errors_of(part.launches, kActive, kLeastActive));
    for (const TrivialPredictor& each : trivial_predictors(part.launches))
      add(each.name, each.elapsed, each.active);
    out += table.text(2) + "\n";
  }
  for (const TrivialPredictor& each : trivial_predictors(validation.all())) {
    out += fmt::format("  {}: {}\n", each.name, each.how);
  }
  return out + "\n";
}

/// Published numbers: each has a metric of its own, and the aim is 10%.
std::string anchors_text(const Validation& validation) {
  Table table({"Launch", "Metric", "Predicted", "Published", "Error %"}, 2);
  std::size_t within = 0, all = 0;
  for (const ValidatedLaunch& launch : validation.launches) {
    for (const auto& [metric, values] : launch.measured.metrics) {
      const auto value = launch.value(metric), reference = launch.reference(metric);
      if (!value || !reference) continue;
      const auto error = compare::relative_error_pct(*value, *reference);
      table.add({launch.predicted.name, metric, places(value, 1), places(reference, 1), places(error, 1)});
      ++all;
      within += error && std::fabs(*error) <= 10 ? 1u : 0u;
    }
  }
  return table.text(2) + fmt::format("\n  {} of {} within 10% (aim: 8 in 10)\n\n", within, all);
}

Json errors_json(const compare::ErrorStatistics& errors) {
  return Json{{"launches", errors.pairs},
              {"mean_abs_pct", json_number(errors.mean_abs_pct)},
              {"median_abs_pct", json_number(errors.median_abs_pct)},
              {"p90_abs_pct", json_number(errors.p90_abs_pct)},
              {"worst_abs_pct", json_number(errors.worst_abs_pct)},
              {"pearson", json_number(errors.pearson)}};
}

/// `named`: launches may be named.
Json row_json(const Row& row, bool named) {
  Json json{{"n", row.n},
            {"reached", report::json_text_or_null(row.reached)},
            {"met", row.pass ? Json(*row.pass) : Json()}};
  for (const auto& [name, value] : row.figures) json[name] = json_number(value);
  if (!named) return json;
  Json outside = Json::object();
  for (const auto& [name, error] : row.outside) outside[name] = json_number(error);
  json["outside"] = std::move(outside);
  json["not_asked"] = row.not_asked;
  return json;
}

Json rows_json(const Validation& validation) {
  Json rows = Json::array();
  for (const Part& part : parts(validation)) {
    const bool named = may_name(validation, part);
    const std::vector<Row> reached = accuracy_rows(part.launches);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (rows.size() <= i)
        rows.push_back(
            Json{{"name", reached[i].name}, {"asked", report::json_text_or_null(reached[i].asked)}});
      rows[i][part.key()] = row_json(reached[i], named);
    }
  }
  return rows;
}

Json predictors_json(const Validation& validation) {
  Json predictors = Json::object();
  for (const Part& part : parts(validation)) {
    Json& json = predictors[part.key()];
    json["foretrace"] = Json{{"elapsed", errors_json(errors_of(part.launches, kElapsed, kLeastElapsed))},
                             {"active", errors_json(errors_of(part.launches, kActive, kLeastActive))}};
    for (const TrivialPredictor& each : trivial_predictors(part.launches)) {
      json[each.name] = Json{
          {"how", each.how}, {"elapsed", errors_json(each.elapsed)}, {"active", errors_json(each.active)}};
    }
  }
  return predictors;
}

/// How far a launch's warp states are from the device's; null where one side has none.
Json states_json(const ValidatedLaunch& launch) {
  const auto predicted = predicted_shares(launch), measured = measured_shares(launch);
  if (!predicted || !measured) return nullptr;
  const auto name = [](std::size_t state) { return stats::name_of(static_cast<stats::WarpState>(state)); };
  return Json{{"distance", distance(*predicted, *measured)},
              {"predicted", name(largest(*predicted))},
              {"measured", name(largest(*measured))}};
}

Json launches_json(const Validation& validation, const std::vector<std::string>& names) {
  Json launches = Json::array();
  for (const auto* launch : readable(validation)) {
    Json metrics = Json::object();
    for (const std::string& name : names) {
      const auto reference = launch->reference(name);
      if (!reference) continue;
      metrics[name] =
          Json{{"predicted", json_number(launch->value(name))}, {"measured", json_number(reference)}};
    }
    launches.push_back(Json{{"name", launch->predicted.name},
                            {"kernel", launch->predicted.kernel},
                            {"class", launch->kernel_class},
                            {"held_out", launch->held_out},
                            {"roofline_cycles", json_number(launch->predicted.roofline_cycles)},
                            {"stall_states", states_json(*launch)},
                            {"metrics", std::move(metrics)}});
  }
  return launches;
}

}  // namespace

std::string to_text(const Validation& validation) {
  const Measurement& measured = validation.measured;
  std::string out =
      fmt::format("{} on {} ({}), {}\n", validation.arch, measured.device, measured.date,
                  measured.source.empty() ? "driver " + measured.driver : "published in " + measured.source);
  if (!validation.frozen.empty()) out += fmt::format("predictions frozen {}\n", validation.frozen);
  out += "\n";
  if (measured.source.empty()) {
    out += launches_text(validation) + classes_text(validation) + metrics_text(validation) +
           rows_text(validation) + predictors_text(validation);
  } else {
    out += anchors_text(validation);
  }
  std::map<std::string, std::vector<std::string>> reasons;
  for (const LeftOut& each : validation.left_out) reasons[each.why].push_back(each.name);
  std::string options;
  for (const auto& [why, names] : reasons) {
    const std::size_t shown = std::min(names.size(), kNamesShown);
    out += fmt::format("  left out ({}): {}: {}{}\n", why, names.size(),
                       fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                       shown < names.size() ? " ... (--json has all)" : "");
    options += fmt::format("{}{} {}", options.empty() ? ": " : ", ", names.size(), why);
  }
  for (const LeftOut& each : validation.failed) {
    out += fmt::format("  NOT COMPARED: {}: {}\n", each.name, each.why);
  }
  out += fmt::format("  {} launches compared ({} development, {} held-out), {} left out{}",
                     validation.launches.size(), validation.development().size(),
                     validation.held_out().size(), validation.left_out.size(), options);
  if (!validation.failed.empty()) out += fmt::format(", {} NOT COMPARED", validation.failed.size());
  out += "\n";
  return out;
}

std::string to_json(const Validation& validation) {
  const std::vector<std::string> names = shared_metrics(validation);
  Json left_out = Json::array(), why = Json::object(), failed = Json::object();
  for (const LeftOut& each : validation.left_out) {
    left_out.push_back(each.name);
    why[each.name] = each.why;
  }
  for (const LeftOut& each : validation.failed) failed[each.name] = each.why;
  Json metrics = Json::object(), by_set = Json::object(), classes = Json::array();
  for (const std::string& name : names) metrics[name] = errors_json(errors_of(validation.all(), name));
  for (const Part& part : parts(validation)) {
    Json& json = by_set[part.key()];
    json["launches"] = part.launches.size();
    json["metrics"] = Json::object();
    for (const std::string& name : names) json["metrics"][name] = errors_json(errors_of(part.launches, name));
  }
  for (const ClassErrors& each : errors_by_class(readable(validation))) {
    classes.push_back(Json{{"name", each.name},
                           {"launches", each.launches},
                           {"elapsed", errors_json(each.elapsed)},
                           {"active", errors_json(each.active)}});
  }
  return report::lay_out(Json{{"schema", kValidationSchema},
                              {"foretrace", validation.foretrace},
                              {"commit", report::json_text_or_null(validation.commit)},
                              {"arch", validation.arch},
                              {"config_sha256", validation.config_sha256},
                              {"device", validation.measured.device},
                              {"date", validation.measured.date},
                              {"source", report::json_text_or_null(validation.measured.source)},
                              {"frozen", report::json_text_or_null(validation.frozen)},
                              {"compared", validation.launches.size()},
                              {"left_out", std::move(left_out)},
                              {"left_out_why", std::move(why)},
                              {"failed", std::move(failed)},
                              {"metrics", std::move(metrics)},
                              {"sets", std::move(by_set)},
                              {"classes", std::move(classes)},
                              {"rows", rows_json(validation)},
                              {"predictors", predictors_json(validation)},
                              {"launches", launches_json(validation, names)}},
                         {});
}

}  // namespace foretrace::validate
