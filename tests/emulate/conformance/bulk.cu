// Bulk copies between global and shared memory (sm_90 and later): the library's own, and cp.async.bulk as PTX has it.
#include <cooperative_groups.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;

__device__ unsigned address_of(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

/// 4 KiB in one piece, waited for by all threads.
extern "C" __global__ void copies_in(const int* in, int* out) {
  __shared__ alignas(128) int box[1024];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, blockDim.x);
  block.sync();
  cuda::memcpy_async(block, box, in, cuda::aligned_size_t<16>(sizeof box), barrier);
  barrier.arrive_and_wait();
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) out[i] = box[1023 - i];
}

/// 256 words back to global memory, then added to, with the greatest of them and others.
extern "C" __global__ void copies_out(const int* in, int* out) {
  __shared__ alignas(128) int box[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) box[i] = in[i] * 2;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out), "r"(address_of(box)));
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 512;" ::"l"(out), "r"(address_of(box)));
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%0], [%1], 64;" ::"l"(out + 256), "r"(address_of(box)));
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;");
  }
}

/// Rank 0 copies 64 words to all blocks of its cluster of four; each waits at its own mbarrier.
extern "C" __global__ void __cluster_dims__(4, 1, 1) multicasts(const int* in, int* out) {
  __shared__ alignas(128) int box[64];
  __shared__ unsigned long long barrier;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&barrier)));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(address_of(&barrier)));
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(
                     address_of(box)),
                 "l"(in), "r"(address_of(&barrier)), "h"(static_cast<short>(0xf)));
  }
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(address_of(&barrier)));
  }
  out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x] + static_cast<int>(blockIdx.x);
  cluster.sync();
}

/// A copy of more than the buffer has.
extern "C" __global__ void runs_over(const int* in, int* out) {
  __shared__ alignas(128) int box[64];
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(address_of(box)), "r"(in[16] * 16));
}
