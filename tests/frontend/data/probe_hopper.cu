// What sm_90 brought: clusters, asynchronous bulk copies, transaction barriers and, for sm_90a, warpgroup matrix
// instructions. Empty for sm_80.
#include <cooperative_groups.h>
#include <cuda.h>

#include <cstdint>

namespace cg = cooperative_groups;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clusters(int* out, int n) {
  __shared__ int values[64];
  const cg::cluster_group cluster = cg::this_cluster();
  values[threadIdx.x] = n;
  cluster.sync();
  const int* remote = cluster.map_shared_rank(values, 1);
  out[threadIdx.x] = remote[threadIdx.x] + static_cast<int>(cluster.num_threads() + cluster.block_rank());
  cluster.sync();
}

__global__ void bulk_copies(int* global, int n) {
  __shared__ alignas(128) int tile[256];
  __shared__ uint64_t barrier;
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  const auto waiting = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(waiting));
    asm volatile("fence.proxy.async;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(waiting), "r"(n));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address),
                 "l"(global), "r"(n), "r"(waiting));
  }
  int done = 0;
  while (!done) {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(waiting));
  }
  global[n + threadIdx.x] = tile[threadIdx.x];
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(address), "r"(n));
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
  asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;");
}

__global__ void tensor_maps(int* global, const __grid_constant__ CUtensorMap map, int n) {
  __shared__ alignas(128) int tile[256];
  __shared__ uint64_t barrier;
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  const auto waiting = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(address),
               "l"(&map), "r"(n), "r"(n + 1), "r"(waiting));
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(n), "r"(n + 1),
               "r"(address));
  global[0] = tile[n];
}
#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
__global__ void warpgroups(float* out, uint64_t a, uint64_t b, const uint32_t* registers) {
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(registers[0]), "r"(registers[1]), "r"(registers[2]), "r"(registers[3]), "l"(b));
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
#endif
