// foretrace timeline: what a few warps do, cycle by cycle.

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/jobs.h"
#include "sim/app/kernel_options.h"
#include "sim/app/launch_options.h"
#include "sim/app/options.h"
#include "sim/app/run_launch.h"
#include "sim/engine/device.h"
#include "sim/engine/sources.h"
#include "sim/frontend/load.h"
#include "sim/report/json.h"
#include "sim/report/timeline.h"
#include "sim/trace/trace_reader.h"

namespace foretrace::app {

namespace {

constexpr const char* kTimelineUsage =
    "timeline FILE.cu|FILE.cubin|LAUNCHES.toml|FILE.trace --arch CHIP [--blocks LIST] [--warps LIST] "
    "[--cycles "
    "A..B] [OPTIONS]\n\n"
    "A line per instruction of the chosen warps, a column per cycle. docs/timeline.md explains the "
    "letters.";

struct Chosen {
  ChipOptions chips;
  KernelOptions kernel;
  LaunchOptions launch;
  OutputOptions output;
  std::string blocks = "0", warps = "0", cycles, name;
  std::size_t instructions = 60;
};

/// What stands in a result, whatever it was made from.
struct Recorded {
  std::shared_ptr<const isa::Program> program;
  sm::Timeline timeline;
};

std::uint64_t number_of(const std::string& text, const char* option, const std::string& all) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw InputError(
        fmt::format("{} {}: {} is not a whole number", option, all, text.empty() ? "an empty word" : text));
  }
  return number;
}

/// "0,4-6" -> 0 4 5 6.
template <typename Number>
std::vector<Number> numbers_of(const std::string& list, const char* option) {
  constexpr std::uint64_t kMost = 4096;
  std::vector<Number> numbers;
  for (const std::string& part : split(list)) {
    const std::vector<std::string> ends = split(part, '-');
    const std::uint64_t first = number_of(ends.front(), option, list);
    const std::uint64_t last = number_of(ends.back(), option, list);
    if (ends.size() > 2 || last < first || last - first >= kMost) {
      throw InputError(
          fmt::format("{} {}: expected numbers and ranges of at most {}, as in 0,4-7", option, list, kMost));
    }
    for (std::uint64_t i = first; i <= last; ++i) numbers.push_back(static_cast<Number>(i));
  }
  return numbers;
}

sm::TimelineChoice choice_of(const Chosen& chosen) {
  sm::TimelineChoice choice;
  choice.blocks = numbers_of<std::uint64_t>(chosen.blocks, "--blocks");
  choice.warps = numbers_of<std::uint32_t>(chosen.warps, "--warps");
  if (chosen.cycles.empty()) return choice;
  const std::size_t dots = chosen.cycles.find("..");
  if (dots == std::string::npos) {
    throw InputError(
        fmt::format("--cycles {}: expected A..B, A.. or ..B, cycles since the launch began", chosen.cycles));
  }
  const std::string from = chosen.cycles.substr(0, dots), to = chosen.cycles.substr(dots + 2);
  if (!from.empty()) choice.from = number_of(from, "--cycles", chosen.cycles);
  if (!to.empty()) choice.to = number_of(to, "--cycles", chosen.cycles);
  if (choice.to <= choice.from)
    throw InputError(fmt::format("--cycles {}: the range is empty", chosen.cycles));
  return choice;
}

void check_choice(const sm::TimelineChoice& choice, const Dim3& grid, const Dim3& block) {
  const std::uint64_t warps = (block.count() + kWarpSize - 1) / kWarpSize;
  for (const std::uint64_t each : choice.blocks) {
    if (each >= grid.count())
      throw InputError(fmt::format("--blocks {}: the grid has {} blocks", each, grid.count()));
  }
  for (const std::uint32_t each : choice.warps) {
    if (each >= warps) throw InputError(fmt::format("--warps {}: a block has {} warps", each, warps));
  }
}

/// The one launch that is meant.
frontend::LaunchDescription launch_of(const std::string& file, const Chosen& chosen) {
  if (std::filesystem::path(file).extension() != ".toml")
    return chosen.launch.description(file, chosen.kernel);
  const std::vector<frontend::LaunchDescription> launches = frontend::load_launch_file(file);
  std::vector<std::string> names;
  for (const std::size_t i : chosen.kernel.among(launches, file)) names.push_back(launches[i].name);
  if (chosen.name.empty() && names.size() != 1) {
    throw InputError(
        fmt::format("{}: several launches; expected --launch with one of {}", file, listed(names)));
  }
  const std::string& name = chosen.name.empty() ? names.front() : chosen.name;
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw InputError(fmt::format("{}: no launch '{}'; it has {}", file, name, listed(names)));
  const auto found =
      std::find_if(launches.begin(), launches.end(), [&](const auto& each) { return each.name == name; });
  if (!found->after.empty()) {
    throw InputError(
        fmt::format("{}: launch {} comes after others; expected one that stands alone, or a trace "
                    "of it ('foretrace predict --trace')",
                    file, name));
  }
  return *found;
}

