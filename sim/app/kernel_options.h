// Options that say which kernel of which file, and how it is compiled.
#pragma once

#include <string>
#include <vector>

#include "sim/app/options.h"
#include "sim/frontend/launch/launch.h"
#include "sim/frontend/load.h"

namespace foretrace::app {

struct KernelOptions {
  std::string name;   ///< --kernel
  std::string regex;  ///< --kernel-regex
  std::string nvcc;
  std::vector<std::string> define;
  void add_to(options::options_description& description);
  /// Those that say which kernel, of a command that compiles none.
  void add_names_to(options::options_description& description);
  /// Throws InputError when both a name and a pattern were given.
  frontend::LoadRequest request(const std::string& file, int sm) const;
  /// Whether a kernel of a launch file is meant: the same name, a match of the pattern, or neither was given.
  bool matches(const std::string& kernel) const;
  /// The launches of a launch file whose kernel is meant, by number. Throws InputError where there is none.
  std::vector<std::size_t> among(const std::vector<frontend::LaunchDescription>& launches,
                                 const std::string& file) const;
};

/// The one file that a command takes. Throws InputError when there is none or more than one.
std::string one_file(const options::variables_map& values, const std::string& expected);

}  // namespace foretrace::app
