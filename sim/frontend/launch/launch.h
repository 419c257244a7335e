// A launch: a kernel with everything it needs to run, and what its answer should be.
//
// Models:  launch files (TOML) and the flat table for the harness, both as docs/launch_files.md says.
// Ignores: compiling, loading and running; whether a reference of that name exists.
// Source:  our own formats. Limits of grid and block: CUDA C++ Programming Guide, "Compute Capabilities",
//          "Technical Specifications per Compute Capability" (the same for 8.0, 9.0 and 12.0).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/units/launch_shape.h"
#include "sim/frontend/launch/argument.h"

namespace foretrace::frontend {

/// A buffer that is written to a file after the launch.
struct Dump {
  std::string buffer;
  std::filesystem::path file;
};

/// A buffer that is compared with the reference: an element passes if
/// |got - expected| <= absolute + relative * |expected|; if both are 0, if its bits are equal.
struct Check {
  std::string buffer;
  double relative = 0;
  double absolute = 0;
};

/// The fault with which a launch is expected to stop.
enum class ExpectedFault : std::uint8_t {
  none,
  out_of_bounds,
  misaligned,
  divergent_barrier,
  impossible_barrier,
  never_ends,
  trap,
  illegal_instruction
};

struct LaunchDescription : LaunchShape {
  std::string name;              ///< unique in the project
  std::filesystem::path source;  ///< the .cu file, resolved against the launch file's folder
  std::string kernel;            ///< as written in the source, or mangled
  std::vector<std::string> defines;
  std::string nvcc;  ///< further compiler options
  std::vector<Argument> arguments;
  std::vector<Symbol> symbols;
  std::vector<Dump> dumps;
  std::string reference;  ///< "" for none
  std::vector<Check> checks;
  std::string after;  ///< the launch that runs before on the same memory, "" for none
  ExpectedFault fault = ExpectedFault::none;

  std::uint64_t buffer_bytes() const;  ///< of all its arguments' buffers
};

/// The launches of a file, in its order. Throws InputError: one line that names file, line and key.
std::vector<LaunchDescription> load_launch_file(const std::filesystem::path& path);

/// Launch files by name: `path` itself if it is a file; of a directory every .toml in it and below it, sorted by path.
/// Throws InputError where there is neither, or none in it.
std::vector<std::filesystem::path> launch_files(const std::filesystem::path& path);

/// Asks what can be asked of a launch without its kernel: limits of grid, block and cluster; that the buffers
/// which its references, dumps and checks name exist, in it or in the launches that ran `before` it on the same
/// memory, and that no name stands twice. Throws InputError, one line that begins with `where`.
void check_launch(const LaunchDescription& launch, const std::vector<const LaunchDescription*>& before,
                  std::string_view where);

/// The launches that run before launches[index] on the same memory, by `after`, first to run first.
std::vector<const LaunchDescription*> launches_before(const std::vector<LaunchDescription>& launches,
                                                      std::size_t index);

/// "32", "32,8" or "32,8,4", x first; what is missing is 1. Throws InputError that begins with `what`.
Dim3 parse_extent(std::string_view text, std::string_view what);

/// Throws InputError where it is neither NAME nor NAME=VALUE.
void check_define(const std::string& define);

/// "NAME=FILE". Throws InputError that begins with "dump".
Dump parse_dump(std::string_view text);

std::string_view fault_name(ExpectedFault fault);

/// A launch whose kernel has been compiled.
struct ResolvedLaunch {
  const LaunchDescription* launch = nullptr;
  std::string cubin;    ///< its path, "" while not compiled
  std::string mangled;  ///< the kernel's mangled name in it
};

/// The flat table of docs/launch_files.md. Paths are written relative to `base` unless that is empty.
std::string flat_table(const std::vector<ResolvedLaunch>& launches, const std::filesystem::path& base = {});

}  // namespace foretrace::frontend