void from_source(const std::string& file, const Chosen& chosen, const Variant& variant, Recorded& recorded) {
  const frontend::LaunchDescription launch = launch_of(file, chosen);
  check_choice(recorded.timeline.choice(), launch.grid, launch.block);
  const auto spec = std::make_shared<const spec::GpuSpec>(variant.chip.spec);
  const frontend::LoadedKernel kernel =
      frontend::load_kernels(engine::load_request(launch, spec->sm_number), frontend::find_toolchain())
          .front();
  recorded.program = std::make_shared<const isa::Program>(kernel.program);
  engine::Machine machine(spec);
  engine::Device device;
  Progress progress;
  RunChoices choices;
  choices.accuracy = engine::Accuracy::exact;
  choices.timeline = &recorded.timeline;
  choices.complete = false;
  run_launch(launch, kernel, recorded.program, device, machine, spec->name, choices, {1, &progress});
}

void from_trace(const std::string& file, const Variant& variant, Recorded& recorded) {
  trace::TraceReader reader(file);
  const trace::LaunchInfo& launch = reader.launch();
  check_choice(recorded.timeline.choice(), launch.grid, launch.block);
  recorded.program = reader.program();
  engine::Machine machine(std::make_shared<const spec::GpuSpec>(variant.chip.spec));
  engine::TracedBlocks source(reader);
  engine::RunOptions run;
  run.timeline = &recorded.timeline;
  machine.run(engine::shape_of(reader), source, run);
}

}  // namespace

int timeline(const Words& words) {
  Chosen chosen;
  options::options_description known("options");
  known.add_options()("blocks", options::value(&chosen.blocks)->value_name("LIST"),
                      "blocks of the grid, by number: 0,4-6 (default: 0)")(
      "warps", options::value(&chosen.warps)->value_name("LIST"),
      "warps of these blocks: 0,4-6 (default: 0)")(
      "cycles", options::value(&chosen.cycles)->value_name("A..B"),
      "cycles since the launch began: A..B, A.. or ..B (default: all)")(
      "instructions", count(&chosen.instructions), "show at most so many (default: 60)")(
      "launch", options::value(&chosen.name)->value_name("NAME"), "the launch of a launch file, by name");
  chosen.kernel.add_to(known);
  chosen.launch.add_to(known);
  chosen.chips.add_one_to(known);
  chosen.output.add_to(known);
  options::variables_map values;
  if (!parse(words, kTimelineUsage, known, "file", values)) return 0;
  const std::string file = one_file(values, "a kernel's source, its machine code, a launch file or a trace");
  const std::string kind = std::filesystem::path(file).extension();
  if (kind == ".toml") {
    refuse_given(values, kLaunchWords, kOfLaunchFiles);
  } else {
    refuse_given(values, {"launch"}, "what is no launch file; expected LAUNCHES.toml");
    refuse_given(values, {"kernel-regex"}, "one launch alone; expected --kernel NAME");
  }
  if (kind == ".trace") {
    const char* const why = "a trace, which is one launch; expected no words about a launch";
    refuse_given(values, {"kernel"}, why);
    refuse_given(values, kLaunchWords, why);
  }
  const std::vector<Variant> chips = variants(chosen.chips);
  if (chips.size() != 1)
    throw InputError(fmt::format("{} chips or variants given; expected one", chips.size()));
  Recorded recorded{nullptr, sm::Timeline(choice_of(chosen))};
  if (std::filesystem::path(file).extension() == ".trace") {
    from_trace(file, chips.front(), recorded);
  } else {
    from_source(file, chosen, chips.front(), recorded);
  }
  report::TimelineDocument document;
  document.arch = chips.front().chip.spec.name;
  document.program = recorded.program;
  document.rows = std::move(recorded.timeline.rows);
  document.from = recorded.timeline.choice().from;
  document.to = recorded.timeline.choice().to;
  if (document.rows.empty()) {
    throw InputError(fmt::format("{}: no chosen warp executes anything in these cycles", file));
  }
  if (document.rows.size() > chosen.instructions) {
    document.left_out = document.rows.size() - chosen.instructions;
    document.rows.resize(chosen.instructions);
  }
  document.what =
      fmt::format("{} on {}, SM {}", recorded.program->kernel, document.arch, document.rows.front().sm);
  const std::string json = chosen.output.json.empty() ? "" : report::timeline_json(document);
  if (chosen.output.json == "-") {
    std::cout << json;
    return 0;
  }
  if (!json.empty()) report::write_file(chosen.output.json, json);
  std::cout << report::timeline_text(document);
  return 0;
}

}  // namespace foretrace::app
