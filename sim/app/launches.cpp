// foretrace launches: what launch files hold, and the flat table that the harness on a GPU reads.

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "model/config/load.h"
#include "model/units/error.h"
#include "sim/app/kernel_options.h"
#include "sim/app/options.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/cubin.h"
#include "sim/frontend/launch/launch.h"
#include "sim/frontend/load.h"
#include "sim/report/json.h"

namespace foretrace::app {

namespace {

/// The launch's machine code: its source compiled for `sm`, or the cubin that stands in the source's place.
std::vector<std::byte> code_of(const frontend::LaunchDescription& launch, int sm,
                               const frontend::Toolchain& toolchain) {
  if (launch.source.extension() == ".cubin") return frontend::read_file(launch.source.string());
  frontend::CompileRequest request;
  request.source = launch.source.string();
  request.sm = sm;
  request.defines = launch.defines;
  request.options = frontend::split_options(launch.nvcc);
  request.instance = launch.kernel.find('<') == std::string::npos ? std::string() : launch.kernel;
  return frontend::compile(request, toolchain).cubin;
}

/// Puts a launch's cubin into `directory`, under its source's name and eight digits of its content's SHA-256: equal ones are one file.
frontend::ResolvedLaunch resolve(const frontend::LaunchDescription& launch, int sm,
                                 const std::filesystem::path& directory,
                                 const frontend::Toolchain& toolchain) {
  const std::vector<std::byte> cubin = code_of(launch, sm, toolchain);
  const std::filesystem::path path =
      directory / fmt::format("{}-{}.sm_{}.cubin", launch.source.stem().string(),
                              frontend::sha256_hex(cubin).substr(0, 8), sm);
  report::write_file(path.string(), {reinterpret_cast<const char*>(cubin.data()), cubin.size()});
  frontend::LoadRequest load;
  load.file = path.string();
  load.sm = sm;
  load.kernel = launch.kernel;
  return {&launch, path.string(), frontend::load_kernels(load, toolchain).front().program.mangled};
}

}  // namespace

int launches(const Words& words) {
  KernelOptions kernel;
  std::string emit, cubins;
  int sm = 90;
  options::options_description known("options");
  kernel.add_names_to(known);
  known.add_options()("emit", result_file_or_output(&emit),
                      "write the flat table to this file (-: standard output)")(
      "cubins", options::value(&cubins)->value_name("DIR"),
      "compile each launch for --sm and put the cubins into this directory")(
      "sm", options::value(&sm)->value_name("N")->default_value(sm),
      "machine code of the cubins: 80, 90 or 120");
  options::variables_map values;
  if (!parse(words, "launches [FILE.toml | DIR]... [--emit FILE --cubins DIR --sm N]", known, "file", values))
    return 0;
  if (emit.empty())
    refuse_given(values, {"cubins", "sm"}, "no --emit: cubins belong to its table; expected both");
  if (cubins.empty()) refuse_given(values, {"sm"}, "no --cubins: it is their machine code; expected both");
  std::vector<std::string> places;
  if (values.count("file")) {
    places = values["file"].as<std::vector<std::string>>();
  } else {  // everything that is measured: the examples and the suite
    const std::filesystem::path validate = config::config_directory().parent_path() / "validate";
    places = {(validate / "kernels").string(), (validate / "suite").string()};
  }
  std::vector<frontend::LaunchDescription> all;
  std::map<std::string, std::filesystem::path> file_of;  // by launch name
  for (const std::string& place : places) {
    for (const std::filesystem::path& file : frontend::launch_files(place)) {
      for (auto& launch : frontend::load_launch_file(file)) {
        if (!kernel.matches(launch.kernel)) continue;
        const auto [known_name, is_new] = file_of.emplace(launch.name, file);
        if (!is_new) {
          throw InputError(fmt::format("{}: launch '{}' is in {} as well; expected a name of its own",
                                       file.string(), launch.name, known_name->second.string()));
        }
        all.push_back(std::move(launch));
      }
    }
  }
  if (all.empty()) {
    throw InputError(fmt::format("{}: no launch of a kernel '{}'", places.front(),
                                 kernel.regex.empty() ? kernel.name : kernel.regex));
  }
  if (emit.empty()) {
    for (const auto& launch : all) {
      std::cout << fmt::format("{:<32} {:<28} grid {},{},{} block {},{},{}\n", launch.name, launch.kernel,
                               launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
                               launch.block.z);
    }
    return 0;
  }
  const frontend::Toolchain toolchain = frontend::find_toolchain();
  std::vector<frontend::ResolvedLaunch> resolved;
  if (!cubins.empty()) std::filesystem::create_directories(cubins);
  for (const auto& launch : all) {
    if (cubins.empty()) {
      resolved.push_back({&launch, "", ""});
    } else {
      resolved.push_back(resolve(launch, sm, cubins, toolchain));
    }
  }
  const std::filesystem::path base =
      emit == "-" ? std::filesystem::path() : std::filesystem::path(emit).parent_path();
  const std::string table = frontend::flat_table(resolved, base);
  if (emit == "-") {
    std::cout << table;
  } else {
    report::write_file(emit, table);
  }
  return 0;
}

}  // namespace foretrace::app
