// Options that describe one launch on the command line; the same description as in a launch file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/app/kernel_options.h"
#include "sim/app/options.h"
#include "sim/frontend/launch/launch.h"

namespace foretrace::app {

struct LaunchOptions {
  std::string grid = "1", block = "1", cluster = "1";
  std::uint32_t shared = 0;
  std::vector<std::string> args, symbols, dumps;
  void add_to(options::options_description& description);
  /// --dump, of a command that runs the launch to its end.
  void add_dumps_to(options::options_description& description);
  /// The launch of `kernel` in `file`.
  frontend::LaunchDescription description(const std::string& file, const KernelOptions& kernel) const;
};

}  // namespace foretrace::app
