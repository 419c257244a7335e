#include "sim/collective/link_spec.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/host/spec_file.h"

namespace foretrace::collective {

namespace {

using host::refuse;

constexpr host::SpecFiles kFiles{"link"};

struct LinkKey {
  const char* name;
  const char* unit;
  double& (*field)(LinkSpec&);
};

#define FORETRACE_LINK_KEY(name, unit, place)                  \
  LinkKey {                                                    \
    name, unit, [](LinkSpec& s) -> double& { return s.place; } \
  }
#define FORETRACE_PROTOCOL_KEYS(name, index)                                             \
  FORETRACE_LINK_KEY("protocol." name ".payload", "ratio", protocol[index].payload),     \
      FORETRACE_LINK_KEY("protocol." name ".landing", "ratio", protocol[index].landing), \
      FORETRACE_LINK_KEY("ring." name ".base", "us", cost[0][index].base),               \
      FORETRACE_LINK_KEY("ring." name ".hop", "us", cost[0][index].hop),                 \
      FORETRACE_LINK_KEY("ring." name ".rate", "GB/s", cost[0][index].rate),             \
      FORETRACE_LINK_KEY("tree." name ".base", "us", cost[1][index].base),               \
      FORETRACE_LINK_KEY("tree." name ".hop", "us", cost[1][index].hop),                 \
      FORETRACE_LINK_KEY("tree." name ".rate", "GB/s", cost[1][index].rate),             \
      FORETRACE_LINK_KEY("choice." name ".base", "us", choice[index].base),              \
      FORETRACE_LINK_KEY("choice." name ".hop", "us", choice[index].hop),                \
      FORETRACE_LINK_KEY("choice." name ".bandwidth", "GB/s", choice[index].bandwidth)

constexpr std::array kKeys = {FORETRACE_LINK_KEY("link.bandwidth", "GB/s", bandwidth),
                              FORETRACE_LINK_KEY("link.devices", "device", devices),
                              FORETRACE_LINK_KEY("copy.latency", "us", copy_latency),
                              FORETRACE_LINK_KEY("event.time", "us", event_time),
                              FORETRACE_LINK_KEY("event.wait", "us", event_wait),
                              FORETRACE_LINK_KEY("sleep.after", "us", sleep_after),
                              FORETRACE_LINK_KEY("sleep.wake", "us", sleep_wake),
                              FORETRACE_LINK_KEY("kernel.latency", "us", kernel.latency),
                              FORETRACE_LINK_KEY("kernel.bandwidth", "GB/s", kernel.bandwidth),
                              FORETRACE_LINK_KEY("kernel.header", "B", kernel.header),
                              FORETRACE_LINK_KEY("kernel.question", "B", kernel.question),
                              FORETRACE_LINK_KEY("channel.count", "channel", channels),
                              FORETRACE_LINK_KEY("channel.bytes", "B", channel_bytes),
                              FORETRACE_PROTOCOL_KEYS("ll", 0),
                              FORETRACE_PROTOCOL_KEYS("ll128", 1),
                              FORETRACE_PROTOCOL_KEYS("simple", 2)};

#undef FORETRACE_LINK_KEY
#undef FORETRACE_PROTOCOL_KEYS

/// Times may be 0 and so may a bandwidth of choice; what is divided by may not.
void check(const config::Entry& entry, const LinkKey& key, double value) {
  const std::string_view name = key.name;
  const bool choice = name.starts_with("choice."), landing = name.ends_with(".landing");
  const bool positive = std::string_view(key.unit) != "us" && !choice && !landing;
  if (value < 0 || (positive && value <= 0))
    refuse(entry, name, fmt::format("{}; expected {}", value, positive ? "more than 0" : "0 or more"));
  host::check_size(entry, name, value);
  if (std::string_view(key.unit) == "ratio" && value > 1)
    refuse(entry, name, fmt::format("{}; expected 1 at most", value));
  const bool whole = std::string_view(key.unit) == "device" || std::string_view(key.unit) == "channel";
  if (whole && value != static_cast<double>(static_cast<long long>(value)))
    refuse(entry, name, fmt::format("{}; expected a whole number", value));
}

double take(config::RawFile& raw, const std::string& file, const LinkKey& key) {
  const config::Entry entry = host::take_entry(kFiles, raw, file, key.name, key.unit, false);
  check(entry, key, entry.numbers.front());
  return entry.numbers.front() * (std::string_view(key.unit) == "us" ? 1e3 : 1);
}

}  // namespace

LinkSpec load_link(std::string_view name, const std::filesystem::path& configs) {
  const std::filesystem::path path = host::path_of(kFiles, name, configs);
  const std::string printed = path.string();
  config::RawFile raw = config::read_file(path, printed);
  LinkSpec spec;
  spec.name = path.stem().string();
  spec.title = raw.title;
  for (const LinkKey& key : kKeys) key.field(spec) = take(raw, printed, key);
  host::check_all_taken(kFiles, raw, link_keys());
  const bool chosen = std::any_of(spec.choice.begin(), spec.choice.end(),
                                  [](const LinkSpec::Choice& c) { return c.bandwidth > 0; });
  if (!chosen)
    throw InputError(
        fmt::format("{}: choice.*.bandwidth: all are 0; expected a protocol that can be chosen", printed));
  return spec;
}

std::vector<std::string> link_keys() {
  std::vector<std::string> keys;
  for (const LinkKey& key : kKeys) keys.emplace_back(key.name);
  return keys;
}

double* value_of(LinkSpec& spec, std::string_view name) {
  for (const LinkKey& key : kKeys) {
    if (name == key.name) return &key.field(spec);
  }
  return nullptr;
}

}  // namespace foretrace::collective
