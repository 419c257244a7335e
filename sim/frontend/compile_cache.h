// The cache of compilations: two files per entry, found through a manifest of what the compiler read. See compile.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/frontend/compile.h"

namespace foretrace::frontend {

class CompileCache {
 public:
  /// `request` is everything of the request that is no file content: options, versions, paths.
  explicit CompileCache(const std::string& request);

  std::optional<Compiled> find() const;

  /// `dependencies`: files that the compiler read; `directories`: where it looks up #includes.
  void store(const Compiled& compiled, const std::vector<std::string>& dependencies,
             const std::vector<std::string>& directories) const;

 private:
  std::string request_hash_;
};

/// The prerequisites in a make rule, as `nvcc -MD` writes it.
std::vector<std::string> make_dependencies(const std::string& rule);

}  // namespace foretrace::frontend
