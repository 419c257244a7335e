// The commands that the Python package has: this program hands its words to it.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sim/app/commands.h"

namespace foretrace::app {

struct PackageCommand {
  std::string_view name, summary;
};
inline constexpr std::array<PackageCommand, 4> kPackageCommands{{
    {"sweep", "many predictions, resumable: kernels or traces, chips, changed keys"},
    {"sensitivity", "how much each number of a chip moves a launch, and the error band"},
    {"optimise", "which combinations of a chip's numbers are worth their cost"},
    {"baseline", "performance tests: launches and programs against a committed baseline"},
}};

/// Becomes `python3 -m foretrace COMMAND WORDS`, with this program as the one that predicts and the package beside it, where there is one. Throws
/// InputError where there is no python3; where it has no package, python3 says so and ends with 2.
[[noreturn]] void hand_to_package(std::string_view command, const Words& words);

}  // namespace foretrace::app
