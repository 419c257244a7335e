#include "sim/report/first_warps.h"

#include <utility>

#include "sim/report/timeline.h"

namespace foretrace::report {

namespace {

constexpr Cycle kMostCycles = 100'000;
constexpr std::uint64_t kMostOfEach = 200;  // instructions of each warp; the page draws 400

sm::TimelineChoice first_warps() {
  sm::TimelineChoice choice;
  choice.blocks = {0};
  choice.warps = {0, 1};
  choice.to = kMostCycles;
  return choice;
}

}  // namespace

FirstWarps::FirstWarps() : timeline_(first_warps()) {}

std::string FirstWarps::json(const std::string& arch, const std::shared_ptr<const isa::Program>& program) {
  TimelineDocument document;
  document.arch = arch;
  document.program = program;
  document.rows = std::move(timeline_.rows);
  document.left_out = std::erase_if(document.rows, [](const auto& row) { return row.number >= kMostOfEach; });
  return timeline_json(document);
}

}  // namespace foretrace::report
