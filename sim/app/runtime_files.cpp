#include "sim/app/runtime_files.h"

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::app {

namespace fs = std::filesystem;

fs::path runtime_directory() {
  const fs::path binary = fs::read_symlink("/proc/self/exe");
  const fs::path directory = (binary.parent_path() / "../lib/foretrace").lexically_normal();
  if (!fs::is_regular_file(directory / "libcudart.so.13")) {
    throw InputError(fmt::format(
        "{}: not there; foretrace was built without it or without the CUDA headers (scripts/setup "
        "installs them; cmake --preset release && cmake --build --preset release builds it)",
        (directory / "libcudart.so.13").string()));
  }
  return directory;
}

}  // namespace foretrace::app
