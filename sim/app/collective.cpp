// foretrace collective: how long all-reduces and their like over the GPUs of one host take.

#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/config/load.h"
#include "model/units/error.h"
#include "sim/app/options.h"
#include "sim/collective/collective.h"
#include "sim/report/json.h"

namespace foretrace::app {

namespace {

using nlohmann::ordered_json;

/// "64K", "1M", "3.5G", "1000": bytes; K, M and G are powers of 1024.
double parse_bytes(const std::string& text) {
  std::size_t end = 0;
  double value = 0;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) { end = 0; }
  const std::string unit = end == 0 ? "?" : text.substr(end);
  const double factor = unit.empty()  ? 1
                        : unit == "K" ? 1024.0
                        : unit == "M" ? 1048576.0
                        : unit == "G" ? 1073741824.0
                                      : 0;
  value *= factor;
  if (!(value >= 1) || value != std::floor(value) || value > 1e15)
    throw InputError(fmt::format(
        "--bytes '{}': expected whole bytes with K, M, G or nothing behind, a list of them, or FROM..TO",
        text));
  return value;
}

/// A list of sizes and ranges, of which each size is twice the one before.
std::vector<double> parse_sizes(const std::string& text) {
  std::vector<double> sizes;
  for (const std::string& part : split(text)) {
    const std::size_t dots = part.find("..");
    if (dots == std::string::npos) {
      sizes.push_back(parse_bytes(part));
      continue;
    }
    const double from = parse_bytes(part.substr(0, dots)), to = parse_bytes(part.substr(dots + 2));
    if (from > to) throw InputError(fmt::format("--bytes {}: expected a range that rises", part));
    for (double size = from; size <= to; size *= 2) sizes.push_back(size);
  }
  return sizes;
}

std::string printed_bytes(double bytes) {
  for (const auto& [unit, factor] : {std::pair{"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"KiB", 1024.0}}) {
    if (bytes >= factor && std::fmod(bytes, factor / 1024) == 0)
      return fmt::format("{:.4g} {}", bytes / factor, unit);
  }
  return fmt::format("{:.0f} B", bytes);
}

ordered_json row_of(double bytes, const collective::Answer& answer, bool copy) {
  ordered_json row{{"bytes", static_cast<std::uint64_t>(bytes)}};
  if (!copy) {
    row["algorithm"] = name_of(answer.algorithm);
    row["protocol"] = name_of(answer.protocol);
    row["channels"] = answer.channels;
  }
  row["time_us"] = answer.ns / 1e3;
  row["latency_us"] = answer.latency / 1e3;
  row["channels_us"] = answer.working / 1e3;
  row["link_us"] = answer.sending / 1e3;
  row["last_part_us"] = answer.keeping / 1e3;
  row["algorithm_bandwidth_gbs"] = answer.algorithm_bandwidth;
  row["bus_bandwidth_gbs"] = answer.bus_bandwidth;
  row["limit"] = name_of(answer.limit);
  return row;
}

}  // namespace

int collective_operation(const Words& words) {
  std::string op, bytes, link = collective::kDefaultLink, algorithm, protocol, json;
  unsigned devices = 2;
  options::options_description known("options");
  known.add_options()("op", options::value(&op)->value_name("OPERATION")->required(),
                      "allreduce, allgather, reducescatter, broadcast, or copy: a peer copy")(
      "bytes", options::value(&bytes)->value_name("A..B")->required(),
      "of the whole array: 64K,1M..1G (each twice the one before)")(
      "devices", options::value(&devices)->value_name("N")->default_value(devices), "GPUs of one host")(
      "link", options::value(&link)->value_name("NAME")->default_value(link),
      "one of configs/links, or a file")("algorithm", options::value(&algorithm)->value_name("NAME"),
                                         "ring or tree; without it, as NCCL chooses")(
      "protocol", options::value(&protocol)->value_name("NAME"),
      "ll, ll128 or simple; without it, as NCCL chooses")(
      "json", result_file_or_output(&json),
      "write the result as JSON to this file; -: to standard output, and no text");
  options::variables_map values;
  if (!parse(words, "collective --op OPERATION --bytes 1M..1G [--devices N] [--link nvlink4|nvlink5|pcie5]",
             known, "", values))
    return 0;
  collective::Question question;
  question.operation = collective::parse_operation(op);
  question.devices = devices;
  if (!algorithm.empty()) question.algorithm = collective::parse_algorithm(algorithm);
  if (!protocol.empty()) question.protocol = collective::parse_protocol(protocol);
  const collective::LinkSpec spec = collective::load_link(link, config::config_directory());
  const bool copy = question.operation == collective::Operation::copy;
  std::string text = fmt::format("{} of {} devices, {}\n", op, devices, spec.title);
  text += fmt::format("  {:>12} {:>6} {:>8} {:>9} {:>12} {:>11} {:>11}  {}\n", "bytes", "", "protocol",
                      "channels", "time, us", "algbw, GB/s", "busbw, GB/s", "limit");
  ordered_json rows = ordered_json::array();
  for (const double size : parse_sizes(bytes)) {
    question.bytes = size;
    const collective::Answer answer = collective::predict(spec, question);
    text += fmt::format("  {:>12} {:>6} {:>8} {:>9} {:>12.2f} {:>11.2f} {:>11.2f}  {}\n", printed_bytes(size),
                        copy ? "" : name_of(answer.algorithm), copy ? "" : name_of(answer.protocol),
                        copy ? "" : std::to_string(answer.channels), answer.ns / 1e3,
                        answer.algorithm_bandwidth, answer.bus_bandwidth, name_of(answer.limit));
    rows.push_back(row_of(size, answer, copy));
  }
  const ordered_json result{{"operation", op}, {"devices", devices}, {"link", spec.name}, {"sizes", rows}};
  const std::string document = ordered_json{{"schema", 1}, {"collective", result}}.dump(2) + "\n";
  if (json == "-") {
    std::cout << document;
    return 0;
  }
  if (!json.empty()) report::write_file(json, document);
  std::cout << text;
  return 0;
}

}  // namespace foretrace::app
