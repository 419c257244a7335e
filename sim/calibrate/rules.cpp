#include "sim/calibrate/rules.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/config/keys.h"
#include "model/units/error.h"
#include "sim/report/table.h"

namespace foretrace::calibrate {
namespace {

constexpr double kLeastWidth = 0.05;  // of a fitted value: no range is narrower to either side

/// A fitted number's range: what the rule found, and never narrower than kLeastWidth.
Found widened(Found found) {
  const double margin = kLeastWidth * std::fabs(found.value);
  return {found.value, std::min(found.low, found.value - margin), std::max(found.high, found.value + margin)};
}

std::string number(double value) { return fmt::format("{:.10g}", value); }

}  // namespace

double Evidence::base_value(const std::string& key) const {
  const config::Value* value = base.find(key);
  if (value == nullptr || value->numbers.empty()) {
    throw InputError(fmt::format("{}: has no {}; calibration needs it", base.spec.name, key));
  }
  return value->numbers.front();
}

double Evidence::l2_per_sm_cycle() const {
  return base_value("clock.observed.l2") / base_value("clock.observed.sm");
}

std::optional<double> difference(const Evidence& evidence, const Reading& reading) {
  if (evidence.base_answers == nullptr) return {};
  const auto now = reading(evidence.answers), then = reading(*evidence.base_answers);
  return now && then ? std::optional(*now - *then) : std::nullopt;
}

std::optional<Found> moved(const Evidence& evidence, const std::string& key, double by, double uncertainty) {
  const double value = evidence.base_value(key) + by;
  if (value <= 0) return {};
  return Found{value, value - uncertainty, value + uncertainty};
}

std::optional<double> l2_hit(const Answers& answers) {
  return answers.value("global_latency", {{"level", "l2_hit"}});
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> rules = core_rules();
    for (auto* more : {tensor_rules, memory_rules}) {
      for (Rule& rule : more()) rules.push_back(std::move(rule));
    }
    return rules;
  }();
  return all;
}

Calibration calibrate(const Evidence& evidence) {
  Calibration calibration;
  for (const Rule& rule : rules()) {
    const config::Value* base = evidence.base.find(rule.key);
    if (base == nullptr) continue;  // this machine code has no such unit
    std::optional<Found> found = rule.find(evidence);
    if (!found) {
      calibration.unanswered.push_back(rule.key);
      continue;
    }
    if (rule.fitted) found = widened(*found);
    if (const config::Key* key = config::find_key(rule.key);
        key != nullptr && key->type == config::KeyType::integer) {
      found->value = std::round(found->value);
    }
    calibration.values.push_back(
        {&rule, *found, base->numbers.front(), base->unit, evidence.answers.document_of(rule.benchmark)});
  }
  return calibration;
}

std::string to_toml(const Calibration& calibration, const config::Loaded& base, const std::string& title,
                    const std::string& answers_name) {
  std::string out = fmt::format(
      "# Made by foretrace calibrate from {} with {} as the base (docs/calibration.md).\n"
      "# What no microbenchmark answers is the base's own number with the base's source: read it before you "
      "trust it.\n"
      "title = \"{}\"\nsm_number = {}\n",
      answers_name, base.spec.name, title, base.spec.sm_number);
  if (!base.die.empty()) out += fmt::format("die = \"{}\"\n", base.die);
  out += "\n";
  for (const config::Value& value : base.values) {
    if (value.key.starts_with("opcodes.")) continue;  // they stand in the table of the machine code
    const auto found = std::find_if(calibration.values.begin(), calibration.values.end(),
                                    [&](const Calibrated& each) { return each.rule->key == value.key; });
    std::string entry;
    if (found != calibration.values.end()) {
      const Rule& rule = *found->rule;
      entry = fmt::format("value = {}, unit = \"{}\", kind = \"{}\"", number(found->found.value), value.unit,
                          rule.fitted ? "fitted" : "measured");
      if (rule.fitted)
        entry += fmt::format(", range = [{}, {}]", number(found->found.low), number(found->found.high));
      entry +=
          fmt::format(", source = \"validate/measurements/{}:{} {}\"",
                      found->document.empty() ? answers_name : found->document, rule.benchmark, rule.how);
    } else {
      if (!value.formula.empty()) {
        entry = fmt::format("formula = \"{}\"", value.formula);
      } else if (value.numbers.size() == 1) {
        entry = fmt::format("value = {}", number(value.numbers.front()));
      } else {
        entry = "value = [";
        for (const double each : value.numbers) entry += (entry.back() == '[' ? "" : ", ") + number(each);
        entry += "]";
      }
      entry += fmt::format(", unit = \"{}\", kind = \"{}\"", value.unit,
                           value.overridden ? "documented" : config::name_of(value.kind));
      if (!value.on.empty()) entry += fmt::format(", on = [\"{}\"]", fmt::join(value.on, "\", \""));
      if (value.has_range && !value.overridden) {
        entry += fmt::format(", range = [{}, {}]", number(value.low), number(value.high));
      }
      entry += fmt::format(", source = \"{}\"",
                           value.overridden ? "judgement: given when this was made" : value.source);
    }
    out += fmt::format("{} = {{ {} }}\n", value.key, entry);
  }
  return out;
}

std::string to_text(const Calibration& calibration, const std::string& base_name) {
  report::Table table({"Key", "Unit", base_name, "Calibrated", "Range", "Change", "By"}, 2);
  for (const Calibrated& each : calibration.values) {
    const double change = each.base_value == 0 ? 0 : 100 * (each.found.value / each.base_value - 1);
    table.add(
        {each.rule->key, each.unit, number(each.base_value), fmt::format("{:.6g}", each.found.value),
         each.rule->fitted ? fmt::format("{:.4g} to {:.4g}", each.found.low, each.found.high) : "measured",
         fmt::format("{:+.1f}%", change), each.rule->benchmark});
  }
  std::string out = table.text(2);
  for (const std::string& key : calibration.unanswered) {
    out += fmt::format("  {}: no answer; the base's number stays\n", key);
  }
  return out;
}

}  // namespace foretrace::calibrate
