#include "sim/report/program_result.h"

#include "sim/report/json_text.h"

namespace foretrace::report {

namespace {

Json row_of(const RepresentedLaunch& launch) {
  Json row{{"number", launch.number},
           {"by", launch.by},
           {"kernel", launch.kernel},
           {"grid", dimensions(launch.grid)},
           {"block", dimensions(launch.block)},
           {"dynamic_shared", launch.dynamic_shared},
           {"duration_ns", json_number(launch.duration_ns)},
           {"duration_low_ns", json_number(launch.duration_low_ns)},
           {"duration_high_ns", json_number(launch.duration_high_ns)}};
  if (launch.stream) row["stream"] = *launch.stream;
  if (launch.start_ns) row["start_ns"] = json_number(*launch.start_ns);
  if (launch.end_ns) row["end_ns"] = json_number(*launch.end_ns);
  if (!launch.operation.empty()) row["operator"] = json_text_or_null(launch.operation);
  if (!launch.operation_note.empty()) row["operator_note"] = json_text_or_null(launch.operation_note);
  return row;
}

Json parts_of(const TimeParts& parts) {
  return Json{{"kernels_ns", json_number(parts.kernels)},
              {"copies_ns", json_number(parts.copies)},
              {"calls_ns", json_number(parts.calls)},
              {"host_ns", json_number(parts.own)},
              {"gaps_ns", json_number(parts.gaps)}};
}

Json ranges_of(const std::vector<RangeResult>& ranges) {
  Json rows = Json::array();
  for (const RangeResult& range : ranges) {
    rows.push_back(Json{{"name", range.name},
                        {"count", range.count},
                        {"kernels", range.kernels},
                        {"kernels_ns", json_number(range.kernels_ns)},
                        {"host_ns", json_number(range.host_ns)}});
  }
  return rows;
}

Json beside_of(const BesideResult& beside) {
  return Json{{"simulated", beside.simulated},
              {"groups", beside.groups},
              {"by_rates", beside.by_rates},
              {"by_shares", beside.by_shares},
              {"slowed_mean", json_number(beside.slowed_mean)},
              {"slowed_most", json_number(beside.slowed_most)}};
}

Json time_line_of(const TimeLineResult& line) {
  Json found{{"host", line.host},
             {"host_title", line.host_title},
             {"host_time", json_number(line.host_time)},
             {"duration_ns", json_number(line.duration_ns)},
             {"time", parts_of(line.time)},
             {"critical_path", parts_of(line.critical)},
             {"overlap_won_ns", json_number(line.overlap_won_ns)},
             {"overlap_lost_ns", json_number(line.overlap_lost_ns)}};
  if (line.peer_copies) {
    found["peer_copies"] = Json{{"link", line.peer_copies->link},
                                {"asked", line.peer_copies->asked},
                                {"copies", line.peer_copies->copies},
                                {"bytes", line.peer_copies->bytes},
                                {"duration_ns", json_number(line.peer_copies->duration_ns)}};
  }
  if (line.beside) found["beside"] = beside_of(*line.beside);
  if (!line.ranges.empty()) found["ranges"] = ranges_of(line.ranges);
  return found;
}

}  // namespace

std::string row_text(const RepresentedLaunch& launch) { return compact(row_of(launch)); }

void put_program(const ProgramResult& program, Json& document) {
  document["represented"] = Json::array();
  document["program"] = Json{{"launches", program.launches},
                             {"simulated", program.simulated},
                             {"represented", program.represented.size()},
                             {"faults", program.faults},
                             {"duration_ns", json_number(program.duration_ns)},
                             {"duration_low_ns", json_number(program.duration_low_ns)},
                             {"duration_high_ns", json_number(program.duration_high_ns)},
                             {"budget", program.budget},
                             {"warp_instructions", program.warp_instructions},
                             {"simulated_warp_instructions", program.simulated_warp_instructions}};
  if (program.pinned_memory != 0) document["program"]["pinned_memory"] = program.pinned_memory;
  if (program.managed_memory != 0) document["program"]["managed_memory"] = program.managed_memory;
  if (program.peer_memory != 0) document["program"]["peer_memory"] = program.peer_memory;
  if (program.time_line) document["program"]["time_line"] = time_line_of(*program.time_line);
}

}  // namespace foretrace::report
