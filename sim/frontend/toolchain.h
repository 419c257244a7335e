// Where nvcc, nvdisasm and ptxas are. All may be absent: a cubin with its disassembly beside it needs none.
//
// Searched, in this order: the environment (FORETRACE_NVCC, FORETRACE_NVDISASM,
// FORETRACE_PTXAS: a file's path), a virtual environment
// `.venv` in one of the directories above this program (lib/python3*/site-packages/nvidia/cu13/bin), PATH, and
// /usr/local/cuda/bin.
#pragma once

#include <optional>
#include <string>

namespace foretrace::frontend {

struct Tool {
  std::string path;
  std::string version;  ///< "13.0.88"; "" when it does not say
};

struct Toolchain {
  std::optional<Tool> nvcc;
  std::optional<Tool> nvdisasm;
  std::optional<Tool> ptxas;
};

/// Throws InputError when an environment variable names a file that cannot be run.
Toolchain find_toolchain();

/// The newest ptxas that is newer than `than`: where a toolchain is searched, or beside what the process has loaded from Python's packages
/// (site-packages: nvidia's compiler, Triton). A program's NVRTC may write PTX that the ptxas of this machine's toolkit does not know.
std::optional<Tool> newer_ptxas(const Tool& than);

}  // namespace foretrace::frontend
