#include "sim/report/json.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/json_text.h"
#include "sim/report/table.h"

namespace foretrace::report {
namespace {

// Arrays whose elements stand on a line each.
const std::initializer_list<std::string_view> kOnOneLine = {"instructions", "represented", "call_chains"};

Json row_of(const InstructionResult& row) {
  Json stalled = Json::object();
  for (int i = 0; i < stats::kWarpStates; ++i) {
    stalled[stats::name_of(static_cast<stats::WarpState>(i))] = row.stalled[static_cast<std::size_t>(i)];
  }
  Json json{{"offset", row.offset},
            {"sass", row.sass},
            {"file", json_text_or_null(row.file)},
            {"line", row.line > 0 ? Json(row.line) : Json(nullptr)}};
  for (const auto& counter : stats::kInstructionCounters) json[counter.name] = row.*counter.member;
  json["stalled"] = std::move(stalled);
  return json;
}

/// The rows, each with the number of its call chain where it has one, and the chains.
void put_instructions(const std::vector<InstructionResult>& rows, Json& json) {
  Json chains = Json::array(), instructions = Json::array();
  std::map<std::string, std::size_t> numbers;
  for (const InstructionResult& row : rows) {
    instructions.push_back(row_of(row));
    if (row.inlined.empty()) continue;
    Json chain = Json::array();
    for (const isa::SourcePlace& place : row.inlined)
      chain.push_back(Json{{"file", place.file}, {"line", place.line}});
    const auto [at, fresh] =
        numbers.try_emplace(chain.dump(-1, ' ', false, Json::error_handler_t::replace), chains.size());
    if (fresh) chains.push_back(std::move(chain));
    instructions.back()["call_chain"] = at->second;
  }
  if (!chains.empty()) json["call_chains"] = std::move(chains);
  json["instructions"] = std::move(instructions);
}

/// Of a launch in a program; what is not known is left out.
void put_place(const LaunchPlace& place, Json& json) {
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
}

void put_gains(const LaunchResult& result, Json& json) {
  if (result.gains.empty()) return;
  Json gains = Json::array();
  for (const Gain& gain : result.gains)
    gains.push_back(Json{{"key", gain.key}, {"words", gain.words}, {"cycles", json_number(gain.cycles)}});
  json["gains"] = std::move(gains);
  if (result.gains_base > 0) json["gains_base"] = json_number(result.gains_base);
}

void put_series(const char* key, const std::vector<Series>& all, Json& json) {
  if (all.empty()) return;
  Json rows = Json::object();
  for (const Series& series : all) rows[series.name] = series.values;
  json[key] = std::move(rows);
}

Json prediction_of(const LaunchResult& result) {
  Json metrics = Json::object();
  for (const auto& [name, value] : result.metrics.all()) metrics[name] = json_number(value);
  Json json{{"arch", result.arch},
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
  put_place(result.place, json);
  json.update(Json{{"accuracy", Json{{"sampled", result.estimate.sampled},
                                     {"cycles_low", json_number(result.estimate.cycles_low)},
                                     {"cycles_high", json_number(result.estimate.cycles_high)},
                                     {"simulated_share", json_number(result.estimate.simulated)},
                                     {"note", json_text_or_null(result.estimate.note)}}},
                   {"metrics", std::move(metrics)},
                   {"occupancy_next_step", json_text_or_null(result.occupancy_next_step)},
                   {"limiter", Json{{"name", result.limiter.name}, {"sentence", result.limiter.sentence}}}});
  put_gains(result, json);
  put_series("over_time", result.over_time, json);
  put_series("sms", result.sms, json);
  put_instructions(result.instructions, json);
  return json;
}

/// Reads members of one object; an error names the file, the place in it and what was expected there.
class Reader {
 public:
  Reader(const Json& object, const std::string& file, std::string place)
      : object_(object), file_(file), place_(std::move(place)) {
    if (!object.is_object()) refuse(place_, "an object");
  }

  Reader object(const char* key) const { return {member(key), file_, path(key)}; }

  std::string text(const char* key) const {
    const Json& value = member(key);
    if (!value.is_string()) refuse(path(key), "a string");
    return value.get<std::string>();
  }
  std::string text_or_null(const char* key) const {
    return member(key).is_null() ? std::string() : text(key);
  }

  std::uint64_t whole(const char* key) const { return whole(member(key), path(key)); }
  std::uint64_t whole_or_null(const char* key) const { return member(key).is_null() ? 0 : whole(key); }

  /// Keys that a document may lack.
  std::optional<std::uint64_t> whole_if_there(const char* key) const {
    return object_.contains(key) ? std::optional(whole(key)) : std::nullopt;
  }
  std::optional<double> number_if_there(const char* key) const {
    return object_.contains(key) ? std::optional(number(key)) : std::nullopt;
  }
  std::string text_if_there(const char* key, const std::string& otherwise) const {
    return object_.contains(key) ? text(key) : otherwise;
  }

  double number(const char* key) const {
    const Json& value = member(key);
    if (!value.is_number()) refuse(path(key), "a number");
    return value.get<double>();
  }

  bool flag(const char* key) const {
    const Json& value = member(key);
    if (!value.is_boolean()) refuse(path(key), "true or false");
    return value.get<bool>();
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    for (const Json& each : array(key)) {
      if (!each.is_string()) refuse(path(key), "an array of strings");
      all.push_back(each.get<std::string>());
    }
    return all;
  }

  Dim3 dimensions(const char* key) const {
    const Json& value = array(key);
    if (value.size() != 3) refuse(path(key), "three numbers");
    std::array<std::uint32_t, 3> d{};
    for (std::size_t i = 0; i < 3; ++i) d[i] = static_cast<std::uint32_t>(whole(value[i], path(key)));
    return {d[0], d[1], d[2]};
  }

  MetricValues metrics(const char* key) const {
    const Json& value = member(key);
    if (!value.is_object()) refuse(path(key), "an object");
    MetricValues all;
    for (const auto& [name, each] : value.items()) {
      if (!each.is_number() && !each.is_null()) refuse(path(key) + "." + name, "a number or null");
      all.set(name, each.is_null() ? Value() : Value(each.get<double>()));
    }
    return all;
  }

  /// Rows of whole numbers, all of one length; none where the key is not there.
  std::vector<Series> series(const char* key) const {
    std::vector<Series> all;
    if (!object_.contains(key)) return all;
    if (!member(key).is_object()) refuse(path(key), "an object");
    for (const auto& [name, each] : member(key).items()) {
      const std::string where = path(key) + "." + name;
      if (!each.is_array() || (!all.empty() && each.size() != all.front().values.size()))
        refuse(where, "an array as long as the others");
      all.push_back({name, {}});
      for (const Json& value : each) all.back().values.push_back(whole(value, where));
    }
    return all;
  }

  const Json& array(const char* key) const {
    const Json& value = member(key);
    if (!value.is_array()) refuse(path(key), "an array");
    return value;
  }

  bool has(const char* key) const { return object_.contains(key); }

  std::string path(const std::string& key) const { return place_.empty() ? key : place_ + "." + key; }

  [[noreturn]] void refuse(const std::string& where, const std::string& expected) const {
    throw InputError(one_line(fmt::format("{}: {}: expected {}, as docs/json_schema.json has it", file_,
                                          where.empty() ? "document" : where, expected)));
  }

 private:
  const Json& member(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) refuse(path(key), "this key");
    return *found;
  }
  std::uint64_t whole(const Json& value, const std::string& where) const {
    if (!value.is_number_unsigned()) refuse(where, "a whole number");
    return value.get<std::uint64_t>();
  }

  const Json& object_;
  const std::string& file_;
  std::string place_;
};

InstructionResult read_row(const Reader& from) {
  InstructionResult row;
  row.offset = static_cast<std::uint32_t>(from.whole("offset"));
  row.sass = from.text("sass");
  row.file = from.text_or_null("file");
  row.line = static_cast<std::uint32_t>(from.whole_or_null("line"));
  for (const auto& counter : stats::kInstructionCounters) row.*counter.member = from.whole(counter.name);
  const Reader stalled = from.object("stalled");
  for (int i = 0; i < stats::kWarpStates; ++i) {
    row.stalled[static_cast<std::size_t>(i)] =
        stalled.whole(stats::name_of(static_cast<stats::WarpState>(i)));
  }
  return row;
}

std::vector<isa::CallChain> read_chains(const Reader& from, const std::string& file) {
  std::vector<isa::CallChain> chains;
  if (!from.has("call_chains")) return chains;
  for (const Json& each : from.array("call_chains")) {
    const std::string where = from.path(fmt::format("call_chains[{}]", chains.size()));
    if (!each.is_array()) from.refuse(where, "an array");
    isa::CallChain& chain = chains.emplace_back();
    for (const Json& one : each) {
      const Reader place(one, file, where);
      chain.push_back({place.text("file"), static_cast<std::uint32_t>(place.whole("line"))});
    }
  }
  return chains;
}

LaunchBeside read_beside(const Reader& from) {
  LaunchBeside beside{from.text("by"), from.number("slowed"), {}};
  if (!from.has("with")) return beside;
  for (const Json& launch : from.array("with")) {
    if (!launch.is_number_unsigned()) from.refuse(from.path("with"), "whole numbers");
    beside.with.push_back(launch.get<std::uint64_t>());
  }
  return beside;
}

LaunchPlace read_place(const Reader& from) {
  LaunchPlace place;
  place.simulated = from.text_if_there("simulated", place.simulated);
  if (place.simulated != "simulated" && place.simulated != "represented" && place.simulated != "functional") {
    from.refuse(from.path("simulated"), "simulated, represented or functional");
  }
  place.number = from.whole_if_there("number");
  place.device = from.whole_if_there("device");
  place.stream = from.whole_if_there("stream");
  place.start_ns = from.number_if_there("start_ns");
  place.end_ns = from.number_if_there("end_ns");
  if (from.has("beside")) place.beside = read_beside(from.object("beside"));
  place.operation = from.text_if_there("operator", "");
  place.operation_note = from.text_if_there("operator_note", "");
  return place;
}

LaunchResult read_prediction(const Reader& from, const std::string& file) {
  LaunchResult result;
  result.arch = from.text("arch");
  result.sm = static_cast<int>(from.whole("sm"));
  const Reader clock = from.object("clock_hz");
  result.clock_hz = {clock.whole("sm"), clock.whole("l2"), clock.whole("dram")};
  result.kernel = from.text("kernel");
  result.mangled = from.text("mangled");
  result.code_sha256 = from.text("code_sha256");
  result.toolkit = from.text_or_null("toolkit");
  result.config_sha256 = from.text("config_sha256");
  result.assumed_values = from.whole("assumed_values");
  result.transferred_values = from.whole_if_there("transferred_values").value_or(0);
  result.overrides = from.texts("set");
  result.launch = from.text_or_null("launch");
  result.grid = from.dimensions("grid");
  result.block = from.dimensions("block");
  result.cluster = from.dimensions("cluster");
  result.dynamic_shared = from.whole("dynamic_shared");
  result.warm = from.flag("warm");
  result.time_dependent = from.flag("time_dependent");
  result.place = read_place(from);
  const Reader accuracy = from.object("accuracy");
  result.estimate = {accuracy.flag("sampled"), accuracy.number("cycles_low"), accuracy.number("cycles_high"),
                     accuracy.number("simulated_share"), accuracy.text_or_null("note")};
  result.metrics = from.metrics("metrics");
  result.occupancy_next_step = from.text_or_null("occupancy_next_step");
  const Reader limiter = from.object("limiter");
  result.limiter = {limiter.text("name"), limiter.text("sentence")};
  if (from.has("gains")) {
    const Json& gains = from.array("gains");
    for (std::size_t i = 0; i < gains.size(); ++i) {
      const Reader gain(gains[i], file, from.path(fmt::format("gains[{}]", i)));
      result.gains.push_back({gain.text("key"), gain.text("words"), gain.number("cycles")});
    }
  }
  result.gains_base = from.number_if_there("gains_base").value_or(0);
  result.over_time = from.series("over_time");
  result.sms = from.series("sms");
  const std::vector<isa::CallChain> chains = read_chains(from, file);
  const Json& rows = from.array("instructions");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Reader row(rows[i], file, from.path(fmt::format("instructions[{}]", i)));
    result.instructions.push_back(read_row(row));
    const std::optional<std::uint64_t> chain = row.whole_if_there("call_chain");
    if (!chain) continue;
    if (*chain >= chains.size()) from.refuse(row.path("call_chain"), "the number of a call chain");
    result.instructions.back().inlined = chains[*chain];
  }
  return result;
}

}  // namespace

