#include "sim/frontend/toolchain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <vector>

#include "model/units/error.h"
#include "sim/frontend/process.h"

namespace foretrace::frontend {
namespace {

namespace fs = std::filesystem;

bool can_run(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

/// bin directories of virtual environments above this program, nearest first.
std::vector<fs::path> environment_directories() {
  std::vector<fs::path> found;
  std::error_code error;
  fs::path directory = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (; !error && directory.has_relative_path(); directory = directory.parent_path()) {
    const fs::path libraries = directory / ".venv" / "lib";
    if (!fs::is_directory(libraries, error)) {
      error.clear();
      continue;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(libraries, error)) {
      if (entry.path().filename().string().compare(0, 7, "python3") == 0) {
        found.push_back(entry.path() / "site-packages" / "nvidia" / "cu13" / "bin");
      }
    }
    error.clear();
  }
  return found;
}

std::vector<fs::path> search_directories() {
  std::vector<fs::path> directories = environment_directories();
  if (const char* path = std::getenv("PATH")) {
    std::string rest = path;
    while (!rest.empty()) {
      const auto colon = rest.find(':');
      if (colon != 0) directories.emplace_back(rest.substr(0, colon));
      rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
  }
  directories.emplace_back("/usr/local/cuda/bin");
  return directories;
}

std::string version_of(const std::string& path) {
  const ProcessResult result = run_process({path, "--version"});
  static const std::regex kVersion(R"(V([0-9]+\.[0-9]+\.[0-9]+))");
  std::smatch match;
  return std::regex_search(result.output, match, kVersion) ? match[1].str() : std::string();
}

std::optional<Tool> find(const char* name, const char* variable) {
  if (const char* given = std::getenv(variable); given != nullptr && *given != '\0') {
    if (!can_run(given))
      throw InputError(fmt::format("{}={}: expected a program that can be run", variable, given));
    return Tool{given, version_of(given)};
  }
  for (const fs::path& directory : search_directories()) {
    const fs::path file = directory / name;
    if (can_run(file)) return Tool{file.string(), version_of(file.string())};
  }
  return std::nullopt;
}

}  // namespace

Toolchain find_toolchain() {
  return {find("nvcc", "FORETRACE_NVCC"), find("nvdisasm", "FORETRACE_NVDISASM"),
          find("ptxas", "FORETRACE_PTXAS")};
}

}  // namespace foretrace::frontend
