// The front end on one page: a source or a cubin, a kernel's name, an architecture -> kernels ready to be launched.
#pragma once

#include <string>
#include <vector>

#include "sim/frontend/module.h"
#include "sim/frontend/toolchain.h"

namespace foretrace::frontend {

struct LoadRequest {
  /// CUDA source (.cu, .cuh), or a cubin. A cubin's disassembly is made by nvdisasm, or, where there is none, read from
  /// the file beside it whose name has ".sass" added (vector_add.cubin.sass: the output of `nvdisasm -c -hex -gi`).
  std::string file;
  int sm = 0;                        ///< 80, 90, 120; 0: that of the cubin (a source needs one)
  std::string kernel;                ///< a name as in names.h; "" when the file has one kernel only
  bool regex = false;                ///< `kernel` is a pattern: all kernels that match
  std::vector<std::string> defines;  ///< for nvcc: "NAME" or "NAME=VALUE"
  std::vector<std::string> options;  ///< for nvcc
};

/// At least one kernel, in order of the cubin's sections. Throws InputError (ToolError with a compiler's output).
std::vector<LoadedKernel> load_kernels(const LoadRequest& request, const Toolchain& toolchain);

/// The names of all kernels that the file has, as written in the source; no disassembly is needed for a cubin.
std::vector<std::string> list_kernels(const LoadRequest& request, const Toolchain& toolchain);

}  // namespace foretrace::frontend
