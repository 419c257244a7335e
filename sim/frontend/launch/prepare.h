// Launches made ready for a machine that has a GPU and nothing else: cubins and the flat table, in one folder.
//
// Models:  one cubin for each different compilation (source, defines, options, template instance).
// Ignores: running them.
// Source:  docs/launch_files.md.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/frontend/launch/launch.h"
#include "sim/frontend/toolchain.h"

namespace foretrace::frontend {

/// Compiles every launch for sm_`sm`, checks its arguments against the kernel's parameters, and writes the cubins and
/// the table (`launches.txt`, paths relative to it) into `directory`, which is made if it is not there. Launches that
/// are expected to fault are left out. Throws InputError, ToolError with a compiler's own output.
void prepare_launches(const std::vector<LaunchDescription>& launches, int sm, const Toolchain& toolchain,
                      const std::filesystem::path& directory);

}  // namespace foretrace::frontend
