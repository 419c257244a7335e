#include "sim/validate/class_errors.h"

#include <cmath>

#include <fmt/format.h>

#include "sim/report/json_reader.h"
#include "sim/report/json_text.h"

namespace foretrace::validate {
namespace {

double rounded(const compare::ErrorStatistics& errors) {
  return std::round(1000 * errors.mean_abs_pct.value_or(0)) / 1000;
}

}  // namespace

ClassErrorTable class_error_table(const Validation& validation) {
  ClassErrorTable table;
  for (const ClassErrors& each : errors_by_class(validation.development())) {
    table[each.name] = {each.launches, rounded(each.elapsed), rounded(each.active)};
  }
  if (const Launches held_out = validation.held_out(); !held_out.empty()) {
    table["(held-out)"] = {held_out.size(), rounded(errors_of(held_out, kElapsed)),
                           rounded(errors_of(held_out, kActive))};
  }
  return table;
}

std::string to_json(const ClassErrorTable& table) {
  report::Json classes = report::Json::object();
  for (const auto& [name, means] : table) {
    classes[name] = report::Json{{"launches", means.launches},
                                 {"elapsed_mean_abs_pct", means.elapsed_pct},
                                 {"active_mean_abs_pct", means.active_pct}};
  }
  return report::lay_out(report::Json{{"class_errors", std::move(classes)}}, {});
}

ClassErrorTable read_class_errors(std::string_view text, const std::string& name) {
  ClassErrorTable table;
  const report::Json json = report::parse_json(text, name, "a document of foretrace validate --write-errors");
  const report::JsonSource source{name, "foretrace validate --write-errors writes it"};
  const report::JsonReader classes = report::JsonReader(json, source).object("class_errors");
  for (const auto& [each, _] : classes.members()) {
    const report::JsonReader means = classes.object(each);
    table[each] = {means.whole("launches"), means.number("elapsed_mean_abs_pct"),
                   means.number("active_mean_abs_pct")};
  }
  return table;
}

std::vector<std::string> what_got_worse(const ClassErrorTable& before, const ClassErrorTable& now,
                                        double slack) {
  std::vector<std::string> worse;
  for (const auto& [name, old] : before) {
    const auto found = now.find(name);
    if (found == now.end()) {
      worse.push_back(
          fmt::format("{}: no launch of this class was compared; expected {}", name, old.launches));
      continue;
    }
    const ClassMeans& means = found->second;
    if (means.launches != old.launches) {
      worse.push_back(
          fmt::format("{}: {} launches compared; expected {}", name, means.launches, old.launches));
    }
    if (means.elapsed_pct > old.elapsed_pct + slack) {
      worse.push_back(fmt::format("{}: elapsed cycles off by {:.3f}% in the mean; expected at most {:.3f}%",
                                  name, means.elapsed_pct, old.elapsed_pct));
    }
    if (means.active_pct > old.active_pct + slack) {
      worse.push_back(fmt::format("{}: active cycles off by {:.3f}% in the mean; expected at most {:.3f}%",
                                  name, means.active_pct, old.active_pct));
    }
  }
  for (const auto& [name, means] : now) {
    if (!before.contains(name))
      worse.push_back(fmt::format("{}: a class that the committed errors lack", name));
  }
  return worse;
}

}  // namespace foretrace::validate
