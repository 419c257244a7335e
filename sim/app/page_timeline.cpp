#include "sim/app/page_timeline.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/units/error.h"
#include "sim/engine/machine.h"
#include "sim/engine/sources.h"
#include "sim/report/json.h"
#include "sim/report/timeline.h"
#include "sim/trace/trace_reader.h"

namespace foretrace::app {

namespace {

constexpr Cycle kMostCycles = 100'000;
constexpr std::uint64_t kMostOfEach = 200;  // instructions of each warp; the page draws 400

}  // namespace

std::string page_timeline(const std::string& trace, const std::shared_ptr<const spec::GpuSpec>& spec,
                          int threads) {
  trace::TraceReader reader(trace);
  engine::Machine machine(spec);
  engine::TracedBlocks source(reader);
  sm::TimelineChoice choice;
  choice.blocks = {0};
  choice.warps = {0, 1};
  choice.to = kMostCycles;
  sm::Timeline timeline(choice);
  engine::RunOptions run;
  run.threads = threads;
  run.timeline = &timeline;
  run.watch = [](const gpu::Snapshot& seen) { return gpu::Verdict{.stop = seen.now >= kMostCycles}; };
  machine.run(engine::shape_of(reader), source, run);
  report::TimelineDocument document;
  document.arch = spec->name;
  document.program = reader.program();
  document.rows = std::move(timeline.rows);
  document.left_out = std::erase_if(document.rows, [](const auto& row) { return row.number >= kMostOfEach; });
  return report::timeline_json(document);
}

std::string read_timeline(const std::string& file) {
  std::string text = report::read_file(file);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("timeline") || json.value("schema", 0) != 1)
    throw InputError(fmt::format("{}: no timeline; expected what foretrace timeline --json wrote", file));
  return text;
}

}  // namespace foretrace::app
