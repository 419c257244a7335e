#include "sim/report/prediction_text.h"

#include <map>
#include <optional>

#include "sim/report/json_text.h"

namespace foretrace::report {
namespace {

constexpr std::size_t kDepth = 2;  // of a prediction in its document

/// Members of an object, `depth` levels down, on a line each.
class Members {
 public:
  Members(std::string& out, std::size_t depth) : out_(out), line_("\n" + std::string(depth + 1, ' ')) {}
  /// A member's beginning; its value is to follow.
  void key(std::string_view name) {
    if (any_) out_ += ',';
    any_ = true;
    out_ += line_;
    append_text(out_, name);
    out_ += ": ";
  }
  void put(std::string_view name, const Json& value) {
    key(name);
    lay_out(out_, value, name, line_.size() - 1, kDocumentRows);
  }
  void put_all(const Json& object) {
    for (const auto& [name, value] : object.items()) put(name, value);
  }
  /// Others stand in front of these.
  void go_on() { any_ = true; }

 private:
  std::string& out_;
  std::string line_;
  bool any_ = false;
};

void append_metrics(std::string& out, const MetricValues& metrics) {
  const auto& all = metrics.all();
  if (all.size() <= kMembersOnOneLine) {
    Json few = Json::object();
    for (const auto& [name, value] : all) few[name] = json_number(value);
    out += compact(few);
    return;
  }
  out += '{';
  Members members(out, kDepth + 1);
  for (const auto& [name, value] : all) {
    members.key(name);
    append_number(out, value);
  }
  out += "\n" + std::string(kDepth + 1, ' ') + "}";
}

void append_series(std::string& out, const std::vector<Series>& all) {
  out += '{';
  Members members(out, kDepth + 1);
  for (const Series& series : all) {
    members.key(series.name);
    const char* separator = "[";
    if (series.values.empty()) out += separator;
    for (const std::uint64_t value : series.values) {
      out += separator;
      append_whole(out, value);
      separator = ",";
    }
    out += ']';
  }
  out += "\n" + std::string(kDepth + 1, ' ') + "}";
}

void append_row(std::string& out, const InstructionResult& row, std::optional<std::size_t> chain) {
  out += "{\"offset\":";
  append_whole(out, row.offset);
  out += ",\"sass\":";
  append_text(out, row.sass);
  out += ",\"file\":";
  row.file.empty() ? void(out += "null") : append_text(out, row.file);
  out += ",\"line\":";
  row.line == 0 ? void(out += "null") : append_whole(out, row.line);
  for (const auto& counter : stats::kInstructionCounters) {
    out += ",\"";
    out += counter.name;
    out += "\":";
    append_whole(out, row.*counter.member);
  }
  out += ",\"stalled\":";
  char separator = '{';
  for (int i = 0; i < stats::kWarpStates; ++i) {
    out += separator;
    separator = ',';
    out += '"';
    out += stats::name_of(static_cast<stats::WarpState>(i));
    out += "\":";
    append_whole(out, row.stalled[static_cast<std::size_t>(i)]);
  }
  out += '}';
  if (chain) {
    out += ",\"call_chain\":";
    append_whole(out, *chain);
  }
  out += '}';
}

/// An array whose elements stand on a line each, from their texts with a line's beginning and a comma between them.
void append_lines(std::string& out, const std::string& lines) {
  out += '[';
  out += lines;
  out += lines.empty() ? "]" : "\n" + std::string(kDepth + 1, ' ') + "]";
}

std::string chain_text(const isa::CallChain& places) {
  Json chain = Json::array();
  for (const isa::SourcePlace& place : places)
    chain.push_back(Json{{"file", place.file}, {"line", place.line}});
  return compact(chain);
}

/// The rows, each with the number of its call chain where it has one, and the chains.
void put_instructions(const std::vector<InstructionResult>& all, std::string& out, Members& members) {
  const std::string line = "\n" + std::string(kDepth + 2, ' ');
  std::string chains, rows;
  std::map<std::string, std::size_t> numbers;
  for (const InstructionResult& row : all) {
    std::optional<std::size_t> number;
    if (!row.inlined.empty()) {
      const auto [at, fresh] = numbers.try_emplace(chain_text(row.inlined), numbers.size());
      number = at->second;
      if (fresh) chains += (chains.empty() ? "" : ",") + line + at->first;
    }
    rows += (rows.empty() ? "" : ",") + line;
    append_row(rows, row, number);
  }
  if (!chains.empty()) {
    members.key("call_chains");
    append_lines(out, chains);
  }
  members.key("instructions");
  append_lines(out, rows);
}

Json names_of(const LaunchResult& result) {
  return Json{{"arch", result.arch},
              {"sm", result.sm},
              {"clock_hz",
               Json{{"sm", result.clock_hz.sm}, {"l2", result.clock_hz.l2}, {"dram", result.clock_hz.dram}}},
              {"kernel", result.kernel},
              {"mangled", result.mangled},
              {"code_sha256", result.code_sha256},
              {"toolkit", json_text_or_null(result.toolkit)},
              {"config_sha256", result.config_sha256},
              {"assumed_values", result.assumed_values},
              {"transferred_values", result.transferred_values},
              {"set", result.overrides},
              {"launch", json_text_or_null(result.launch)},
              {"grid", dimensions(result.grid)},
              {"block", dimensions(result.block)},
              {"cluster", dimensions(result.cluster)},
              {"dynamic_shared", result.dynamic_shared},
              {"warm", result.warm},
              {"time_dependent", result.time_dependent}};
}

/// Of a launch in a program; what is not known is left out.
Json place_of(const LaunchPlace& place) {
  Json json = Json::object();
  if (place.simulated != "simulated") json["simulated"] = place.simulated;
  if (place.number) json["number"] = *place.number;
  if (place.device) json["device"] = *place.device;
  if (place.stream) json["stream"] = *place.stream;
  if (place.start_ns) json["start_ns"] = json_number(*place.start_ns);
  if (place.end_ns) json["end_ns"] = json_number(*place.end_ns);
  if (place.beside) {
    json["beside"] = Json{{"by", place.beside->by}, {"slowed", json_number(place.beside->slowed)}};
    if (!place.beside->with.empty()) json["beside"]["with"] = place.beside->with;
  }
  if (!place.operation.empty()) json["operator"] = json_text_or_null(place.operation);
  if (!place.operation_note.empty()) json["operator_note"] = json_text_or_null(place.operation_note);
  return json;
}

}  // namespace

void put_gains(const LaunchResult& result, Json& prediction) {
  if (result.gains.empty()) return;
  Json gains = Json::array();
  for (const Gain& gain : result.gains)
    gains.push_back(Json{{"key", gain.key}, {"words", gain.words}, {"cycles", json_number(gain.cycles)}});
  prediction["gains"] = std::move(gains);
  if (result.gains_base > 0) prediction["gains_base"] = json_number(result.gains_base);
}

PredictionText::PredictionText(const LaunchResult& result) {
  before_ = "{";
  Members(before_, kDepth).put_all(names_of(result));

  Members members(after_, kDepth);
  members.go_on();
  members.put("accuracy", Json{{"sampled", result.estimate.sampled},
                               {"cycles_low", json_number(result.estimate.cycles_low)},
                               {"cycles_high", json_number(result.estimate.cycles_high)},
                               {"simulated_share", json_number(result.estimate.simulated)},
                               {"note", json_text_or_null(result.estimate.note)}});
  members.key("metrics");
  append_metrics(after_, result.metrics);
  members.put("occupancy_next_step", json_text_or_null(result.occupancy_next_step));
  members.put("limiter", Json{{"name", result.limiter.name}, {"sentence", result.limiter.sentence}});
  Json gains = Json::object();
  put_gains(result, gains);
  members.put_all(gains);
  if (!result.over_time.empty()) {
    members.key("over_time");
    append_series(after_, result.over_time);
  }
  if (!result.sms.empty()) {
    members.key("sms");
    append_series(after_, result.sms);
  }
  put_instructions(result.instructions, after_, members);
  after_ += "\n" + std::string(kDepth, ' ') + "}";
}

std::string PredictionText::with(const LaunchPlace& place) const {
  std::string text;
  text.reserve(before_.size() + after_.size() + 256);
  text = before_;
  Members members(text, kDepth);
  members.go_on();
  members.put_all(place_of(place));
  return text += after_;
}

}  // namespace foretrace::report
