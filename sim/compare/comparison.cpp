#include "sim/compare/comparison.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/compare/ncu_csv.h"
#include "sim/report/table.h"

namespace foretrace::compare {
namespace {

using report::LaunchResult;

std::string label(const LaunchResult& result, const std::string& file) {
  return fmt::format("{}: {} {}x{} on {}", file, result.launch.empty() ? result.kernel : result.launch,
                     report::in_brackets(result.grid), report::in_brackets(result.block), result.arch);
}

using Matches = std::function<bool(const LaunchResult&, const LaunchResult&)>;

/// Pairs by one rule, both sides in order, what an earlier rule has not paired.
void pair_up(const std::vector<LaunchResult>& before, const std::vector<LaunchResult>& after,
             const Matches& matches, std::vector<int>& answer, std::vector<bool>& taken) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; answer[i] < 0 && j < after.size(); ++j) {
      if (taken[j] || !matches(before[i], after[j])) continue;
      answer[i] = static_cast<int>(j);
      taken[j] = true;
    }
  }
}

bool same_launch(const LaunchResult& a, const LaunchResult& b) {
  return a.kernel == b.kernel && a.grid == b.grid && a.block == b.block && a.launch == b.launch;
}
bool same_shape(const LaunchResult& a, const LaunchResult& b) {
  return a.kernel == b.kernel && a.grid == b.grid && a.block == b.block;
}

std::vector<MetricPair> pairs_of(const report::MetricValues& values, const report::MetricValues& references) {
  std::vector<MetricPair> pairs;
  for (const auto& [name, value] : values.all()) {
    if (references.has(name)) pairs.push_back({name, value, references.get(name)});
  }
  return pairs;
}

std::string differences(const LaunchResult& before, const LaunchResult& after) {
  std::string note;
  const auto add = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) note += fmt::format("{}{} {} -> {}", note.empty() ? "" : ", ", what, a, b);
  };
  add("kernel", before.kernel, after.kernel);
  add("grid", report::in_brackets(before.grid), report::in_brackets(after.grid));
  add("block", report::in_brackets(before.block), report::in_brackets(after.block));
  const auto set = [](const LaunchResult& result) {
    std::string all;
    for (const auto& each : result.overrides) all += (all.empty() ? "" : " ") + each;
    return all.empty() ? std::string("none") : all;
  };
  add("--set", set(before), set(after));
  add("SM clock (Hz)", fmt::format("{}", before.clock_hz.sm), fmt::format("{}", after.clock_hz.sm));
  add("L2 clock (Hz)", fmt::format("{}", before.clock_hz.l2), fmt::format("{}", after.clock_hz.l2));
  add("DRAM clock (Hz)", fmt::format("{}", before.clock_hz.dram), fmt::format("{}", after.clock_hz.dram));
  if (before.arch == after.arch && before.code_sha256 != after.code_sha256) {
    note += std::string(note.empty() ? "" : ", ") + "other machine code";
  }
  return note;
}

LaunchPair make_pair(const LaunchResult& before, const LaunchResult& after) {
  LaunchPair pair;
  pair.kernel = before.launch.empty() ? before.kernel : before.launch;
  pair.arch = before.arch == after.arch ? before.arch : before.arch + " -> " + after.arch;
  pair.grid = before.grid;
  pair.block = before.block;
  pair.note = differences(before, after);
  pair.limiter = after.limiter.name;
  pair.limiter_before = before.limiter.name;
  pair.metrics = pairs_of(after.metrics, before.metrics);
  return pair;
}

/// The predictions that a measured launch may be of, by how a kernel may be spelt; empty when there is none.
std::vector<std::size_t> candidates(const std::vector<const LaunchResult*>& predictions,
                                    const ProfiledLaunch& measured) {
  const auto found = [&](const auto& is_kernel) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      const auto& each = *predictions[i];
      if (each.sm == measured.sm && each.grid == measured.grid && each.block == measured.block &&
          is_kernel(each))
        all.push_back(i);
    }
    return all;
  };
  auto exact = found([&](const LaunchResult& each) {
    return each.mangled == measured.kernel ||
           plain_kernel_name(each.kernel) == plain_kernel_name(measured.kernel);
  });
  if (!exact.empty()) return exact;
  auto by_base = found([&](const LaunchResult& each) {
    return base_kernel_name(each.kernel) == base_kernel_name(measured.kernel);
  });
  // Without template arguments only one instance may be meant.
  for (const std::size_t each : by_base) {
    if (predictions[each]->kernel != predictions[by_base.front()]->kernel) return {};
  }
  return by_base;
}

std::vector<const LaunchResult*> predictions_of(const report::Document& predicted, const std::string& name,
                                                const std::string& arch,
                                                const std::vector<ProfiledLaunch>& measured) {
  std::vector<const LaunchResult*> chosen;
  for (const auto& result : predicted.predictions) {
    if (arch.empty() || result.arch == arch) chosen.push_back(&result);
  }
  if (chosen.empty()) {
    std::string chips;
    for (const auto& result : predicted.predictions) {
      if (chips.find(result.arch) == std::string::npos) chips += (chips.empty() ? "" : ", ") + result.arch;
    }
    throw InputError(fmt::format("{}: no prediction for {}; expected one of: {}", name,
                                 arch.empty() ? "any chip" : arch,
                                 chips.empty() ? "none in the file" : chips));
  }
  for (const auto& launch : measured) {
    const LaunchResult* first = nullptr;
    for (const auto* result : chosen) {
      if (result->sm != launch.sm) continue;
      if (first != nullptr && (result->arch != first->arch || result->overrides != first->overrides)) {
        throw InputError(fmt::format(
            "{}: predictions for both {} and {} could answer a measurement of compute capability {}.{}; "
            "compare a document with one of them",
            name, first->arch, result->arch, launch.sm / 10, launch.sm % 10));
      }
      first = first == nullptr ? result : first;
    }
  }
  return chosen;
}

}  // namespace

