#include "sim/trace/behind_links.h"

#include <cerrno>
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

}  // namespace foretrace::trace
