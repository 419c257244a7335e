// prepare_launches SM DIRECTORY LAUNCH_FILE...: cubins and the flat table for the harness (docs/launch_files.md).
#include <fmt/format.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "model/units/error.h"
#include "sim/frontend/launch/prepare.h"

namespace {

using namespace foretrace;

int prepare(const std::vector<std::string>& words) {
  if (words.size() < 3 || (words[0] != "80" && words[0] != "90" && words[0] != "120")) {
    throw InputError("expected: prepare_launches 80|90|120 DIRECTORY LAUNCH_FILE...");
  }
  std::vector<frontend::LaunchDescription> launches;
  std::set<std::string> names;
  for (std::size_t i = 2; i < words.size(); ++i) {
    for (frontend::LaunchDescription& launch : frontend::load_launch_file(words[i])) {
      if (!names.insert(launch.name).second) {
        throw InputError(
            fmt::format("{}: a launch of another file is named '{}' too", words[i], launch.name));
      }
      launches.push_back(std::move(launch));
    }
  }
  frontend::prepare_launches(launches, std::stoi(words[0]), frontend::find_toolchain(), words[1]);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return prepare({words + 1, words + count});
  } catch (const foretrace::ToolError& error) {
    fmt::print(stderr, "prepare_launches: {}\n{}\n", error.what(), error.output());
  } catch (const foretrace::InputError& error) {
    fmt::print(stderr, "prepare_launches: {}\n", error.what());
  }
  return 2;
}
