// Launch files below some folders, and each launch in them by its name.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/frontend/launch/launch.h"

namespace foretrace::app {

/// A launch and the file that describes it.
struct IndexedLaunch {
  frontend::LaunchDescription launch;
  std::string file;  ///< relative to the folder above the one searched: "suite/scan/blelloch.toml"
};

class LaunchIndex {
 public:
  /// Searches the folders and all below them. Throws InputError where one is missing or two launches have one name.
  explicit LaunchIndex(const std::vector<std::string>& folders);
  /// Throws InputError where there is no launch of that name.
  const IndexedLaunch& at(const std::string& name) const;
  /// All launches, in the order of their files.
  const std::vector<IndexedLaunch>& all() const { return launches_; }
  /// The launches that run before this one on the same memory, first to run first.
  std::vector<const IndexedLaunch*> before(const IndexedLaunch& launch) const;

 private:
  std::vector<IndexedLaunch> launches_;
  std::map<std::string, std::size_t> by_name_;
};

}  // namespace foretrace::app
