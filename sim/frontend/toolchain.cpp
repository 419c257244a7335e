#include "sim/frontend/toolchain.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string_view>
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

/// The library that this code is in, else the program.
fs::path this_file(std::error_code& error) {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&can_run), &self) != 0 && self.dli_fname != nullptr &&
      std::string_view(self.dli_fname).find(".so") != std::string_view::npos) {
    return fs::canonical(self.dli_fname, error);
  }
  return fs::read_symlink("/proc/self/exe", error);
}

/// bin directories of virtual environments above it, nearest first.
std::vector<fs::path> environment_directories() {
  std::vector<fs::path> found;
  std::error_code error;
  fs::path directory = this_file(error).parent_path();
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
    Tool tool{given, version_of(given)};
    if (tool.version.empty()) {
      throw InputError(
          fmt::format("{}={}: expected NVIDIA's {}, whose --version names its release (V13.0.88)", variable,
                      given, name));
    }
    return tool;
  }
  for (const fs::path& directory : search_directories()) {
    const fs::path file = directory / name;
    if (can_run(file)) return Tool{file.string(), version_of(file.string())};
  }
  return std::nullopt;
}

/// What the process has loaded lies in these folders of Python packages.
std::vector<fs::path> loaded_packages() {
  std::vector<fs::path> found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* to) {
        auto& packages = *static_cast<std::vector<fs::path>*>(to);
        constexpr std::string_view kFolder = "/site-packages/";
        const std::string_view name = library->dlpi_name == nullptr ? "" : library->dlpi_name;
        const auto at = name.find(kFolder);
        if (at == std::string_view::npos) return 0;
        const fs::path package = name.substr(0, at + kFolder.size());
        if (std::find(packages.begin(), packages.end(), package) == packages.end())
          packages.push_back(package);
        return 0;
      },
      &found);
  return found;
}

/// "13.0.88" as numbers, which compare as versions do.
std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> numbers;
  std::istringstream text(version);
  for (std::string part; std::getline(text, part, '.');) numbers.push_back(std::atoi(part.c_str()));
  return numbers;
}

}  // namespace

std::optional<Tool> newer_ptxas(const Tool& than) {
  std::vector<fs::path> directories = search_directories();
  for (const fs::path& package : loaded_packages()) {
    for (const char* part : {"nvidia/cu13/bin", "nvidia/cuda_nvcc/bin", "triton/backends/nvidia/bin"})
      directories.push_back(package / part);
  }
  std::optional<Tool> newest;
  for (const fs::path& directory : directories) {
    const fs::path file = directory / "ptxas";
    if (!can_run(file)) continue;
    Tool tool{file.string(), version_of(file.string())};
    if (numbers_of(tool.version) > numbers_of(newest ? newest->version : than.version))
      newest = std::move(tool);
  }
  return newest;
}

Toolchain find_toolchain() {
  return {find("nvcc", "FORETRACE_NVCC"), find("nvdisasm", "FORETRACE_NVDISASM"),
          find("ptxas", "FORETRACE_PTXAS")};
}

}  // namespace foretrace::frontend
