#include "sim/app/launch_index.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::app {

LaunchIndex::LaunchIndex(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::filesystem::path above = std::filesystem::weakly_canonical(folder).parent_path();
    for (const std::filesystem::path& file : frontend::launch_files(folder)) {
      for (auto& launch : frontend::load_launch_file(file)) {
        const auto [found, is_new] = by_name_.emplace(launch.name, launches_.size());
        if (!is_new) {
          throw InputError(fmt::format("{}: launch {} stands in {} as well; expected each name once",
                                       file.string(), launch.name, launches_[found->second].file));
        }
        launches_.push_back(
            {std::move(launch), std::filesystem::weakly_canonical(file).lexically_relative(above).string()});
      }
    }
  }
}

const IndexedLaunch& LaunchIndex::at(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) throw InputError(fmt::format("launch {}: in none of the launch files", name));
  return launches_[found->second];
}

std::vector<const IndexedLaunch*> LaunchIndex::before(const IndexedLaunch& launch) const {
  std::vector<const IndexedLaunch*> earlier;
  for (const IndexedLaunch* each = &launch; !each->launch.after.empty();) {
    earlier.push_back(each = &at(each->launch.after));
    if (earlier.size() > launches_.size())
      throw InputError(fmt::format("launch {}: comes after itself", launch.launch.name));
  }
  std::reverse(earlier.begin(), earlier.end());
  return earlier;
}

}  // namespace foretrace::app
