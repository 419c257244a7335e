#include "sim/frontend/cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/frontend/cubin.h"

namespace foretrace::frontend {
namespace {

namespace fs = std::filesystem;

struct Held {
  fs::path path;
  fs::file_time_type used;
  std::uint64_t bytes = 0;
};

/// Removes what was not used for longest until all is within the bound. Other processes may remove the same files meanwhile.
void shrink(const fs::path& directory, std::uint64_t bound) {
  std::vector<Held> files;
  std::uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    Held file{at->path(), fs::last_write_time(at->path(), gone), 0};
    if (gone || !at->is_regular_file(gone)) continue;
    file.bytes = at->file_size(gone);
    if (gone) continue;
    total += file.bytes;
    files.push_back(std::move(file));
  }
  if (total <= bound) return;
  std::sort(files.begin(), files.end(), [](const Held& a, const Held& b) { return a.used < b.used; });
  for (const Held& file : files) {
    if (total <= bound) return;
    if (fs::remove(file.path, error)) total -= file.bytes;
  }
}

}  // namespace

fs::path cache_directory() {
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && *given == '/')
    return fs::path(given) / "foretrace";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "foretrace";
  return {};
}

std::uint64_t cache_bound() {
  std::uint64_t bytes = std::uint64_t{4} << 30;
  const char* given = std::getenv("FORETRACE_CACHE_BYTES");
  if (given == nullptr || *given == '\0') return bytes;
  const char* end = given + std::strlen(given);
  if (const auto [last, error] = std::from_chars(given, end, bytes); last != end || error != std::errc())
    throw InputError(fmt::format("FORETRACE_CACHE_BYTES={}: expected a number of bytes", given));
  return bytes;
}

std::optional<std::vector<std::byte>> cached(const std::string& name) {
  (void)cache_bound();  // what is wrong is said whether or not there is something in it
  const fs::path directory = cache_directory();
  if (directory.empty()) return std::nullopt;
  std::error_code error;
  fs::last_write_time(directory / name, fs::file_time_type::clock::now(), error);
  if (error) return std::nullopt;
  try {
    return read_file((directory / name).string());
  } catch (const InputError&) { return std::nullopt; }
}

void cache(const std::string& name, std::span<const std::byte> bytes) {
  const std::uint64_t bound = cache_bound();
  const fs::path directory = cache_directory();
  if (directory.empty()) return;
  if (bytes.size() > bound)
    return shrink(directory, bound);  // would drive out all others and not stay itself
  std::error_code error;
  fs::create_directories(directory, error);
  // A name that nobody else has: processes of two containers may have the same number.
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const fs::path part = directory / fmt::format("{}.{}.{}", name, getpid(), now);
  const int descriptor = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return;
  close(descriptor);
  bool written = false;
  {
    std::ofstream out(part, std::ios::binary);
    written = bool(out.write(reinterpret_cast<const char*>(bytes.data()),
                             static_cast<std::streamsize>(bytes.size()))) &&
              bool(out.flush());
  }
  // The kernel's own stamp may lie before that of a use a moment ago.
  if (written) fs::last_write_time(part, fs::file_time_type::clock::now(), error);
  if (written) fs::rename(part, directory / name, error);
  if (!written || error) fs::remove(part, error);
  shrink(directory, bound);
}

}  // namespace foretrace::frontend
