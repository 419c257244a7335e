#include "sim/host/spec_file.h"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "model/config/keys.h"
#include "model/units/error.h"

namespace foretrace::host {

namespace fs = std::filesystem;

fs::path path_of(const SpecFiles& files, std::string_view name, const fs::path& configs) {
  std::error_code error;
  if (name.find('/') != std::string_view::npos || name.ends_with(".toml")) {
    if (fs::is_character_file(name, error))  // /dev/zero has no end
      throw InputError(fmt::format("{}: is a device; expected a file", name));
    return name;
  }
  const fs::path folder = configs / fmt::format("{}s", files.kind);
  fs::path file = folder / fmt::format("{}.toml", name);
  if (fs::is_regular_file(file, error)) return file;
  std::vector<std::string> known;
  for (const auto& entry : fs::directory_iterator(folder, error))
    known.push_back(entry.path().stem().string());
  std::sort(known.begin(), known.end());
  if (!files.without_file.empty()) known.emplace(known.begin(), files.without_file);
  throw InputError(fmt::format("--{0} {1}: no such {0}; expected one of {2}, or a file", files.kind, name,
                               fmt::join(known, ", ")));
}

void refuse(const config::Entry& entry, std::string_view key, const std::string& what) {
  throw InputError(fmt::format("{}:{}: {}: {}", entry.file, entry.line, key, what));
}

config::Entry take_entry(const SpecFiles& files, config::RawFile& raw, const std::string& file,
                         const char* key, std::string_view unit, bool list) {
  const auto found = raw.entries.find(key);
  if (found == raw.entries.end())
    throw InputError(fmt::format("{}: no {}; every {} has one", file, key, files.kind));
  config::Entry entry = std::move(found->second);
  raw.entries.erase(found);
  if (entry.unit != unit) refuse(entry, key, fmt::format("unit \"{}\"; expected \"{}\"", entry.unit, unit));
  if (entry.numbers.empty() || entry.list != list)
    refuse(entry, key, list ? "expected a list of numbers" : "expected one number");
  return entry;
}

void check_size(const config::Entry& entry, std::string_view key, double value) {
  constexpr double kMost = 1e10;
  if (std::abs(value) > kMost) refuse(entry, key, fmt::format("{}; expected {} at most", value, kMost));
}

void check_all_taken(const SpecFiles& files, const config::RawFile& raw,
                     const std::vector<std::string>& keys) {
  if (raw.entries.empty()) return;
  const auto& [key, entry] = *raw.entries.begin();
  refuse(entry, key, fmt::format("no key of a {}; did you mean {}?", files.kind, config::nearest(key, keys)));
}

}  // namespace foretrace::host
