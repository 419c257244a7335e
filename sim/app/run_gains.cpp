#include "sim/app/run_gains.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "sim/engine/ideal.h"
#include "sim/engine/sources.h"
#include "sim/report/json.h"
#include "sim/report/limiter.h"
#include "sim/trace/trace_reader.h"

namespace foretrace::app {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHottest = 3;

double duration_of(const report::LaunchResult& result) {
  return result.metrics.get("gpu__time_duration.sum", 0);
}

/// Files of that kind by the launch's number, with which their names begin.
std::map<std::uint64_t, std::string> files_in(const std::string& directory, const char* extension) {
  std::map<std::uint64_t, std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == extension)
      found[std::strtoull(entry.path().filename().c_str(), nullptr, 10)] = entry.path().string();
  }
  return found;
}

/// Of each of the hottest kernels the longest launch that was recorded, the hottest kernel first.
std::vector<std::size_t> hottest(const report::Document& document,
                                 const std::map<std::uint64_t, std::string>& traces) {
  struct Kernel {
    double time = 0;
    std::size_t longest = SIZE_MAX;
  };
  std::map<std::string, Kernel> kernels;
  for (std::size_t i = 0; i < document.predictions.size(); ++i) {
    const report::LaunchResult& result = document.predictions[i];
    Kernel& kernel = kernels[result.mangled];
    kernel.time += duration_of(result);
    if (!result.place.number || !traces.contains(*result.place.number)) continue;
    if (kernel.longest == SIZE_MAX || duration_of(result) > duration_of(document.predictions[kernel.longest]))
      kernel.longest = i;
  }
  std::vector<Kernel> order;
  for (const auto& [name, kernel] : kernels) {
    if (kernel.longest != SIZE_MAX) order.push_back(kernel);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Kernel& a, const Kernel& b) { return a.time > b.time; });
  order.resize(std::min(order.size(), kHottest));
  std::vector<std::size_t> chosen;
  for (const Kernel& kernel : order) chosen.push_back(kernel.longest);
  return chosen;
}

void add_gains_of(report::LaunchResult& result, const std::string& trace,
                  const std::shared_ptr<const spec::GpuSpec>& spec, int threads) {
  trace::TraceReader reader(trace);
  const engine::Launch shape = engine::shape_of(reader);
  engine::TracedBlocks source(reader);
  engine::RunOptions options;
  options.threads = threads;
  engine::Machine machine(spec);
  result.gains_base = static_cast<double>(machine.run(shape, source, options).counters.elapsed);
  for (const engine::Gain& gain : engine::gains(trace, *spec, shape, options)) {
    const engine::IdealText& text = engine::text_of(gain.limit);
    result.gains.push_back({text.key, text.words, static_cast<double>(gain.cycles)});
  }
  result.limiter = report::find_limiter(result);
  const report::Gain& most =
      *std::min_element(result.gains.begin(), result.gains.end(),
                        [](const report::Gain& a, const report::Gain& b) { return a.cycles < b.cycles; });
  std::cerr << fmt::format("foretrace: {}, launch {}: {} the most to gain, {:.2f}x. {}\n", result.kernel,
                           result.place.number.value_or(0), most.words, result.gains_base / most.cycles,
                           result.limiter.sentence);
}

}  // namespace

void add_gains(const std::string& json, const std::string& traces,
               const std::shared_ptr<const spec::GpuSpec>& spec, int threads) {
  const std::string text = report::read_file(json);
  report::Document document = report::from_json(text, json);
  const std::map<std::uint64_t, std::string> recorded = files_in(traces, ".trace");
  std::vector<std::size_t> chosen = hottest(document, recorded);
  for (const std::size_t i : chosen) {
    report::LaunchResult& result = document.predictions[i];
    add_gains_of(result, recorded.at(*result.place.number), spec, threads);
  }
  report::write_file(json, report::with_gains(text, document, chosen));
}

std::string hottest_timeline(const report::Document& document, const std::string& directory) {
  const std::map<std::uint64_t, std::string> recorded = files_in(directory, ".json");
  const std::vector<std::size_t> chosen = hottest(document, recorded);
  return chosen.empty() ? ""
                        : report::read_file(recorded.at(*document.predictions[chosen.front()].place.number));
}

}  // namespace foretrace::app