std::string to_json(const Document& document, const ProgramResult* program) {
  Json predictions = Json::array();
  for (const auto& result : document.predictions) predictions.push_back(prediction_of(result));
  Json whole{{"schema", kSchema},
             {"foretrace", document.foretrace},
             {"commit", json_text_or_null(document.commit)},
             {"command", document.command},
             {"predictions", std::move(predictions)}};
  if (program != nullptr) put_program(*program, whole);
  return lay_out(whole, kOnOneLine);
}

std::string with_gains(const std::string& text, const Document& document,
                       const std::vector<std::size_t>& predictions) {
  Json whole = Json::parse(text);
  for (const std::size_t i : predictions) put_gains(document.predictions[i], whole["predictions"][i]);
  return lay_out(whole, kOnOneLine);
}

void DocumentText::cut() {
  if (closed_) text_.resize(body_);
  closed_ = false;
}

void DocumentText::add(LaunchResult result) {
  head_.predictions.assign(1, std::move(result));
  const std::string alone = to_json(head_);
  head_.predictions.clear();
  const std::string none = to_json(head_);
  // The two texts begin alike up to the list's bracket and end alike from its other bracket on.
  const std::size_t list =
      static_cast<std::size_t>(std::mismatch(none.begin(), none.end(), alone.begin()).first - none.begin());
  const std::string close = "\n " + none.substr(list);
  FORETRACE_ASSERT(alone.size() > list + close.size() && alone.ends_with(close),
                   "a document's list of predictions stands on lines of its own");
  cut();
  if (empty_) {
    text_ = alone.substr(0, list);
    list_ = list;
    empty_ = false;
  } else {
    text_ += ',';
  }
  text_.append(alone, list, alone.size() - list - close.size());
  body_ = text_.size();
}

