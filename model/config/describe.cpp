#include "model/config/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::config {
namespace {

double megahertz(std::uint64_t hz) { return static_cast<double>(hz) / 1e6; }

/// Bytes per second at the given DRAM clock.
double bandwidth(const spec::GpuSpec& spec) {
  return static_cast<double>(spec.dram.channels) * spec.dram.channel_bytes *
         static_cast<double>(spec.clock.dram);
}

std::string_view group_of(std::string_view key) { return key.substr(0, key.find('.')); }

std::string range_text(const Value& value) {
  return value.has_range ? fmt::format(" [{:g}, {:g}]", value.low, value.high) : "";
}

}  // namespace

std::string describe_chips(const std::filesystem::path& directory) {
  std::string text =
      fmt::format("{:<16} {:>6} {:>4} {:>18} {:>7} {:>8} {:>10} {:>11} {:>8}  {}\n", "name", "code", "SMs",
                  "SM/L2/DRAM MHz", "L2 MiB", "DRAM GB", "DRAM GB/s", "transferred", "assumed", "alias");
  std::vector<Loaded> chips;
  for (const std::string& name : chip_names(directory)) chips.push_back(load_gpu(name, {}, {}, directory));
  if (chips.empty()) {
    throw InputError(fmt::format(
        "{}: no configuration of a chip; is FORETRACE_CONFIGS the directory of the configurations?",
        directory.string()));
  }
  std::stable_sort(chips.begin(), chips.end(),
                   [](const Loaded& a, const Loaded& b) { return a.spec.sm_number < b.spec.sm_number; });
  for (const Loaded& loaded : chips) {
    const std::string& name = loaded.spec.name;
    const spec::GpuSpec& spec = loaded.spec;
    const auto alias = std::find_if(aliases().begin(), aliases().end(),
                                    [&](const auto& pair) { return pair.second == name; });
    text += fmt::format("{:<16} {:>6} {:>4} {:>18} {:>7.0f} {:>8.1f} {:>10.0f} {:>11} {:>8}  {}\n", name,
                        fmt::format("sm_{}", spec.sm_number), spec.sm.count,
                        fmt::format("{:.0f}/{:.0f}/{:.0f}", megahertz(spec.clock.sm),
                                    megahertz(spec.clock.l2), megahertz(spec.clock.dram)),
                        static_cast<double>(spec.l2.bytes) / (1024.0 * 1024.0),
                        static_cast<double>(spec.dram.bytes) / 1e9, bandwidth(spec) / 1e9, loaded.transferred,
                        loaded.assumed, alias == aliases().end() ? std::string_view() : alias->first);
  }
  return text;
}

std::string describe_chip(const Loaded& loaded, bool sources) {
  const spec::GpuSpec& spec = loaded.spec;
  std::string text = fmt::format(
      "{}: {}, sm_{}; clocks ({}): SM {:.0f}, L2 {:.0f}, DRAM {:.0f} MHz; of {} values {} are transferred "
      "from "
      "other chips and {} assumed\n",
      spec.name, loaded.title, spec.sm_number, name_of(spec.clock_choice), megahertz(spec.clock.sm),
      megahertz(spec.clock.l2), megahertz(spec.clock.dram), loaded.values.size(), loaded.transferred,
      loaded.assumed);
  for (const auto& [part, claim] : loaded.known) text += fmt::format("{}: {}\n", part, claim);
  text += fmt::format("config_sha256 {}\n", loaded.sha256);
  std::size_t width = 0;
  for (const Value& value : loaded.values) width = std::max(width, value.key.size());
  std::string_view group;
  for (const Value& value : loaded.values) {
    if (group_of(value.key) != group) {
      group = group_of(value.key);
      text += "\n";
    }
    text += fmt::format("{:<{}}  {:>12} {:<12} {}{}", value.key, width, value.text, value.unit,
                        name_of(value.kind), value.overridden ? " (set)" : "");
    if (sources) {
      text += range_text(value);
      if (!value.formula.empty()) text += fmt::format("  = {}", value.formula);
      text += fmt::format("  {}", value.source);
      if (!value.on.empty()) text += fmt::format("  (on {})", fmt::join(value.on, ", "));
      if (!value.overridden) text += fmt::format("  ({}:{})", value.file, value.line);
    }
    text += "\n";
  }
  return text;
}

}  // namespace foretrace::config
