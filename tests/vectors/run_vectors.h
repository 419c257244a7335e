// Runs the instruction vectors in the emulator: a kernel of validate/vectors' table, or a sweep over a special function.
//
// Models:  the launches of validate/vectors/runner.cu: blocks of 128 threads (sweeps: 256), the same operands and parameters.
// Ignores: time.
// Source:  validate/vectors/table.h and operands.h, which the device's runner includes too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/frontend/load.h"
#include "validate/vectors/special.h"
#include "validate/vectors/table.h"

namespace foretrace::vectors {

/// All kernels of one cubin, by name. The disassembly is the file beside it. Throws InputError.
std::map<std::string, frontend::LoadedKernel> load_cubin(const std::string& path);

/// The answer words, out[word * tuples + tuple]. Throws KernelFault.
std::vector<std::uint32_t> run_kernel(const frontend::LoadedKernel& loaded, const VectorKernel& kernel);

/// The answers of tuples [0, count) of a sweep. Throws KernelFault.
std::vector<std::uint32_t> run_sweep(const frontend::LoadedKernel& loaded, const Sweep& sweep);

/// FNV-1a of the answers' bytes: how the answers of a sweep are kept.
std::uint64_t hash_of(const std::vector<std::uint32_t>& answers);

}  // namespace foretrace::vectors
