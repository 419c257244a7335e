// What does a copy to several blocks of a cluster (multicast) cost, and how fast do blocks of a cluster get the same bytes?
#include <cooperative_groups.h>

#include "bench.cuh"

namespace {

namespace cg = cooperative_groups;

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void expect(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(bar), "r"(parity) : "memory");
}
__device__ __forceinline__ void copy(uint32_t to, const void* from, uint32_t bytes, uint32_t bar, uint32_t blocks) {
  if (blocks)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(to),
        "l"(from), "r"(bytes), "r"(bar), "h"(static_cast<unsigned short>(blocks))
        : "memory");
  else
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
                 "r"(bytes), "r"(bar)
                 : "memory");
}

/// How the blocks of a cluster get the same tiles.
enum Way {
  kAlone = 0,     ///< each block copies all of them itself
  kFromFirst = 1, ///< rank 0 copies them to all
  kShares = 2     ///< each block copies its share of each to all
};

/// `count` tiles of `bytes`, four places in turn, nobody waits for anybody: out = from the cluster's barrier to the last byte.
__global__ void tiles(const char* in, int span, int bytes, int count, Way way, unsigned long long* out) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ alignas(8) uint64_t barrier;
  cg::cluster_group cluster = cg::this_cluster();
  const uint32_t bar = shared_address(&barrier), to = shared_address(memory);
  const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks(), all = (1u << blocks) - 1;
  const unsigned number = blockIdx.x / blocks;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  for (int repeat = 0; repeat < 3; ++repeat) {
    if (threadIdx.x == 0) expect(bar, bytes * count);
    cluster.sync();
    if (threadIdx.x == 0) {
      const unsigned long long start = bench::clock_now();
      for (int i = 0; i < count; ++i) {
        const char* from = in + (static_cast<long>(number) * count + i) * bytes % span;
        const uint32_t place = to + i % 4 * bytes;
        if (way == kAlone) copy(place, from, bytes, bar, 0);
        if (way == kFromFirst && rank == 0) copy(place, from, bytes, bar, all);
        if (way == kShares) copy(place + rank * (bytes / blocks), from + rank * (bytes / blocks), bytes / blocks, bar, all);
      }
      wait(bar, repeat & 1);
      out[blockIdx.x] = bench::clock_now() - start;
    }
    cluster.sync();
  }
}

struct Setup {
  int cluster, clusters, bytes, count, span;
  Way way;
};

double run(const Setup& s, const char* in, unsigned long long* out, double& slowest) {
  CHECK(cudaFuncSetAttribute(tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  CHECK(cudaFuncSetAttribute(tiles, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute;
  config.gridDim = dim3(s.cluster * s.clusters);
  config.blockDim = dim3(32);
  config.dynamicSmemBytes = 200 * 1024;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = s.cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, tiles, in, s.span, s.bytes, s.count, s.way, out));
  CHECK(cudaDeviceSynchronize());
  std::vector<unsigned long long> host(s.cluster * s.clusters);
  CHECK(cudaMemcpy(host.data(), out, 8 * host.size(), cudaMemcpyDeviceToHost));
  slowest = static_cast<double>(*std::max_element(host.begin(), host.end()));
  std::sort(host.begin(), host.end());
  return static_cast<double>(host[host.size() / 2]);
}

}  // namespace

int main(int argc, char**) {
  char* in;
  unsigned long long* out;
  CHECK(cudaMalloc(&in, 64 << 20));
  CHECK(cudaMemset(in, 1, 64 << 20));
  CHECK(cudaMalloc(&out, 8 * 1024));
  double slowest = 0;
  if (argc > 1) {  // for counters: one launch each, all of the chip, one tile of 16 KB in each cluster's turn
    for (const int cluster : {1, 2, 4}) {
      for (const Way way : {kAlone, kFromFirst, kShares}) run({cluster, 128 / cluster, 16384, 16, 1 << 20, way}, in, out, slowest);
    }
    return 0;
  }
  static const char* const kNames[] = {"each alone", "the first to all", "a share each to all"};
  for (const int cluster : {1, 2, 4, 8}) {
    for (const Way way : {kAlone, kFromFirst, kShares}) {
      if (cluster == 1 && way == kShares) continue;
      for (const int bytes : {128, 1024, 4096, 8192, 16384}) {
        std::vector<double> values;
        for (int i = 0; i < 5; ++i) values.push_back(run({cluster, 1, bytes, 1, 1 << 16, way}, in, out, slowest));
        bench::Answer("multicast_latency", "cycles from the issue of a copy out of L2 until the block in the middle has it")
            .add("cluster", cluster).add_text("way", kNames[way]).add("bytes", bytes).print(bench::summarize(values), "cycle");
      }
      for (const int clusters : {1, 4, 16, 16 * 8 / cluster}) {
        if (clusters * cluster > 128) continue;
        for (const int bytes : {4096, 16384, 32768}) {
          std::vector<double> values, worst;
          for (int i = 0; i < 5; ++i) {
            const double few = run({cluster, clusters, bytes, 8, 4 << 20, way}, in, out, slowest);
            const double least = slowest;
            const double many = run({cluster, clusters, bytes, 24, 4 << 20, way}, in, out, slowest);
            values.push_back(16.0 * bytes / (many - few));
            worst.push_back(16.0 * bytes / (slowest - least));
          }
          bench::Answer("multicast_rate", "bytes a cycle that a block gets of tiles in L2 that its whole cluster gets")
              .add("cluster", cluster).add("clusters", clusters).add_text("way", kNames[way]).add("bytes", bytes)
              .add("slowest_block", bench::summarize(worst).median).print(bench::summarize(values), "B/cycle");
        }
      }
    }
  }
}
