#include "sim/runtime/device/occupancy.h"

#include <algorithm>

#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

rules::KernelResources resources_of(const Kernel& kernel, std::uint32_t threads,
                                    std::uint64_t dynamic_shared) {
  const isa::Program& program = kernel.image().program;
  rules::KernelResources needed;
  needed.threads = threads;
  needed.registers = program.registers;
  needed.static_shared = program.static_shared;
  needed.dynamic_shared = dynamic_shared;
  needed.barriers = program.barriers;
  needed.carveout_percent = kernel.settings.carveout;
  return needed;
}

int most_threads(const State& s, const Kernel& kernel) {
  const isa::Program& program = kernel.image().program;
  std::uint32_t threads = s.spec->limits.threads_per_block;
  if (program.max_threads != 0) threads = std::min(threads, program.max_threads);
  while (threads > static_cast<std::uint32_t>(kWarpSize) &&
         rules::occupancy(*s.spec, resources_of(kernel, threads, 0)).limit_registers == 0) {
    threads -= static_cast<std::uint32_t>(kWarpSize);
  }
  return static_cast<int>(threads);
}

int active_blocks_of(const State& s, const Kernel& kernel, int threads, std::uint64_t dynamic_shared) {
  if (threads > most_threads(s, kernel)) return 0;
  return static_cast<int>(
      rules::occupancy(*s.spec, resources_of(kernel, static_cast<std::uint32_t>(threads), dynamic_shared))
          .blocks);
}

cudaFuncAttributes attributes_of(const State& s, Kernel& kernel) {
  const isa::Program& program = kernel.image().program;
  cudaFuncAttributes attributes{};
  attributes.sharedSizeBytes = program.static_shared;
  attributes.constSizeBytes = kernel.module().cubin().module->constant3.size();
  attributes.localSizeBytes = program.local_bytes;
  attributes.maxThreadsPerBlock = most_threads(s, kernel);
  attributes.numRegs = static_cast<int>(program.registers);
  attributes.binaryVersion = program.sm;
  attributes.ptxVersion = kernel.module().cubin().module->virtual_sm;
  attributes.maxDynamicSharedSizeBytes = static_cast<int>(kernel.settings.max_dynamic_shared);
  attributes.preferredShmemCarveout = kernel.settings.carveout;
  const bool fixed = program.cluster[0] != 0;
  attributes.clusterDimMustBeSet = 0;
  attributes.requiredClusterWidth =
      static_cast<int>(fixed ? program.cluster[0] : kernel.settings.required_cluster.x);
  attributes.requiredClusterHeight =
      static_cast<int>(fixed ? program.cluster[1] : kernel.settings.required_cluster.y);
  attributes.requiredClusterDepth =
      static_cast<int>(fixed ? program.cluster[2] : kernel.settings.required_cluster.z);
  attributes.clusterSchedulingPolicyPreference = kernel.settings.cluster_scheduling;
  attributes.nonPortableClusterSizeAllowed = kernel.settings.non_portable_cluster ? 1 : 0;
  return attributes;
}

}  // namespace foretrace::runtime
