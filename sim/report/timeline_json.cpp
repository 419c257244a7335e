// The timeline as JSON, for viewers. docs/timeline.md describes it.

#include "sim/report/json_text.h"
#include "sim/report/timeline.h"

namespace foretrace::report {
namespace {

Json cycle_or_null(Cycle cycle) { return cycle == kNever ? Json(nullptr) : Json(cycle); }

template <typename Times>
Json spans(const Times& times, const auto& name) {
  Json list = Json::array();
  for (const auto& each : times)
    list.push_back(Json{{"name", name(each)}, {"from", each.from}, {"to", each.to}});
  return list;
}

}  // namespace

std::string timeline_json(const TimelineDocument& document) {
  Json instructions = Json::array(), rows = Json::array();
  const isa::Program& program = *document.program;
  for (const isa::Instruction& each : program.code) {
    const bool known = each.file > 0 && each.file <= program.files.size();
    instructions.push_back(Json{{"offset", each.offset},
                                {"sass", each.text},
                                {"file", known ? Json(program.files[each.file - 1]) : Json(nullptr)},
                                {"line", each.line > 0 ? Json(each.line) : Json(nullptr)}});
  }
  for (const sm::TimelineRow& row : document.rows) {
    rows.push_back(
        Json{{"block", row.block},
             {"warp", row.warp},
             {"number", row.number},
             {"sm", row.sm},
             {"sub_core", row.sub_core},
             {"instruction", row.index},
             {"active", row.active},
             {"executed", row.executed},
             {"issued", row.issued},
             {"sources_read", cycle_or_null(row.sources_read)},
             {"written", cycle_or_null(row.written)},
             {"states", spans(row.states, [](const auto& each) { return stats::name_of(each.state); })},
             {"stages", spans(row.stages, [](const auto& each) { return sm::name_of(each.stage); })}});
  }
  return lay_out(Json{{"schema", 1},
                      {"arch", document.arch},
                      {"kernel", program.kernel},
                      {"left_out", document.left_out},
                      {"instructions", std::move(instructions)},
                      {"timeline", std::move(rows)}},
                 {"instructions", "timeline"});
}

}  // namespace foretrace::report
