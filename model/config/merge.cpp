#include "model/config/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/units/error.h"

namespace foretrace::config {
namespace {

namespace fs = std::filesystem;

/// A path as errors print it: "configs/shared/gh100.toml" for ours, as given for a user's own.
std::string printed(const fs::path& path, const fs::path& directory) {
  const fs::path relative = path.lexically_relative(directory);
  if (relative.empty() || *relative.begin() == "..") return path.string();
  return (directory.filename() / relative).string();
}

fs::path find_parent(const RawFile& file, const fs::path& child, const fs::path& directory,
                     const std::string& text) {
  for (const fs::path& base : {child.parent_path(), directory}) {
    const fs::path path = (base / file.inherits).lexically_normal();
    if (fs::is_regular_file(path)) return path;
  }
  throw InputError(fmt::format("{}: inherits \"{}\": no such file beside it or in {}", text, file.inherits,
                               directory.filename().string()));
}

bool same_value(const Entry& a, const Entry& b) { return a.numbers == b.numbers && a.formula == b.formula; }

void add(const RawFile& file, Merged& merged) {
  for (const auto& [key, entry] : file.entries) {
    const auto found = merged.entries.find(key);
    if (found == merged.entries.end()) {
      merged.entries.emplace(key, entry);
      continue;
    }
    const Entry& before = found->second;
    if (!before.overridable) {
      throw InputError(fmt::format("{}: set already at {}:{}, which is not marked default = true",
                                   where(entry, key), before.file, before.line));
    }
    if (same_value(before, entry)) {
      throw InputError(fmt::format("{}: says the same as {}:{}: expected another value, or nothing",
                                   where(entry, key), before.file, before.line));
    }
    found->second = entry;
  }
  merged.groups.insert(merged.groups.end(), file.groups.begin(), file.groups.end());
  if (!file.title.empty()) merged.title = file.title;
  if (!file.die.empty()) merged.die = file.die;
  for (const auto& [part, claim] : file.known) merged.known[part] = claim;
  if (file.sm_number != 0) merged.sm_number = file.sm_number;
}

void check_group(const OpcodeGroup& group) {
  const std::string place = fmt::format("{}:{}: opcodes.{}", group.file, group.line, group.name);
  for (const std::string& name : group.pipes) {
    spec::Pipe pipe{};
    if (!spec::pipe_from_name(name, pipe))
      throw InputError(fmt::format("{}: unknown pipe \"{}\"", place, name));
  }
  spec::LatencyClass latency{};
  if (!spec::latency_from_name(group.latency, latency)) {
    throw InputError(fmt::format("{}: unknown latency class \"{}\"", place, group.latency));
  }
}

void check_groups(const std::vector<OpcodeGroup>& groups) {
  std::map<std::string, const OpcodeGroup*> owner;
  for (const OpcodeGroup& group : groups) {
    check_group(group);
    for (const std::string& opcode : group.opcodes) {
      const auto [at, inserted] = owner.emplace(opcode, &group);
      if (!inserted) {
        throw InputError(fmt::format("{}:{}: opcodes.{}: {} stands in opcodes.{} already", group.file,
                                     group.line, group.name, opcode, at->second->name));
      }
    }
  }
}

bool known_key(const std::string& key, const Merged& merged) {
  if (find_key(key) != nullptr) return true;
  return key.starts_with("opcodes.") && merged.entries.contains(key);
}

std::vector<std::string> known_keys(const Merged& merged) {
  std::vector<std::string> names;
  for (const Key& key : keys()) names.emplace_back(key.name);
  for (const auto& [key, entry] : merged.entries) {
    if (key.starts_with("opcodes.")) names.push_back(key);
  }
  return names;
}

double number_of(std::string_view text, const std::string& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InputError(fmt::format("{}: \"{}\" is no number", place, text));
  }
  return value;
}

std::vector<double> numbers_of(std::string_view text, bool list, const std::string& place) {
  if (!list) return {number_of(text, place)};
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') {
    throw InputError(fmt::format("{}: expected a list such as [0,8192]", place));
  }
  text = text.substr(1, text.size() - 2);
  std::vector<double> numbers;
  while (true) {
    const std::size_t comma = text.find(',');
    numbers.push_back(number_of(text.substr(0, comma), place));
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string where(const Entry& entry, std::string_view key) {
  if (entry.line == 0) return entry.file;
  return fmt::format("{}:{}: {}", entry.file, entry.line, key);
}

bool Merged::uses_pipe(std::string_view pipe) const {
  return std::any_of(groups.begin(), groups.end(), [&](const OpcodeGroup& group) {
    return std::find(group.pipes.begin(), group.pipes.end(), pipe) != group.pipes.end();
  });
}

bool Merged::uses_latency(std::string_view latency) const {
  return std::any_of(groups.begin(), groups.end(),
                     [&](const OpcodeGroup& group) { return group.latency == latency; });
}

bool Merged::has_opcode(std::string_view opcode) const {
  return std::any_of(groups.begin(), groups.end(), [&](const OpcodeGroup& group) {
    return std::find(group.opcodes.begin(), group.opcodes.end(), opcode) != group.opcodes.end();
  });
}

Merged merge_files(std::string_view name, const fs::path& directory) {
  Merged merged;
  fs::path path;
  if (name.find('/') != std::string_view::npos || name.ends_with(".toml")) {
    path = fs::path(name);
    if (!fs::is_regular_file(path))
      throw InputError(fmt::format("{}: no such file: expected a chip's configuration", name));
    merged.name = path.stem().string();
  } else {
    merged.name = resolve_name(name, directory);
    path = directory / (merged.name + ".toml");
    if (!fs::is_regular_file(path)) {
      throw InputError(fmt::format(
          "{}: no such file: is FORETRACE_CONFIGS the directory of the configurations?", path.string()));
    }
  }
  merged.file = printed(path, directory);

  std::vector<RawFile> chain;
  std::vector<fs::path> visited;
  while (true) {
    const std::string text = printed(path, directory);
    if (std::find(visited.begin(), visited.end(), path) != visited.end()) {
      throw InputError(fmt::format("{}: inherits itself", text));
    }
    visited.push_back(path);
    chain.push_back(read_file(path, text));
    if (chain.back().inherits.empty()) break;
    path = find_parent(chain.back(), path, directory, text);
  }
  for (auto file = chain.rbegin(); file != chain.rend(); ++file) add(*file, merged);
  if (merged.sm_number == 0) {
    throw InputError(fmt::format(
        "{}: sm_number is missing: expected the number of its machine code, such as 90", merged.file));
  }
  const fs::path table = directory / "isa" / fmt::format("sm_{}.toml", merged.sm_number);
  if (!fs::is_regular_file(table)) {
    throw InputError(fmt::format("{}: sm_number {}: there is no {}", merged.file, merged.sm_number,
                                 printed(table, directory)));
  }
  add(read_file(table, printed(table, directory)), merged);
  check_groups(merged.groups);
  for (const auto& [key, entry] : merged.entries) {
    if (known_key(key, merged)) continue;
    throw InputError(fmt::format("{}: unknown key{}", where(entry, key), hint(key, known_keys(merged))));
  }
  return merged;
}

void apply(const std::vector<Override>& overrides, Merged& merged) {
  for (const Override& change : overrides) {
    const std::string place = fmt::format("--set {}={}", change.key, change.value);
    if (!known_key(change.key, merged)) {
      const std::string near = hint(change.key, known_keys(merged));
      throw InputError(
          fmt::format("{}: unknown key{}", place,
                      near.empty() ? "; 'foretrace arch NAME' lists those that there are" : near));
    }
    if (merged.overridden.contains(change.key))
      throw InputError(fmt::format("{}: the key is set twice", place));
    const Key* key = find_key(change.key);
    Entry entry;
    entry.list = key != nullptr && key->type == KeyType::list;
    entry.numbers = numbers_of(change.value, entry.list, place);
    entry.unit = key != nullptr ? std::string(key->unit) : "cycle";
    entry.kind = Kind::assumed;
    entry.source = place;
    entry.file = place;
    merged.entries[change.key] = entry;
    merged.overridden.insert(change.key);
  }
}

}  // namespace foretrace::config
