// foretrace beside: traces whose kernels share a chip, and how much each is slowed by the others.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/units/error.h"
#include "sim/app/options.h"
#include "sim/engine/beside.h"
#include "sim/engine/sources.h"
#include "sim/report/json.h"
#include "sim/report/table.h"
#include "sim/trace/trace_reader.h"

namespace foretrace::app {

namespace {

using nlohmann::ordered_json;

constexpr const char* kBesideUsage =
    "beside A.trace B.trace [C.trace ...] --arch CHIP [--begin 0,2.5] [OPTIONS]\n\n"
    "What streams allow together: blocks of all kernels on the same SMs, those of the first before those of "
    "the "
    "next.";

/// A trace with its own reader each time its records are asked for.
class ReadTrace final : public work::BlockSource {
 public:
  explicit ReadTrace(const std::string& file) : reader_(file), blocks_(reader_) {}
  std::shared_ptr<const work::BlockRecord> next() override { return blocks_.next(); }

 private:
  trace::TraceReader reader_;
  engine::TracedBlocks blocks_;
};

engine::BesideLaunch launch_of(const std::string& file) {
  const trace::TraceReader reader(file);
  engine::BesideLaunch found;
  found.shape = engine::shape_of(reader);
  found.open = [file] { return std::make_unique<ReadTrace>(file); };
  return found;
}

/// --begin: microseconds by launch, as cycles.
std::vector<Cycle> parse_begins(const std::string& list, std::size_t launches, double cycles_per_us) {
  std::vector<Cycle> begins(launches, 0);
  if (list.empty()) return begins;
  const std::vector<std::string> words = split(list);
  const auto refuse = [&] {
    throw InputError(fmt::format(
        "--begin {}: expected {} times in microseconds that do not fall, the first 0", list, launches));
  };
  if (words.size() != launches) refuse();
  for (std::size_t i = 0; i < words.size(); ++i) {
    double us = 0;
    const auto [end, error] = std::from_chars(words[i].data(), words[i].data() + words[i].size(), us);
    if (error != std::errc{} || end != words[i].data() + words[i].size() || !(us >= 0) || us > 1e9) refuse();
    begins[i] = static_cast<Cycle>(std::llround(us * cycles_per_us));
    if (i == 0 ? begins[i] != 0 : begins[i] < begins[i - 1]) refuse();
  }
  return begins;
}

struct Printed {
  const spec::GpuSpec& chip;
  const std::vector<engine::BesideLaunch>& launches;
  const engine::BesideOutcome& outcome;

  double us(Cycle cycles) const {
    return static_cast<double>(cycles) * 1e6 / static_cast<double>(chip.clock.sm);
  }
  double gain() const {
    return static_cast<double>(outcome.one_by_one()) / static_cast<double>(outcome.together.elapsed);
  }

  std::string text() const {
    report::Table table(
        {"kernel", "blocks", "begins, us", "first block", "ends", "beside, us", "alone, us", "slowed"}, 1);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const engine::BesideOutcome::Each& each = outcome.each[i];
      table.add({launches[i].shape.program->kernel, report::grouped(each.time.blocks),
                 fmt::format("{:.2f}", us(each.time.begin)), fmt::format("{:.2f}", us(each.time.first)),
                 fmt::format("{:.2f}", us(each.time.end)),
                 fmt::format("{:.2f}", us(each.time.end - each.time.begin)),
                 fmt::format("{:.2f}", us(each.alone.counters.elapsed)),
                 fmt::format("{:.2f}x", each.slowed())});
    }
    return fmt::format(
        "Side by side on {}\n{}  together {:.2f} us; one after the other {:.2f} us: {:.2f} times as fast\n",
        chip.name, table.text(2), us(outcome.together.elapsed), us(outcome.one_by_one()), gain());
  }

  std::string document() const {
    ordered_json rows = ordered_json::array();
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const engine::BesideOutcome::Each& each = outcome.each[i];
      rows.push_back({{"kernel", launches[i].shape.program->kernel},
                      {"blocks", each.time.blocks},
                      {"begin_us", us(each.time.begin)},
                      {"first_block_us", us(each.time.first)},
                      {"end_us", us(each.time.end)},
                      {"beside_us", us(each.time.end - each.time.begin)},
                      {"alone_us", us(each.alone.counters.elapsed)},
                      {"slowed", each.slowed()},
                      {"warp_instructions", each.instructions}});
    }
    const stats::LaunchCounters& all = outcome.together;
    const ordered_json result{
        {"chip", chip.name},
        {"launches", rows},
        {"together_us", us(all.elapsed)},
        {"one_by_one_us", us(outcome.one_by_one())},
        {"gain", gain()},
        {"l2_sectors", all.memory.lts_sectors},
        {"l2_sectors_hit", all.memory.lts_sectors_hit},
        {"dram_bytes", all.memory.dram_bytes_read + all.memory.dram_bytes_write},
    };
    return ordered_json{{"schema", 1}, {"beside", result}}.dump(2) + "\n";
  }
};

}  // namespace

int beside(const Words& words) {
  ChipOptions chosen;
  std::string begins, json;
  int threads = 1;
  bool same = false;
  options::options_description known("options");
  chosen.add_one_to(known);
  known.add_options()("begin", options::value(&begins)->value_name("US,US"),
                      "when each is launched: microseconds after the first one; 0 for all without it")(
      "same-memory", options::bool_switch(&same),
      "equal addresses in the traces are the same memory: traces of one program's run")(
      "threads", options::value(&threads)->value_name("N")->default_value(threads),
      "host threads; any number gives the same result")(
      "json", result_file_or_output(&json),
      "write the result as JSON to this file; -: to standard output, and no text");
  options::variables_map values;
  if (!parse(words, kBesideUsage, known, "file", values)) return 0;
  const auto files = values.count("file") ? values["file"].as<std::vector<std::string>>() : Words();
  if (files.size() < 2)
    throw InputError("beside: expected at least two traces, as 'foretrace predict --trace' writes");
  const std::vector<Variant> chips = variants(chosen);
  if (chips.size() != 1) throw InputError("beside: expected one chip; --arch and --set give several");
  std::vector<engine::BesideLaunch> launches;
  std::vector<const isa::Program*> programs;
  for (const std::string& file : files) {
    launches.push_back(launch_of(file));
    programs.push_back(launches.back().shape.program.get());
  }
  const std::shared_ptr<const spec::GpuSpec> spec =
      engine::at_clock_of(std::make_shared<const spec::GpuSpec>(chips.front().chip.spec), programs);
  const std::vector<Cycle> at = parse_begins(begins, files.size(), static_cast<double>(spec->clock.sm) / 1e6);
  for (std::size_t i = 0; i < files.size(); ++i) launches[i].begin = at[i];
  const engine::BesideOutcome outcome = engine::run_beside(spec, launches, !same, std::max(1, threads));
  const Printed printed{*spec, launches, outcome};
  if (json == "-") {
    std::cout << printed.document();
    return 0;
  }
  if (!json.empty()) report::write_file(json, printed.document());
  std::cout << printed.text();
  return 0;
}

}  // namespace foretrace::app
