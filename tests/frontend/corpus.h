// The committed corpus (data/corpus.sm_*.cubin and .sass), read once per test.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/frontend/cubin.h"

namespace foretrace::frontend {

inline constexpr int kArchitectures[] = {80, 90, 120};

inline std::string data_path(const std::string& name) {
  return std::string(FORETRACE_SOURCE_DIR) + "/tests/frontend/data/" + name;
}
inline std::string corpus_path(int sm) { return data_path(fmt::format("corpus.sm_{}.cubin", sm)); }

inline std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Cubin corpus_cubin(int sm) { return read_cubin(read_file(corpus_path(sm)), "corpus", sm); }
inline std::string corpus_disassembly(int sm) { return text_of(read_file(corpus_path(sm) + ".sass")); }

inline const KernelImage& kernel_named(const Cubin& cubin, const std::string& name) {
  for (const KernelImage& kernel : cubin.kernels) {
    if (kernel.program.kernel == name) return kernel;
  }
  throw std::runtime_error("the corpus has no kernel " + name);
}

/// The message of the error of type E that `action` throws; "no error" when it throws none.
template <typename E, typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) { return error.what(); }
  return "no error";
}

}  // namespace foretrace::frontend
