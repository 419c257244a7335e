#include "sim/runtime/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/units/error.h"
#include "sim/runtime/trace_settings.h"

namespace foretrace::runtime {

namespace {

/// Calls visit(key, member) for every member: written once, used in both directions.
template <class AnySettings, class Visit>
void each_member(AnySettings& s, Visit visit) {
  visit("arch", s.arch);
  visit("set", s.set);
  visit("clock", s.clock);
  visit("devices", s.devices);
  visit("functional", s.functional);
  visit("cold", s.cold);
  visit("simulate_all", s.simulate_all);
  visit("budget", s.budget);
  visit("host", s.host);
  visit("link", s.link);
  visit("host_time", s.host_time);
  visit("quiet", s.quiet);
  visit("json", s.json);
  visit("process", s.process);
  visit("trace", s.trace);
  visit("timelines", s.timelines);
  visit("kernel", s.kernel);
  visit("launches", s.launches);
  visit("accuracy", s.accuracy);
  visit("max_instructions", s.max_instructions);
  visit("threads", s.threads);
  visit("check", s.check);
  visit("nvdisasm", s.nvdisasm);
  visit("nvdisasm_version", s.nvdisasm_version);
  visit("ptxas", s.ptxas);
  visit("ptxas_version", s.ptxas_version);
  visit("version", s.version);
  visit("commit", s.commit);
  visit("command", s.command);
}

[[noreturn]] void refuse(const std::string& what) {
  throw InputError(fmt::format("{}: {}; expected what this version's 'foretrace run' puts there",
                               kSettingsVariable, what));
}

nlohmann::json parsed(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) refuse("no JSON object");
  return json;
}

template <class Member>
void read_member(const nlohmann::json& json, const char* key, Member& member) {
  const auto found = json.find(key);
  if (found == json.end()) refuse(fmt::format("key '{}' is missing", key));
  try {
    found->get_to(member);
  } catch (const nlohmann::json::exception&) { refuse(fmt::format("key '{}' is of another type", key)); }
}

}  // namespace

int Settings::threads_here() const {
  return threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::string to_json(const Settings& settings) { return to_json(settings, {}); }

std::string to_json(const Settings& settings, const TraceSettings& trace) {
  nlohmann::json json = nlohmann::json::object();
  each_member(settings, [&](const char* key, const auto& member) { json[key] = member; });
  json["perfetto"] = trace.perfetto;
  return json.dump();
}

TraceSettings trace_settings_from_json(const std::string& text) {
  TraceSettings trace;
  read_member(parsed(text), "perfetto", trace.perfetto);
  return trace;
}

Settings settings_from_json(const std::string& text) {
  Settings settings;
  const nlohmann::json json = parsed(text);
  each_member(settings, [&](const char* key, auto& member) { read_member(json, key, member); });
  return settings;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> parse_launches(const std::string& text) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint64_t first = 0, last = 0;
    auto parsed = std::from_chars(at, end, first);
    bool good = parsed.ec == std::errc();
    last = first;
    at = parsed.ptr;
    if (good && at != end && *at == '-') {
      parsed = std::from_chars(at + 1, end, last);
      good = parsed.ec == std::errc() && last >= first;
      at = parsed.ptr;
    }
    if (good && at != end) good = *at == ',' && ++at != end;
    if (!good)
      throw InputError(
          fmt::format("--launches {}: expected numbers and ranges of launches from 0 on, as 0-11,20", text));
    ranges.emplace_back(first, last);
  }
  if (ranges.empty())
    throw InputError(
        "--launches: nothing given; expected numbers and ranges of launches from 0 on, as 0-11,20");
  return ranges;
}

double parse_host_time(const std::string& text) {
  if (text == "none") return 0;
  if (text == "measured") return 1;
  double scale = -1;
  const char* const end = text.data() + text.size();
  if (text.rfind("scale=", 0) == 0) {
    const auto parsed = std::from_chars(text.data() + 6, end, scale);
    if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(scale)) scale = -1;
  }
  if (scale < 0)
    throw InputError(
        fmt::format("--host-time {}: expected none, measured or scale=X with X from 0 on", text));
  return scale;
}

}  // namespace foretrace::runtime