Comparison compare_results(const report::Document& before, const std::string& before_name,
                           const report::Document& after, const std::string& after_name) {
  const auto& a = before.predictions;
  const auto& b = after.predictions;
  std::vector<int> answer(a.size(), -1);
  std::vector<bool> taken(b.size(), false);
  const auto same_chip = [](const LaunchResult& x, const LaunchResult& y) { return x.arch == y.arch; };
  pair_up(
      a, b,
      [&](const auto& x, const auto& y) {
        return same_launch(x, y) && same_chip(x, y) && x.overrides == y.overrides;
      },
      answer, taken);
  pair_up(
      a, b, [&](const auto& x, const auto& y) { return same_shape(x, y) && same_chip(x, y); }, answer, taken);
  pair_up(a, b, same_shape, answer, taken);
  pair_up(
      a, b, [&](const auto& x, const auto& y) { return x.kernel == y.kernel && same_chip(x, y); }, answer,
      taken);
  if (a.size() == 1 && b.size() == 1)
    pair_up(
        a, b, [](const auto&, const auto&) { return true; }, answer, taken);

  Comparison comparison;
  comparison.against = Against::result;
  comparison.value_name = after_name;
  comparison.reference_name = before_name;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (answer[i] >= 0) {
      comparison.launches.push_back(make_pair(a[i], b[static_cast<std::size_t>(answer[i])]));
    } else {
      comparison.left_out.push_back(label(a[i], before_name));
    }
  }
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (taken[j]) continue;
    // Several what-ifs (--set KEY=A,B,C) are all held against the one launch that they vary.
    const auto is_baseline = [&](const LaunchResult& each) {
      const auto& paired = answer[static_cast<std::size_t>(&each - a.data())];
      return paired >= 0 && same_launch(each, b[j]) && same_chip(each, b[j]) &&
             b[static_cast<std::size_t>(paired)].overrides != b[j].overrides;
    };
    const auto baseline = std::find_if(a.begin(), a.end(), is_baseline);
    if (baseline != a.end()) {
      comparison.launches.push_back(make_pair(*baseline, b[j]));
    } else {
      comparison.left_out.push_back(label(b[j], after_name));
    }
  }
  if (comparison.launches.empty()) {
    throw InputError(
        fmt::format("{} and {}: no launch of one is in the other; expected the same kernel in both",
                    before_name, after_name));
  }
  return comparison;
}

Comparison compare_with_ncu(const report::Document& predicted, const std::string& predicted_name,
                            std::string_view csv, const std::string& csv_name, const std::string& arch) {
  const auto measured = read_ncu_csv(csv, csv_name);
  const auto predictions = predictions_of(predicted, predicted_name, arch, measured);
  Comparison comparison;
  comparison.against = Against::measurement;
  comparison.value_name = predicted_name;
  comparison.reference_name = csv_name;
  std::vector<std::size_t> used(predictions.size(), 0);
  for (const auto& launch : measured) {
    auto all = candidates(predictions, launch);
    const std::size_t repeats = all.size();
    // Several predictions of one launch answer its repeats in order; a single one answers all of them.
    if (repeats > 1) std::erase_if(all, [&](std::size_t each) { return used[each] > 0; });
    if (all.empty()) {
      comparison.left_out.push_back(fmt::format("{}: launch {}: {} {}x{}", csv_name, launch.id, launch.kernel,
                                                report::in_brackets(launch.grid),
                                                report::in_brackets(launch.block)));
      continue;
    }
    ++used[all.front()];
    const LaunchResult& result = *predictions[all.front()];
    LaunchPair pair;
    pair.kernel = result.launch.empty() ? result.kernel : result.launch;
    pair.arch = result.arch;
    pair.grid = launch.grid;
    pair.block = launch.block;
    pair.limiter = result.limiter.name;
    pair.metrics = pairs_of(result.metrics, launch.metrics);
    comparison.launches.push_back(std::move(pair));
  }
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    if (used[i] == 0) comparison.left_out.push_back(label(*predictions[i], predicted_name));
  }
  if (comparison.launches.empty()) {
    throw InputError(fmt::format(
        "{}: no launch in it has a prediction in {} (kernel, grid, block and compute capability must agree)",
        csv_name, predicted_name));
  }
  return comparison;
}

std::vector<MetricErrors> errors_of(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const auto& launch : comparison.launches) {
    for (const auto& metric : launch.metrics) {
      if (std::find(names.begin(), names.end(), metric.name) == names.end()) names.push_back(metric.name);
    }
  }
  std::vector<MetricErrors> all;
  for (const auto& name : names) {
    std::vector<ValuePair> pairs;
    for (const auto& launch : comparison.launches) {
      for (const auto& metric : launch.metrics) {
        if (metric.name == name && metric.value && metric.reference)
          pairs.push_back({*metric.value, *metric.reference});
      }
    }
    if (!pairs.empty()) all.push_back({name, error_statistics(pairs)});
  }
  return all;
}

}  // namespace foretrace::compare
