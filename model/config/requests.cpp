// What a user types: names, --set, --clock, and where the configurations are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "model/config/load.h"
#include "model/units/error.h"

namespace foretrace::config {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kAliases = {{{"a100", "a100-sxm-40gb"},
                                                                                    {"h100", "h100-sxm"},
                                                                                    {"h200", "h200-sxm"},
                                                                                    {"b200", "b200-sxm"},
                                                                                    {"gb203", "rtx5070ti"}}};
constexpr std::array kClockNames = {"base", "boost", "observed", "custom"};
constexpr std::string_view kClockForm = "expected base, boost, observed or sm=MHZ[,l2=MHZ,dram=MHZ]";

std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return head;
}

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> aliases() { return kAliases; }

std::vector<std::string> chip_names(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(directory, error)) {
    if (file.path().extension() == ".toml") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string resolve_name(std::string_view name, const fs::path& directory) {
  for (const auto& [alias, chip] : kAliases) {
    if (name == alias) return std::string(chip);
  }
  const std::vector<std::string> chips = chip_names(directory);
  if (std::find(chips.begin(), chips.end(), name) != chips.end()) return std::string(name);
  std::string known;
  for (const auto& chip : chips) known += fmt::format("{}, ", chip);
  for (const auto& [alias, chip] : kAliases)
    known += fmt::format("{}{}", alias == kAliases.front().first ? "or an alias: " : ", ", alias);
  throw InputError(fmt::format("unknown arch \"{}\": expected {}, or a .toml file", name, known));
}

std::vector<Override> parse_set(std::string_view text) {
  const std::string place = fmt::format("--set {}", text);
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos)
    throw InputError(fmt::format("{}: expected KEY=VALUE", place));
  const std::string key(text.substr(0, equals));
  std::vector<Override> result;
  std::string value;
  int depth = 0;
  const auto finish = [&] {
    if (value.empty())
      throw InputError(fmt::format("{}: a value is missing: expected KEY=VALUE[,VALUE...]", place));
    result.push_back({key, value});
    value.clear();
  };
  for (const char c : text.substr(equals + 1)) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      finish();
    } else {
      value.push_back(c);
    }
  }
  finish();
  return result;
}

const char* name_of(spec::ClockChoice choice) { return kClockNames[static_cast<std::size_t>(choice)]; }

ClockRequest parse_clock(std::string_view text) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (text == kClockNames[i]) return {static_cast<spec::ClockChoice>(i), {}};
  }
  ClockRequest request{spec::ClockChoice::custom, {}};
  std::string_view rest = text;
  if (text.ends_with(',')) throw InputError(fmt::format("--clock {}: {}", text, kClockForm));
  do {
    std::string_view part = cut(rest, ',');
    const std::string_view domain = cut(part, '=');
    std::uint64_t* field = domain == "sm"     ? &request.custom.sm
                           : domain == "l2"   ? &request.custom.l2
                           : domain == "dram" ? &request.custom.dram
                                              : nullptr;
    double mhz = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), mhz);
    const bool good = error == std::errc() && end == part.data() + part.size() && mhz >= 1 && mhz <= 100000;
    if (field == nullptr || *field != 0 || !good) {
      throw InputError(fmt::format("--clock {}: {} (1 to 100000 MHz, each domain once)", text, kClockForm));
    }
    *field = static_cast<std::uint64_t>(mhz * 1e6 + 0.5);
  } while (!rest.empty());
  return request;
}

fs::path config_directory() {
  if (const char* set = std::getenv("FORETRACE_CONFIGS")) return fs::path(set).lexically_normal();
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path parent = binary.parent_path();
    for (const fs::path& directory : {parent / "../../configs", parent / "../share/foretrace/configs"}) {
      const fs::path normal = directory.lexically_normal();
      if (fs::is_directory(normal / "isa", error)) return normal;
    }
  }
  return fs::path(FORETRACE_CONFIG_SOURCE);
}

}  // namespace foretrace::config
