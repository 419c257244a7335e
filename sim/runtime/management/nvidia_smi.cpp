// nvidia-smi for programs under `foretrace run` that call it: the GPUs' list and the queries for scripts, over our libnvidia-ml.so.1.
//
// Models:  devices as that library has them; each process sees its own memory in use, so none here. No processes run on them.
// Source:  nvidia-smi's manual page for the options, the names of the fields and the exit codes.
#include <array>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <boost/algorithm/string.hpp>
#include <boost/program_options.hpp>

#include "sim/runtime/management/nvml.h"

namespace options = boost::program_options;
using namespace foretrace::runtime;

namespace {

/// A question that this program does not take: a line, and the exit code that the manual page has for it.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(int code) {
  if (code != 0) throw Refusal(fmt::format("NVML answered {}", code));
}

template <class Ask>
std::string text_of(Ask&& ask) {
  std::array<char, 256> text{};
  check(ask(text.data(), static_cast<unsigned>(text.size())));
  return text.data();
}

struct Gpu {
  unsigned index = 0, count = 0;
  nvml::Device device = nullptr;

  std::string name() const {
    return text_of([&](char* text, unsigned room) { return nvmlDeviceGetName(device, text, room); });
  }
  std::string uuid() const {
    return text_of([&](char* text, unsigned room) { return nvmlDeviceGetUUID(device, text, room); });
  }
  std::string bus() const {
    nvml::Pci pci{};
    check(nvmlDeviceGetPciInfo_v3(device, &pci));
    return pci.bus_id;
  }
  /// A part of its memory in MiB.
  std::string memory(unsigned long long nvml::Memory::*part) const {
    nvml::Memory memory{};
    check(nvmlDeviceGetMemoryInfo(device, &memory));
    return std::to_string(memory.*part >> 20);
  }
  std::string clock(int type) const {
    unsigned clock = 0;
    check(nvmlDeviceGetClockInfo(device, type, &clock));
    return std::to_string(clock);
  }
  std::string capability() const {
    int major = 0, minor = 0;
    check(nvmlDeviceGetCudaComputeCapability(device, &major, &minor));
    return fmt::format("{}.{}", major, minor);
  }
};

std::string driver_version() { return text_of(nvmlSystemGetDriverVersion); }

using Field = std::function<std::string(const Gpu&)>;  // none: what needs a GPU that works, [N/A]

std::map<std::string, Field> make_fields() {
  const auto fixed = [](std::string text) { return [text = std::move(text)](const Gpu&) { return text; }; };
  const auto memory = [](auto part) { return [part](const Gpu& gpu) { return gpu.memory(part); }; };
  const auto now = [](const Gpu&) {
    return fmt::format("{:%Y/%m/%d %H:%M:%S}.000", fmt::localtime(std::time(nullptr)));
  };
  std::map<std::string, Field> fields{
      {"timestamp", now},
      {"driver_version", [](const Gpu&) { return driver_version(); }},
      {"count", [](const Gpu& gpu) { return std::to_string(gpu.count); }},
      {"index", [](const Gpu& gpu) { return std::to_string(gpu.index); }},
      {"compute_cap", &Gpu::capability},
      {"memory.total", memory(&nvml::Memory::total)},
      {"memory.free", memory(&nvml::Memory::free)},
      {"memory.used", memory(&nvml::Memory::used)},
      {"compute_mode", fixed("Default")},
      {"persistence_mode", fixed("Enabled")},
      {"mig.mode.current", fixed("Disabled")},
  };
  for (const char* name : {"name", "gpu_name"}) fields[name] = &Gpu::name;
  for (const char* name : {"uuid", "gpu_uuid"}) fields[name] = &Gpu::uuid;
  for (const char* name : {"pci.bus_id", "gpu_bus_id"}) fields[name] = &Gpu::bus;
  for (const char* name : {"power.draw", "power.limit", "utilization.gpu", "utilization.memory", "fan.speed",
                           "temperature.gpu", "pstate", "ecc.mode.current"})
    fields[name] = nullptr;
  const std::vector<std::pair<std::string, int>> clocks{{"gr", 0},    {"sm", 1},       {"mem", 2},
                                                        {"video", 3}, {"graphics", 0}, {"memory", 2}};
  for (const auto& [name, type] : clocks) {
    for (const char* of : {"clocks.", "clocks.current.", "clocks.max.", "clocks.applications."})
      fields[of + name] = [type = type](const Gpu& gpu) { return gpu.clock(type); };
  }
  return fields;
}

std::string unit_of(const std::string& field) {
  const std::vector<std::pair<const char*, const char*>> units{
      {"memory.", "MiB"}, {"clocks.", "MHz"}, {"power.", "W"}, {"utilization.", "%"}, {"fan.", "%"}};
  for (const auto& [start, unit] : units) {
    if (boost::starts_with(field, start)) return unit;
  }
  return "";
}

