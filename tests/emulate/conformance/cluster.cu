// Kernels whose blocks form clusters (sm_90 and later): barriers, distributed shared memory, remote mbarriers, special registers.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/// out[i] = in[j] of the thread of the same number in the cluster's next block.
extern "C" __global__ void __cluster_dims__(4, 1, 1) rotate(const int* in, int* out) {
  __shared__ int mine[64];
  cg::cluster_group cluster = cg::this_cluster();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  mine[threadIdx.x] = in[i];
  cluster.sync();
  const int* theirs = cluster.map_shared_rank(mine, (cluster.block_rank() + 1) % cluster.num_blocks());
  out[i] = theirs[threadIdx.x];
  cluster.sync();
}

/// All blocks add to the histogram of rank 0; rank 0 writes it out. Cluster size from the launch.
extern "C" __global__ void histogram(const int* in, int* out) {
  __shared__ int bins[8];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  cluster.sync();
  int* first = cluster.map_shared_rank(bins, 0);
  atomicAdd(first + (in[blockIdx.x * blockDim.x + threadIdx.x] & 7), 1);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x < 8) {
    out[blockIdx.x / cluster.num_blocks() * 8 + threadIdx.x] = bins[threadIdx.x];
  }
}

/// What each block says of its place; two-dimensional clusters.
extern "C" __global__ void __cluster_dims__(2, 3, 1) places(const int*, int* out) {
  unsigned x, y, nx, ny, rank, blocks, cx, cy;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(x));
  asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(y));
  asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(nx));
  asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(ny));
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(cx));
  asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(cy));
  int* o = out + (blockIdx.y * gridDim.x + blockIdx.x) * 8;
  o[0] = x, o[1] = y, o[2] = nx, o[3] = ny, o[4] = rank, o[5] = blocks, o[6] = cx, o[7] = cy;
}

/// Rank 0 sends each of its words to rank 1 with st.async; rank 1 waits at its mbarrier for the bytes.
extern "C" __global__ void __cluster_dims__(2, 1, 1) sends(const int* in, int* out) {
  __shared__ int box[32];
  __shared__ unsigned long long barrier;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(address));
  }
  cluster.sync();
  if (cluster.block_rank() == 0) {
    unsigned data, remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(data) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(box + threadIdx.x))));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(remote) : "r"(address));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(data), "r"(in[threadIdx.x] * 3), "r"(remote));
  } else {
    unsigned done = 0;
    while (done == 0) {
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(address));
    }
    out[threadIdx.x] = box[threadIdx.x];
  }
  cluster.sync();
}

/// Without the last barrier rank 1 may read the memory of a block that has ended.
extern "C" __global__ void __cluster_dims__(2, 1, 1) leaves_early(const int*, int* out) {
  __shared__ int mine[4];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x & 3] = 1;
  cluster.sync();
  if (cluster.block_rank() == 0) return;
  for (int k = 0; k < 5000; ++k) __nanosleep(1);
  out[threadIdx.x] = *cluster.map_shared_rank(mine, 0);
}

/// Rank 0 counts in the memory of rank 1, which waits for nobody and does more than rank 0 does: on a GPU it is there still.
extern "C" __global__ void __cluster_dims__(2, 1, 1) ends_about_then(const int*, int* out) {
  __shared__ unsigned mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = 5;
  cluster.sync();
  if (cluster.block_rank() == 1) {
    for (int k = 0; k < 100; ++k) __nanosleep(1);
    return;
  }
  if (threadIdx.x == 0) out[0] = atomicAdd(cluster.map_shared_rank(&mine, 1), 1u);
}
