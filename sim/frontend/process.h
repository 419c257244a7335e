// Running another program and collecting what it printed; no shell is involved. Directories that vanish again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace foretrace::frontend {

struct ProcessResult {
  int status = 0;      ///< exit status; 128 + n when signal n ended it
  std::string output;  ///< standard output
  std::string errors;  ///< standard error
};

/// Runs arguments[0] (a path) to its end. Throws InputError when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments);

/// A fresh directory under the system's temporary directory, removed with all it holds at the end of its life.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace foretrace::frontend
