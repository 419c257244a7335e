#include "sim/report/text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/kernel_name.h"
#include "sim/report/table.h"
#include "sim/report/text_sections.h"

namespace foretrace::report {
namespace {

constexpr std::size_t kColumnsBesideEachOther = 6;

bool is_same_launch(const LaunchResult& a, const LaunchResult& b) {
  return a.kernel == b.kernel && a.shape() == b.shape() && a.launch == b.launch;
}

bool is_same_variant(const LaunchResult& a, const LaunchResult& b) {
  return a.arch == b.arch && a.overrides == b.overrides;
}

/// Results of one launch, in document order. The second result of the same launch on the same chip is another
/// launch of its own.
std::vector<std::vector<const LaunchResult*>> grouped_by_launch(const Document& document) {
  std::vector<std::vector<const LaunchResult*>> groups;
  for (const auto& result : document.predictions) {
    const auto fits = [&](const auto& group) {
      return is_same_launch(*group.front(), result) &&
             std::none_of(group.begin(), group.end(),
                          [&](const auto* each) { return is_same_variant(*each, result); });
    };
    const auto found = std::find_if(groups.begin(), groups.end(), fits);
    if (found != groups.end()) {
      found->push_back(&result);
    } else {
      groups.push_back({&result});
    }
  }
  return groups;
}

/// A column's title: the chip, and what --set changed where the columns differ in it.
std::vector<std::string> titles_of(const std::vector<const LaunchResult*>& group) {
  const auto& first = *group.front();
  const bool same_chip =
      std::all_of(group.begin(), group.end(), [&](const auto* each) { return each->arch == first.arch; });
  const bool same_set = std::all_of(group.begin(), group.end(),
                                    [&](const auto* each) { return each->overrides == first.overrides; });
  std::vector<std::string> titles;
  for (const auto* result : group) {
    std::vector<std::string> differing;
    for (const auto& override_ : result->overrides) {
      const bool common = std::all_of(group.begin(), group.end(), [&](const auto* each) {
        return std::find(each->overrides.begin(), each->overrides.end(), override_) != each->overrides.end();
      });
      if (!common) differing.push_back(override_);
    }
    std::string title = same_set || !same_chip || differing.empty() ? result->arch : "";
    if (!same_set && !differing.empty())
      title += (title.empty() ? "" : " ") + fmt::format("{}", fmt::join(differing, " "));
    titles.push_back(std::move(title));
  }
  return titles;
}

/// What was launched; the chip too where all columns are of one.
std::string launch_line(const LaunchResult& result, bool one_chip) {
  std::string line = fmt::format("{} {}x{}", shortened_kernel(result.kernel, kKernelNameWidth),
                                 in_brackets(result.grid), in_brackets(result.block));
  if (result.cluster.count() > 1) line += fmt::format(", clusters of {}", in_brackets(result.cluster));
  if (!result.launch.empty()) line += fmt::format(", launch {}", result.launch);
  line += one_chip ? ", " + result.arch : "";
  line += result.warm ? ", warm caches" : ", cold caches";
  return line;
}

constexpr double kWorthSaying = 0.005;  // of the elapsed cycles, for a limit's gain to get a line

/// What lifting each limit would bring, the largest first.
std::string gain_lines(const LaunchResult& result) {
  const double now = result.metrics.get("gpc__cycles_elapsed.max", 0);
  std::vector<Gain> gains = result.gains;
  std::stable_sort(gains.begin(), gains.end(),
                   [](const Gain& a, const Gain& b) { return a.cycles < b.cycles; });
  std::string out;
  for (const Gain& gain : gains) {
    if (gain.cycles > now * (1 - kWorthSaying) || gain.cycles <= 0) continue;
    out += fmt::format("      {:.2f} times as fast {} ({} cycles)\n", now / gain.cycles, gain.words,
                       grouped(gain.cycles, 0));
  }
  return out;
}

std::string limiter_section(const Columns& columns) {
  std::string out = "  What limits it\n";
  for (std::size_t i = 0; i < columns.results.size(); ++i) {
    out += fmt::format("    {}: {}\n", columns.titles[i], columns.results[i]->limiter.sentence);
    out += gain_lines(*columns.results[i]);
  }
  return out + "\n";
}

std::string notes(const Columns& columns) {
  std::string out;
  for (std::size_t i = 0; i < columns.results.size(); ++i) {
    const auto& result = *columns.results[i];
    const sampling::Estimate& estimate = result.estimate;
    if (estimate.sampled) {
      const double cycles = result.metrics.get("gpc__cycles_elapsed.max", 1);
      out += fmt::format(
          "  {}: an estimate: {:.1f} % of the launch was simulated; elapsed cycles lie between {:.0f} and "
          "{:.0f} "
          "(-{:.1f} %, +{:.1f} %).\n",
          columns.titles[i], 100 * estimate.simulated, estimate.cycles_low, estimate.cycles_high,
          100 * (1 - estimate.cycles_low / cycles), 100 * (estimate.cycles_high / cycles - 1));
    }
    if (!estimate.note.empty()) out += fmt::format("  {}: {}.\n", columns.titles[i], estimate.note);
    if (result.assumed_values + result.transferred_values > 0) {
      out += fmt::format(
          "  {}: of the chip's configuration values {} are assumed and {} transferred from other chips "
          "(foretrace arch {} --sources).\n",
          columns.titles[i], result.assumed_values, result.transferred_values, result.arch);
    }
    if (result.time_dependent) {
      out += fmt::format(
          "  {}: the kernel waits in loops or reads a clock, so its instruction counts depend on time.\n",
          columns.titles[i]);
    }
  }
  return out.empty() ? out : out + "\n";
}

std::string columns_text(const Columns& columns, const TextOptions& options) {
  const auto& first = *columns.results.front();
  const bool one_chip = std::all_of(columns.results.begin(), columns.results.end(),
                                    [&](const auto* each) { return each->arch == first.arch; });
  std::string out = launch_line(first, one_chip) + "\n";
  std::vector<std::string> common;
  for (const auto& override_ : first.overrides) {
    const bool everywhere =
        std::all_of(columns.results.begin(), columns.results.end(), [&](const auto* each) {
          return std::find(each->overrides.begin(), each->overrides.end(), override_) !=
                 each->overrides.end();
        });
    if (everywhere) common.push_back(override_);
  }
  if (!common.empty()) out += fmt::format("  --set {}\n", fmt::join(common, " "));
  out += "\n" + metric_sections_before_limiter(columns) + limiter_section(columns) +
         metric_sections_after_limiter(columns) + warp_state_section(columns);
  for (std::size_t i = 0; i < columns.results.size(); ++i) {
    out += hottest_instructions(*columns.results[i], columns.titles[i], options);
    out += memory_accesses(*columns.results[i], columns.titles[i], options);
  }
  return out + notes(columns);
}

/// One line per result, when there are several launches.
std::string summary(const Document& document) {
  Table table({"Launch", "Chip", "Limiter", "Duration", "Unit", "Cycles", "Occupancy"}, 3);
  for (const auto& result : document.predictions) {
    const std::vector<const LaunchResult*> one = {&result};
    const Readable time = readable(one, "gpu__time_duration.sum");
    std::string chip = result.arch;
    if (!result.overrides.empty()) chip += fmt::format(" {}", fmt::join(result.overrides, " "));
    table.add({result.launch.empty() ? shortened_kernel(result.kernel, kKernelNameWidth) : result.launch,
               chip, result.limiter.name, time.cells[0], time.unit,
               readable(one, "gpc__cycles_elapsed.max").cells[0],
               readable(one, "sm__warps_active.avg.pct_of_peak_sustained_active").cells[0] + "%"});
  }
  return "Summary\n\n" + table.text(2) + "\n";
}

}  // namespace

std::string to_text(const Document& document, const TextOptions& options) {
  std::string out;
  const auto groups = grouped_by_launch(document);
  if (groups.size() > 1) out += summary(document);
  for (const auto& group : groups) {
    const auto titles = titles_of(group);
    for (std::size_t first = 0; first < group.size(); first += kColumnsBesideEachOther) {
      const std::size_t last = std::min(group.size(), first + kColumnsBesideEachOther);
      Columns columns;
      for (std::size_t i = first; i < last; ++i) {
        columns.results.push_back(group[i]);
        columns.titles.push_back(titles[i]);
      }
      out += columns_text(columns, options);
    }
  }
  return out;
}

}  // namespace foretrace::report