std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> all;
  return boost::split(all, boost::erase_all_copy(list, " "), [](char c) { return c == ','; });
}

options::variables_map read_arguments(int count, char** words) {
  options::options_description known("nvidia-smi of Foretrace");
  known.add_options()("list-gpus,L", "the GPUs and their UUIDs")("query-gpu", options::value<std::string>(),
                                                                 "fields of each GPU, several with commas")(
      "query-compute-apps", options::value<std::string>(),
      "fields of the processes on them, of which there are none")(
      "format", options::value<std::string>()->default_value(""), "of a query: csv[,noheader][,nounits]")(
      "id,i", options::value<std::string>(), "only these: index, UUID or bus address, several with commas")(
      "help,h", "this");
  options::variables_map asked;
  try {
    const int style =
        options::command_line_style::default_style & ~options::command_line_style::allow_guessing;
    options::store(
        options::command_line_parser(count, words).options(known).positional({}).style(style).run(), asked);
  } catch (const options::error& error) {
    throw Refusal(fmt::format("{}; --help has what this nvidia-smi answers", error.what()));
  }
  if (asked.count("help")) std::cout << known;
  return asked;
}

/// All of them, or those that -i names by index, UUID or bus address.
std::vector<Gpu> gpus(const options::variables_map& asked) {
  std::vector<Gpu> all, chosen;
  unsigned count = 0;
  check(nvmlDeviceGetCount_v2(&count));
  for (unsigned i = 0; i < count; ++i) {
    all.push_back({i, count, nullptr});
    check(nvmlDeviceGetHandleByIndex_v2(i, &all.back().device));
  }
  if (!asked.count("id")) return all;
  for (const std::string& id : parts(asked["id"].as<std::string>())) {
    const std::size_t before = chosen.size();
    for (const Gpu& gpu : all) {
      if (id == std::to_string(gpu.index) || id == gpu.uuid() || id == gpu.bus() || "0000" + id == gpu.bus())
        chosen.push_back(gpu);
    }
    if (chosen.size() == before) throw Refusal(fmt::format("-i {}: no such GPU", id));
  }
  return chosen;
}

struct Csv {
  bool header, units;

  explicit Csv(const options::variables_map& asked) {
    std::vector<std::string> words = parts(asked["format"].as<std::string>());
    header = std::erase(words, "noheader") == 0;
    units = std::erase(words, "nounits") == 0;
    if (words != std::vector<std::string>{"csv"})
      throw Refusal("a query takes --format=csv[,noheader][,nounits]");
  }
};

void print_query(const std::string& names, const Csv& csv, const std::vector<Gpu>& of) {
  const std::map<std::string, Field> fields = make_fields();
  std::vector<std::string> header, rows(of.size());
  for (const std::string& name : parts(names)) {
    const auto found = fields.find(name);
    if (found == fields.end())
      throw Refusal(fmt::format("Field \"{}\" is not a valid field to query.", name));
    const Field& value = found->second;
    const std::string unit = unit_of(name);
    header.push_back(unit.empty() ? name : fmt::format("{} [{}]", name, unit));
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (!rows[i].empty()) rows[i] += ", ";
      rows[i] += value ? value(of[i]) : "[N/A]";
      if (value && csv.units && !unit.empty()) rows[i].append(" ").append(unit);
    }
  }
  if (csv.header) fmt::print("{}\n", fmt::join(header, ", "));
  for (const std::string& row : rows) fmt::print("{}\n", row);
}

void answer(const options::variables_map& asked) {
  check(nvmlInit_v2());
  const std::vector<Gpu> of = gpus(asked);
  if (asked.count("query-compute-apps")) {
    const auto fields = parts(asked["query-compute-apps"].as<std::string>());
    if (Csv(asked).header) fmt::print("{}\n", fmt::join(fields, ", "));
  } else if (asked.count("query-gpu")) {
    print_query(asked["query-gpu"].as<std::string>(), Csv(asked), of);
  } else if (asked.count("list-gpus")) {
    for (const Gpu& gpu : of) fmt::print("GPU {}: {} (UUID: {})\n", gpu.index, gpu.name(), gpu.uuid());
  } else {
    int cuda = 0;
    check(nvmlSystemGetCudaDriverVersion(&cuda));
    fmt::print("NVIDIA-SMI of Foretrace      Driver Version: {}      CUDA Version: {}.{}\n", driver_version(),
               cuda / 1000, cuda % 1000 / 10);
    for (const Gpu& gpu : of)
      fmt::print("{:3}  {}  {}  {}MiB / {}MiB\n", gpu.index, gpu.name(), gpu.bus(),
                 gpu.memory(&nvml::Memory::used), gpu.memory(&nvml::Memory::total));
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    const options::variables_map asked = read_arguments(count, words);
    if (!asked.count("help")) answer(asked);
    return 0;
  } catch (const Refusal& refusal) {
    fmt::print(stderr, "nvidia-smi (Foretrace's): {}\n", refusal.what());
    return 2;
  }
}
