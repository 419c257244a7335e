// Which SMs share a GPC, found out by launching clusters: a cluster's blocks run in one GPC.
//
// Models:  groups of SM numbers; SMs that a cluster held together once are in one group.
// Ignores: what lies between SM and GPC (TPCs are SMs 2k and 2k+1: see request_merging).
// Source:  CUDA C Programming Guide, thread block clusters (compute capability 9.0 and later).
#pragma once

#include "bench.cuh"

namespace bench {

static __global__ void note_cluster(unsigned* out) {
  extern __shared__ char whole_sm[];  // one block per SM
  if (threadIdx.x == 0) out[blockIdx.x] = sm_id() + (whole_sm == nullptr);
}

/// The GPC of each SM, numbered by the first SM of each; every SM in a GPC of its own where there are no clusters.
inline std::vector<int> gpc_of_sms() {
  const int sms = device().multiProcessorCount;
  std::vector<int> group(static_cast<std::size_t>(sms));
  std::iota(group.begin(), group.end(), 0);
  const auto find = [&](int i) {
    while (group[static_cast<std::size_t>(i)] != i) i = group[static_cast<std::size_t>(i)];
    return i;
  };
  Buffer<unsigned> out(static_cast<std::size_t>(sms));
  const int shared = 120 * 1024;
  if (cudaFuncSetAttribute(note_cluster, cudaFuncAttributeMaxDynamicSharedMemorySize, shared) != cudaSuccess)
    return group;
  for (int repeat = 0; repeat < 40; ++repeat) {
    for (unsigned size : {2u, 4u, 6u, 8u}) {
      cudaLaunchConfig_t config = {};
      cudaLaunchAttribute attribute;
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = size;
      attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
      const unsigned blocks = static_cast<unsigned>(sms) / size * size;
      config.gridDim = dim3(blocks);
      config.blockDim = dim3(32);
      config.dynamicSmemBytes = static_cast<std::size_t>(shared);
      config.attrs = &attribute;
      config.numAttrs = 1;
      if (cudaLaunchKernelEx(&config, note_cluster, out.get()) != cudaSuccess) {
        cudaGetLastError();
        continue;
      }
      CHECK(cudaDeviceSynchronize());
      const std::vector<unsigned> at = out.download(blocks);
      for (unsigned b = 0; b < blocks; ++b) {
        const int first = find(static_cast<int>(at[b / size * size])), second = find(static_cast<int>(at[b]));
        group[static_cast<std::size_t>(std::max(first, second))] = std::min(first, second);
      }
    }
  }
  for (int i = 0; i < sms; ++i) group[static_cast<std::size_t>(i)] = find(i);
  return group;
}

}  // namespace bench
