#include "sim/report/json.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/json_text.h"
#include "sim/report/table.h"

namespace foretrace::report {
namespace {

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

void check_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::path folder = fs::path(path).parent_path();
  const int reason =
      fs::is_directory(path, unknown)                         ? EISDIR
      : !folder.empty() && !fs::exists(folder, unknown)       ? ENOENT
      : !folder.empty() && !fs::is_directory(folder, unknown) ? ENOTDIR
      : access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0 && !fs::exists(path, unknown) ? errno
                                                                                                      : 0;
  if (reason != 0) throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(reason)));
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
  if (!in) throw InputError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return std::move(text).str();
}

}  // namespace foretrace::report
