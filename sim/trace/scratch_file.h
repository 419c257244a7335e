// A temporary file of our own.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::trace {

/// A file of our own that is gone afterwards.
class ScratchFile {
 public:
  ScratchFile() {
    std::string name = (std::filesystem::temp_directory_path() / "foretrace-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file < 0) throw InputError(fmt::format("{}: cannot be made; TMPDIR says where", name));
    close(file);
    path_ = name;
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace foretrace::trace
