// What a kernel needs, and how many of its blocks an SM holds, as host and device code ask.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "model/rules/occupancy.h"

namespace foretrace::runtime {

class Kernel;
struct State;

rules::KernelResources resources_of(const Kernel& kernel, std::uint32_t threads,
                                    std::uint64_t dynamic_shared);
/// The largest block, in threads, that the kernel's registers and launch bounds allow.
int most_threads(const State& s, const Kernel& kernel);
/// Blocks of so many threads that an SM holds, as launches are predicted; `dynamic_shared` in bytes.
int active_blocks_of(const State& s, const Kernel& kernel, int threads, std::uint64_t dynamic_shared);
cudaFuncAttributes attributes_of(const State& s, Kernel& kernel);

}  // namespace foretrace::runtime
