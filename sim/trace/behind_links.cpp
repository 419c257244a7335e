#include "sim/trace/behind_links.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::trace {

namespace fs = std::filesystem;

std::string behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux has it
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return path;
  fs::path file = path;
  for (int i = 0; i < kMostLinks; ++i) {
    const fs::path link = fs::read_symlink(file, error);
    if (error) return file.string();
    file = file.parent_path() / link;
  }
  throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(ELOOP)));
}

std::string partial_of(const std::string& path) { return fmt::format("{}.partial-{}", path, getpid()); }

void remove_left_over(const std::string& whole) {
  const fs::path path(whole);
  const std::string begin = path.filename().string() + ".partial-";
  std::error_code error;
  for (fs::directory_iterator at(path.parent_path().empty() ? "." : path.parent_path(), error), end;
       !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(begin)) continue;
    const std::string process = name.substr(begin.size());
    if (process.empty() || process.size() > 9 || process.find_first_not_of("0123456789") != std::string::npos)
      continue;
    // One that lives, and whose file this was after all, writes another.
    if (kill(std::stoi(process), 0) != 0 && errno == ESRCH) unlink(at->path().c_str());
  }
}

}  // namespace foretrace::trace
