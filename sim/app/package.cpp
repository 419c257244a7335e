#include "sim/app/package.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <unistd.h>

#include "model/config/load.h"
#include "model/units/error.h"

namespace foretrace::app {

namespace {

namespace fs = std::filesystem;

/// `-m foretrace` with one line where the package is missing or another version's. The current folder is no place for packages.
constexpr const char* kStart = R"(import sys
sys.path = [folder for folder in sys.path if folder]
try:
    import foretrace.__main__ as package
    known = sys.argv[1] in package.OWN
except (ImportError, AttributeError, SyntaxError):
    known = False
if not known:
    sys.stderr.write(f"foretrace: {sys.argv[1]}: a command of the Python package foretrace, which this python3 ({sys.version.split()[0]}) does not have; "
                     "expected Python 3.11 or later and `pip install .` in a checkout of foretrace\n")
    sys.exit(2)
sys.exit(package.main())
)";

/// Behind what the user names: the package that was installed, or checked out, with this program.
void add_package_beside() {
  std::error_code error;
  const fs::path folder = (config::config_directory() / "../python").lexically_normal();
  if (!fs::is_regular_file(folder / "foretrace/__main__.py", error)) return;
  const char* before = std::getenv("PYTHONPATH");
  const std::string now =
      before == nullptr || *before == '\0' ? folder.string() : before + (":" + folder.string());
  setenv("PYTHONPATH", now.c_str(), 1);
}

}  // namespace

void hand_to_package(std::string_view command, const Words& words) {
  setenv("FORETRACE", fs::read_symlink("/proc/self/exe").c_str(), 1);
  add_package_beside();
  std::vector<std::string> all{"python3", "-c", kStart, std::string(command)};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  arguments.reserve(all.size() + 1);
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp("python3", arguments.data());
  throw InputError(std::string(command) +
                   ": a command of the Python package foretrace; expected a python3 (3.11 or later) in PATH");
}

}  // namespace foretrace::app
