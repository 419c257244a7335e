#include "sim/report/json.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/json_reader.h"
#include "sim/trace/behind_links.h"

namespace foretrace::report {
namespace {

InstructionResult read_row(const JsonReader& from) {
  InstructionResult row;
  row.offset = static_cast<std::uint32_t>(from.whole("offset"));
  row.sass = from.text("sass");
  row.file = from.text_or_null("file");
  row.line = static_cast<std::uint32_t>(from.whole_or_null("line"));
  for (const auto& counter : stats::kInstructionCounters) row.*counter.member = from.whole(counter.name);
  const JsonReader stalled = from.object("stalled");
  for (int i = 0; i < stats::kWarpStates; ++i) {
    row.stalled[static_cast<std::size_t>(i)] =
        stalled.whole(stats::name_of(static_cast<stats::WarpState>(i)));
  }
  return row;
}

std::vector<isa::CallChain> read_chains(const JsonReader& from, const JsonSource& source) {
  std::vector<isa::CallChain> chains;
  if (!from.has("call_chains")) return chains;
  for (const Json& each : from.array("call_chains")) {
    const std::string where = from.path(fmt::format("call_chains[{}]", chains.size()));
    if (!each.is_array()) from.refuse(where, "an array");
    isa::CallChain& chain = chains.emplace_back();
    for (const Json& one : each) {
      const JsonReader place(one, source, where);
      chain.push_back({place.text("file"), static_cast<std::uint32_t>(place.whole("line"))});
    }
  }
  return chains;
}

LaunchBeside read_beside(const JsonReader& from) {
  LaunchBeside beside{from.text("by"), from.number("slowed"), {}};
  if (!from.has("with")) return beside;
  for (const Json& launch : from.array("with")) {
    if (!launch.is_number_unsigned()) from.refuse(from.path("with"), "whole numbers");
    beside.with.push_back(launch.get<std::uint64_t>());
  }
  return beside;
}

LaunchPlace read_place(const JsonReader& from) {
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

LaunchResult read_prediction(const JsonReader& from, const JsonSource& source) {
  LaunchResult result;
  result.arch = from.text("arch");
  result.sm = static_cast<int>(from.whole("sm"));
  const JsonReader clock = from.object("clock_hz");
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
  const JsonReader accuracy = from.object("accuracy");
  result.estimate = {accuracy.flag("sampled"), accuracy.number("cycles_low"), accuracy.number("cycles_high"),
                     accuracy.number("simulated_share"), accuracy.text_or_null("note")};
  result.metrics = from.metrics("metrics");
  result.occupancy_next_step = from.text_or_null("occupancy_next_step");
  const JsonReader limiter = from.object("limiter");
  result.limiter = {limiter.text("name"), limiter.text("sentence")};
  if (from.has("gains")) {
    for (const JsonReader& gain : from.objects("gains"))
      result.gains.push_back({gain.text("key"), gain.text("words"), gain.number("cycles")});
  }
  result.gains_base = from.number_if_there("gains_base").value_or(0);
  result.over_time = from.series("over_time");
  result.sms = from.series("sms");
  const std::vector<isa::CallChain> chains = read_chains(from, source);
  for (const JsonReader& row : from.objects("instructions")) {
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
  const Json json = parse_json(text, name, "a result document of foretrace --json");
  if (!json.is_object() || !json.contains("schema") || !json.contains("predictions")) {
    throw InputError(
        fmt::format("{}: this is no result document; expected one made by foretrace --json", name));
  }
  if (json["schema"] != kSchema && json["schema"] != 1) {
    throw InputError(
        fmt::format("{}: schema: found {}, expected {} or 1", name, json["schema"].dump(), kSchema));
  }
  const JsonSource source{name, "docs/json_schema.json has it"};
  const JsonReader from(json, source);
  Document document;
  document.foretrace = from.text("foretrace");
  document.commit = from.text_or_null("commit");
  document.command = from.texts("command");
  for (const JsonReader& each : from.objects("predictions"))
    document.predictions.push_back(read_prediction(each, source));
  return document;
}

void check_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::path folder = fs::path(trace::behind_links(path)).parent_path();
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
  const std::string target = special ? path : trace::behind_links(path);
  const std::string partial = special ? path : fmt::format("{}.partial-{}", target, getpid());
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
  std::filesystem::rename(partial, target, failed);
  if (failed) {
    std::remove(partial.c_str());
    throw InputError(fmt::format("{}: cannot be written: {}", path, failed.message()));
  }
}

std::string read_file(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw InputError(fmt::format("{}: is a directory; expected a file", path));
  if (std::filesystem::is_character_file(path, unknown))  // /dev/zero has no end
    throw InputError(fmt::format("{}: is a device; expected a file", path));
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) throw InputError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return std::move(text).str();
}

}  // namespace foretrace::report
