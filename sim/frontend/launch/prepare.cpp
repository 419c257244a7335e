#include "sim/frontend/launch/prepare.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "model/units/error.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/cubin.h"
#include "sim/frontend/launch/parameters.h"
#include "sim/frontend/names.h"

namespace foretrace::frontend {
namespace {

/// What makes two compilations different.
using Key = std::tuple<std::string, std::vector<std::string>, std::string, std::string>;

struct Compilation {
  std::string file;  // in the folder
  Cubin cubin;
};

bool is_instance(const std::string& kernel) { return kernel.find('<') != std::string::npos; }

Key key_of(const LaunchDescription& launch) {
  return {launch.source.string(), launch.defines, launch.nvcc,
          is_instance(launch.kernel) ? launch.kernel : ""};
}

/// A file name that says what was compiled: sgemm_tiled-TILE_16.cubin.
std::string file_name(const LaunchDescription& launch, std::set<std::string>& taken) {
  std::string stem = launch.source.stem().string();
  for (const std::string& define : launch.defines) stem += "-" + define;
  if (!launch.nvcc.empty()) stem += "-" + launch.nvcc;
  if (is_instance(launch.kernel)) stem += "-" + launch.kernel;
  for (char& c : stem) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!plain) c = '_';
  }
  std::string name = stem + ".cubin";
  for (int number = 2; !taken.insert(name).second; ++number) name = fmt::format("{}-{}.cubin", stem, number);
  return name;
}

void write_file(const std::filesystem::path& path, std::span<const char> contents) {
  std::ofstream file(path, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.close();
  if (!file) throw InputError(fmt::format("cannot write '{}'", path.string()));
}

Compilation compile_launch(const LaunchDescription& launch, int sm, const Toolchain& toolchain,
                           const std::filesystem::path& directory, std::set<std::string>& taken) {
  const Compiled compiled = compile({launch.source.string(), sm, launch.defines, split_options(launch.nvcc),
                                     is_instance(launch.kernel) ? launch.kernel : ""},
                                    toolchain);
  Compilation made{file_name(launch, taken), read_cubin(compiled.cubin, launch.source.string(), sm)};
  write_file(directory / made.file,
             {reinterpret_cast<const char*>(compiled.cubin.data()), compiled.cubin.size()});
  return made;
}

const isa::Program& find_kernel(const Cubin& cubin, const LaunchDescription& launch) {
  std::vector<std::string> symbols;
  for (const KernelImage& kernel : cubin.kernels) symbols.push_back(kernel.program.mangled);
  const auto found = match_kernels(symbols, launch.kernel, false, launch.source.string());
  return cubin.kernels[found.front()].program;
}

}  // namespace

void prepare_launches(const std::vector<LaunchDescription>& launches, int sm, const Toolchain& toolchain,
                      const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw InputError(fmt::format("cannot make '{}': {}", directory.string(), error.message()));
  std::map<Key, Compilation> compilations;
  std::set<std::string> taken;
  std::vector<ResolvedLaunch> resolved;
  for (const LaunchDescription& launch : launches) {
    if (launch.fault != ExpectedFault::none) continue;
    auto at = compilations.find(key_of(launch));
    if (at == compilations.end()) {
      at =
          compilations.emplace(key_of(launch), compile_launch(launch, sm, toolchain, directory, taken)).first;
    }
    const isa::Program& program = find_kernel(at->second.cubin, launch);
    check_parameters(launch, program);
    resolved.push_back({&launch, at->second.file, program.mangled});
  }
  const std::string table = flat_table(resolved, directory);
  write_file(directory / "launches.txt", table);
}

}  // namespace foretrace::frontend
