#include "sim/frontend/compile_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "model/units/error.h"
#include "sim/frontend/cache.h"
#include "sim/frontend/cubin.h"

namespace foretrace::frontend {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// One line of a manifest, "F path" or "D path", with the state of what it names; "" when that cannot be read.
std::string state_of(const std::string& line) {
  const std::string path = line.substr(2);
  if (line[0] == 'F') {
    try {
      return fmt::format("{} {}\n", line, sha256_hex(read_file(path)));
    } catch (const InputError&) { return {}; }
  }
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    names.push_back(entry.path().filename().string());
  }
  if (error) return {};
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) all += name + '\n';
  return fmt::format("{} {}\n", line, sha256_hex(bytes_of(all)));
}

/// The name of the entry for the present state of all that the manifest names; "" when some of it is gone.
std::string entry_name(const std::string& request_hash, const std::string& manifest) {
  std::string all = request_hash + '\n';
  std::istringstream lines(manifest);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 3) return {};
    const std::string state = state_of(line);
    if (state.empty()) return {};
    all += state;
  }
  return sha256_hex(bytes_of(all));
}

std::optional<std::string> cached_text(const std::string& name) {
  const std::optional<std::vector<std::byte>> bytes = cached(name);
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

}  // namespace

CompileCache::CompileCache(const std::string& request) : request_hash_(sha256_hex(bytes_of(request))) {}

std::optional<Compiled> CompileCache::find() const {
  const std::optional<std::string> manifest = cached_text(request_hash_ + ".manifest");
  if (!manifest) return std::nullopt;
  const std::string name = entry_name(request_hash_, *manifest);
  if (name.empty()) return std::nullopt;
  std::optional<std::vector<std::byte>> cubin = cached(name + ".cubin");
  std::optional<std::string> disassembly = cached_text(name + ".sass");
  if (!cubin || !disassembly) return std::nullopt;
  return Compiled{std::move(*cubin), std::move(*disassembly)};
}

void CompileCache::store(const Compiled& compiled, const std::vector<std::string>& dependencies,
                         const std::vector<std::string>& directories) const {
  std::string manifest;
  for (const std::string& file : dependencies) manifest += fmt::format("F {}\n", file);
  for (const std::string& directory : directories) manifest += fmt::format("D {}\n", directory);
  const std::string name = entry_name(request_hash_, manifest);
  if (name.empty()) return;
  cache(name + ".cubin", compiled.cubin);
  cache(name + ".sass", bytes_of(compiled.disassembly));
  cache(request_hash_ + ".manifest", bytes_of(manifest));
}

std::vector<std::string> make_dependencies(const std::string& rule) {
  std::vector<std::string> files;
  std::string word;
  // The target ends at the first colon that a blank follows.
  std::size_t i = rule.find(": ");
  i = i == std::string::npos ? rule.size() : i + 1;
  const auto finish = [&] {
    if (!word.empty()) files.push_back(std::exchange(word, {}));
  };
  for (; i < rule.size(); ++i) {
    const char c = rule[i];
    const char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      finish();
      ++i;
    } else if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) {
      word += next;
      ++i;
    } else if (c == '$' && next == '$') {
      word += '$';
      ++i;
    } else if (c == ' ' || c == '\n' || c == '\t') {
      finish();
    } else {
      word += c;
    }
  }
  finish();
  return files;
}

}  // namespace foretrace::frontend
