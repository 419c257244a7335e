#include "sim/host/host_spec.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/host/spec_file.h"

namespace foretrace::host {

namespace {

constexpr SpecFiles kFiles{"host", "none"};

struct NumberKey {
  const char* name;
  const char* unit;
  double& (*field)(HostSpec&);
};
struct ListKey {
  const char* name;
  const char* unit;
  std::vector<double>& (*field)(HostSpec&);
};

#define FORETRACE_NUMBER(room, name, unit)                                     \
  NumberKey {                                                                  \
#room "." #name, unit, [](HostSpec & h) -> double& { return h.room.name; } \
  }
#define FORETRACE_SIZES(key, place)                                                                        \
  ListKey{key ".bytes", "B", [](HostSpec& h) -> std::vector<double>& { return h.place.bytes; }}, ListKey { \
    key ".time", "us", [](HostSpec& h) -> std::vector<double>& { return h.place.ns; }                      \
  }

constexpr std::array kNumbers = {FORETRACE_NUMBER(call, launch, "us"),
                                 FORETRACE_NUMBER(call, graph, "us"),
                                 FORETRACE_NUMBER(call, graph_node, "us"),
                                 FORETRACE_NUMBER(call, graph_path, "us"),
                                 FORETRACE_NUMBER(call, record, "us"),
                                 FORETRACE_NUMBER(call, wait, "us"),
                                 FORETRACE_NUMBER(call, copy_in, "us"),
                                 FORETRACE_NUMBER(call, copy_out, "us"),
                                 FORETRACE_NUMBER(call, copy_device, "us"),
                                 FORETRACE_NUMBER(call, record_untimed, "us"),
                                 FORETRACE_NUMBER(call, fill, "us"),
                                 FORETRACE_NUMBER(call, fill_kernel, "us"),
                                 FORETRACE_NUMBER(call, fill_inline, "B"),
                                 FORETRACE_NUMBER(call, synchronize, "us"),
                                 FORETRACE_NUMBER(call, malloc_async, "us"),
                                 FORETRACE_NUMBER(link, arrival, "us"),
                                 FORETRACE_NUMBER(link, notice, "us"),
                                 FORETRACE_NUMBER(link, queue, "launch"),
                                 FORETRACE_NUMBER(gap, stream, "us"),
                                 FORETRACE_NUMBER(gap, graph, "us"),
                                 FORETRACE_NUMBER(gap, dependent, "us"),
                                 FORETRACE_NUMBER(gap, release, "us"),
                                 FORETRACE_NUMBER(gap, resume, "us"),
                                 FORETRACE_NUMBER(gap, wait, "us"),
                                 FORETRACE_NUMBER(gap, engine, "us"),
                                 FORETRACE_NUMBER(gap, engine_poll, "us"),
                                 FORETRACE_NUMBER(gap, engine_spin, "us"),
                                 FORETRACE_NUMBER(gap, engine_told, "us"),
                                 FORETRACE_NUMBER(gap, turn, "us"),
                                 FORETRACE_NUMBER(gap, leave, "us"),
                                 FORETRACE_NUMBER(gap, record, "us"),
                                 FORETRACE_NUMBER(gap, graph_begin, "us"),
                                 FORETRACE_NUMBER(gap, dispatch, "us"),
                                 FORETRACE_NUMBER(copy, in_latency, "us"),
                                 FORETRACE_NUMBER(copy, in_rate, "GB/s"),
                                 FORETRACE_NUMBER(copy, out_latency, "us"),
                                 FORETRACE_NUMBER(copy, out_rate, "GB/s"),
                                 FORETRACE_NUMBER(copy, both_rate, "GB/s"),
                                 FORETRACE_NUMBER(copy, inline_latency, "us"),
                                 FORETRACE_NUMBER(copy, pinned_inline, "B"),
                                 FORETRACE_NUMBER(copy, pageable_inline, "B")};

constexpr std::array kLists = {FORETRACE_SIZES("call.malloc", call.malloc),
                               FORETRACE_SIZES("call.free", call.free),
                               FORETRACE_SIZES("copy.inline_pageable", copy.inline_pageable),
                               FORETRACE_SIZES("copy.pageable_in", copy.pageable_in),
                               FORETRACE_SIZES("copy.pageable_out", copy.pageable_out),
                               FORETRACE_SIZES("copy.device", copy.device),
                               FORETRACE_SIZES("fill", fill)};

#undef FORETRACE_NUMBER
#undef FORETRACE_SIZES

/// To nanoseconds; GB/s are bytes per nanosecond.
double factor(std::string_view unit) { return unit == "us" ? 1e3 : 1; }

std::vector<double> take(config::RawFile& raw, const std::string& file, const char* key, const char* unit,
                         bool list) {
  const config::Entry entry = take_entry(kFiles, raw, file, key, unit, list);
  // Gaps may be negative: what they stand between overlaps.
  const bool gap = std::string_view(key).substr(0, 4) == "gap.";
  const bool rate = std::string_view(unit) == "GB/s";
  std::vector<double> values = entry.numbers;
  for (double& value : values) {
    if ((value < 0 && !gap) || (value <= 0 && rate))
      refuse(entry, key, fmt::format("{}; expected {}", value, rate ? "more than 0" : "0 or more"));
    check_size(entry, key, value);
    value *= factor(unit);
  }
  return values;
}

void check_sizes(const BySize& by, const std::string& file, std::string_view what) {
  const bool rising =
      std::adjacent_find(by.bytes.begin(), by.bytes.end(), std::greater_equal<>()) == by.bytes.end();
  if (by.bytes.size() < 2 || by.bytes.size() != by.ns.size() || !rising)
    throw InputError(
        fmt::format("{}: {}: expected as many times as sizes, two at least, sizes rising", file, what));
}

}  // namespace

double BySize::at(double size) const {
  if (bytes.empty()) return 0;
  if (size <= bytes.front()) return ns.front();
  std::size_t i = 1;
  while (i + 1 < bytes.size() && size > bytes[i]) ++i;
  const double slope = (ns[i] - ns[i - 1]) / (bytes[i] - bytes[i - 1]);
  return ns[i - 1] + slope * (size - bytes[i - 1]);
}

HostSpec load_host(std::string_view name, const std::filesystem::path& configs) {
  HostSpec spec;
  if (name == "none") {
    spec.name = "none";
    spec.title = "no host: calls, gaps and copies take no time";
    return spec;
  }
  const std::filesystem::path path = path_of(kFiles, name, configs);
  const std::string printed = path.string();
  config::RawFile raw = config::read_file(path, printed);
  spec.name = path.stem().string();
  spec.title = raw.title;
  for (const NumberKey& key : kNumbers)
    key.field(spec) = take(raw, printed, key.name, key.unit, false).front();
  for (const ListKey& key : kLists) key.field(spec) = take(raw, printed, key.name, key.unit, true);
  check_all_taken(kFiles, raw, host_keys());
  check_sizes(spec.copy.inline_pageable, printed, "copy.inline_pageable");
  check_sizes(spec.call.malloc, printed, "call.malloc");
  check_sizes(spec.call.free, printed, "call.free");
  check_sizes(spec.copy.pageable_in, printed, "copy.pageable_in");
  check_sizes(spec.copy.pageable_out, printed, "copy.pageable_out");
  check_sizes(spec.copy.device, printed, "copy.device");
  check_sizes(spec.fill, printed, "fill");
  return spec;
}

std::vector<std::string> host_keys() {
  std::vector<std::string> keys;
  for (const NumberKey& key : kNumbers) keys.emplace_back(key.name);
  for (const ListKey& key : kLists) keys.emplace_back(key.name);
  return keys;
}

std::vector<double*> values_of(HostSpec& spec, std::string_view name) {
  for (const NumberKey& key : kNumbers) {
    if (name == key.name) return {&key.field(spec)};
  }
  std::vector<double*> values;
  for (const ListKey& key : kLists) {
    if (name != key.name) continue;
    for (double& value : key.field(spec)) values.push_back(&value);
  }
  return values;
}

}  // namespace foretrace::host