const std::string& DocumentText::text(const ProgramResult* program,
                                      const std::deque<LaunchResult>& not_added) {
  cut();
  const std::size_t body = body_;
  const bool empty = empty_;
  for (const LaunchResult& result : not_added) add(result);
  const std::string none = to_json(head_, program);
  if (empty_) return text_ = none;
  text_ += "\n " + none.substr(list_);
  closed_ = true;
  // Whatever comes next is written over these.
  body_ = body;
  empty_ = empty;
  return text_;
}

Document from_json(std::string_view text, const std::string& name) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw InputError(fmt::format(
        "{}: byte {}: this is not JSON; expected a result document of foretrace --json", name, error.byte));
  }
  if (!json.is_object() || !json.contains("schema") || !json.contains("predictions")) {
    throw InputError(
        fmt::format("{}: this is no result document; expected one made by foretrace --json", name));
  }
  if (json["schema"] != kSchema && json["schema"] != 1) {
    throw InputError(
        fmt::format("{}: schema: found {}, expected {} or 1", name, json["schema"].dump(), kSchema));
  }
  const Reader from(json, name, "");
  Document document;
  document.foretrace = from.text("foretrace");
  document.commit = from.text_or_null("commit");
  document.command = from.texts("command");
  const Json& predictions = from.array("predictions");
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    document.predictions.push_back(
        read_prediction(Reader(predictions[i], name, fmt::format("predictions[{}]", i)), name));
  }
  return document;
}

void write_file(const std::string& path, std::string_view text) {
  // A device or a pipe takes the text itself: there is nothing to rename over.
  std::error_code unknown;
  const bool special =
      std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown);
  const std::string partial = special ? path : fmt::format("{}.partial-{}", path, getpid());
  {
    errno = 0;
    std::ofstream out(partial, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) {
      const std::string reason = errno != 0 ? fmt::format(": {}", std::strerror(errno)) : "";
      if (!special) std::remove(partial.c_str());
      throw InputError(fmt::format("{}: cannot be written{}", path, reason));
    }
  }
  if (special) return;
  std::error_code failed;
  std::filesystem::rename(partial, path, failed);
  if (failed) {
    std::remove(partial.c_str());
    throw InputError(fmt::format("{}: cannot be written: {}", path, failed.message()));
  }
}

std::string read_file(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw InputError(fmt::format("{}: is a directory; expected a file", path));
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) throw InputError(fmt::format("{}: cannot be read", path));
  return std::move(text).str();
}

}  // namespace foretrace::report
