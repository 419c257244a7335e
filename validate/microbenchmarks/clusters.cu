// Where do the blocks of clusters go, how many clusters run at a time, and how wide is the way to each other's shared memory?
#include <cooperative_groups.h>

#include <set>

#include "bench.cuh"
#include "sm_sets.cuh"

namespace {

__device__ __forceinline__ unsigned cluster_rank() {
  unsigned id;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(id));
  return id;
}

__global__ void where(unsigned* out, int cycles) {
  extern __shared__ char memory[];
  const unsigned long long start = bench::clock_now();
  if (threadIdx.x == 0) {
    out[blockIdx.x] = bench::sm_id();
    memory[0] = 1;
  }
  while (bench::clock_now() - start < static_cast<unsigned>(cycles)) {}
}
__global__ void __launch_bounds__(512, 1) many_registers(unsigned* out, int n) {
  extern __shared__ char memory[];
  unsigned r[100];
  for (int i = 0; i < 100; ++i) r[i] = out[i * n];
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 100; ++i) r[i] = r[i] * r[(i + 7) % 100] + k;
  unsigned sum = 0;
  for (int i = 0; i < 100; ++i) sum ^= r[i];
  out[blockIdx.x] = sum + static_cast<unsigned>(memory[0]);
}

cudaLaunchConfig_t config_of(int grid, int threads, int shared, int cluster, cudaLaunchAttribute* attribute) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  attribute->id = cudaLaunchAttributeClusterDimension;
  attribute->val.clusterDim.x = cluster;
  attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  return config;
}

template <typename Kernel>
void prepare(Kernel kernel) {
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

template <typename Kernel>
void ask_occupancy(Kernel kernel, const char* name) {
  prepare(kernel);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, kernel));
  for (const int cluster : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}) {
    for (const int threads : {32, 128, 256, 384, 512, 1024}) {
      if (threads > attributes.maxThreadsPerBlock) continue;
      for (const int shared : {0, 32 * 1024, 48 * 1024, 72 * 1024, 100 * 1024, 113 * 1024, 160 * 1024, 227 * 1024}) {
        cudaLaunchAttribute attribute;
        const cudaLaunchConfig_t config = config_of(cluster * 64, threads, shared, cluster, &attribute);
        int clusters = -1;
        const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
        if (error != cudaSuccess) {
          cudaGetLastError();
          clusters = -1;
        }
        bench::Answer("max_active_clusters", "what cudaOccupancyMaxActiveClusters says (-1: it refuses)")
            .add_text("kernel", name).add("registers", attributes.numRegs).add("cluster", cluster)
            .add("threads", threads).add("dynamic_shared", shared).print(clusters, "cluster", 0);
      }
    }
  }
}

void ask_places() {
  prepare(where);
  unsigned* out;
  CHECK(cudaMalloc(&out, 1 << 16));
  bench::SmSets together;
  int sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  for (const int cluster : {2, 4, 6, 8, 10, 12, 14, 16}) {
    for (const int shared : {200 * 1024, 100 * 1024}) {
      cudaLaunchAttribute attribute;
      cudaLaunchConfig_t config = config_of(cluster, 128, shared, cluster, &attribute);
      int most = 0;
      if (cudaOccupancyMaxActiveClusters(&most, where, &config) != cudaSuccess || most == 0) continue;
      for (int repeat = 0; repeat < 24; ++repeat) {
        const int clusters = repeat == 23 ? 2 * most : repeat % 8 == 7 ? 1 + repeat / 8 : most;
        config.gridDim = dim3(clusters * cluster);
        CHECK(cudaMemset(out, 0xff, 1 << 16));
        CHECK(cudaLaunchKernelEx(&config, where, out, 20000));
        CHECK(cudaDeviceSynchronize());
        std::vector<unsigned> host(clusters * cluster);
        CHECK(cudaMemcpy(host.data(), out, host.size() * 4, cudaMemcpyDeviceToHost));
        for (std::size_t i = 0; i < host.size(); ++i) {
          if (host[i] >= 256) continue;
          together.join(host[i], host[i - i % cluster]);
        }
        if (repeat == 0 || repeat == 7 || repeat == 15 || repeat == 22 || repeat == 23) {
          bench::Answer("cluster_places", "the SM of each block, by cluster and rank")
              .add("cluster", cluster).add("dynamic_shared", shared).add("most", most).add("repeat", repeat)
              .add("sms", std::vector<double>(host.begin(), host.end())).print(clusters, "cluster", 0);
        }
      }
    }
  }
  for (const std::vector<unsigned>& members : together.sets(static_cast<unsigned>(sms))) {
    bench::Answer("cluster_gpc", "SMs that were seen to share a cluster, directly or through others")
        .add("sms", std::vector<double>(members.begin(), members.end())).print(static_cast<double>(members.size()), "SM", 0);
  }
}

/// Every warp of rank 0 (all: of every rank) moves 512 or 128 bytes an instruction to or from the next block's shared memory.
template <int kForm, bool kAll>  // 0 ld.32, 1 ld.128, 2 st.32, 3 st.128
__global__ void distributed(int rounds, unsigned long long* out) {
  extern __shared__ uint4 words[];
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) words[i] = make_uint4(i, i, i, i);
  cluster.sync();
  const unsigned rank = cluster.block_rank(), other = (rank + 1) % cluster.num_blocks();
  const uint32_t own = static_cast<uint32_t>(__cvta_generic_to_shared(words));
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(other));
  if (kAll || rank == 0) {
    const uint32_t at = there + (threadIdx.x % 64) * (kForm % 2 ? 16 : 4);
    unsigned sum = 0;
    for (int repeat = 0; repeat < 2; ++repeat) {
      const unsigned long long start = bench::clock_now();
      for (int i = 0; i < rounds; ++i) {
#pragma unroll
        for (int k = 0; k < 16; ++k) {
          if constexpr (kForm == 0) {
            unsigned v;
            asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(at + k * 1024));
            sum += v;
          } else if constexpr (kForm == 1) {
            uint4 v;
            asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at + k * 1024));
            sum += v.x ^ v.y ^ v.z ^ v.w;
          } else if constexpr (kForm == 2) {
            asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at + k * 1024), "r"(i) : "memory");
          } else {
            asm volatile("st.shared::cluster.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at + k * 1024), "r"(i) : "memory");
          }
        }
      }
      __syncthreads();
      const unsigned long long stop = bench::clock_now();
      if (threadIdx.x == 0) out[blockIdx.x] = stop - start + (sum == 12345);
    }
  }
  cluster.sync();
}

template <int kForm, bool kAll>
void ask_distributed(const char* form) {
  const auto kernel = distributed<kForm, kAll>;
  prepare(kernel);
  unsigned long long* out;
  CHECK(cudaMalloc(&out, 8 * 1024));
  for (const int cluster : {1, 2, 4, 8}) {
    for (const int clusters : {1, 16}) {
      if (clusters > 1 && !kAll) continue;
      for (const int warps : {1, 4, 16}) {
        std::vector<double> values;
        const auto cycles = [&](int rounds) {
          cudaLaunchAttribute attribute;
          const cudaLaunchConfig_t config = config_of(cluster * clusters, warps * 32, 200 * 1024, cluster, &attribute);
          CHECK(cudaLaunchKernelEx(&config, kernel, rounds, out));
          CHECK(cudaDeviceSynchronize());
          unsigned long long host = 0;
          CHECK(cudaMemcpy(&host, out, 8, cudaMemcpyDeviceToHost));
          return static_cast<double>(host);
        };
        for (int repeat = 0; repeat < 3; ++repeat) values.push_back((cycles(96) - cycles(32)) / 64 / 16 / warps);
        bench::Answer("distributed_shared", "cycles a warp instruction to or from the next block's shared memory, 32 lanes side by side")
            .add_text("form", form).add("cluster", cluster).add("clusters", clusters).add("warps", warps)
            .add_text("who", kAll ? "all blocks" : "one block").print(bench::summarize(values), "cycle");
      }
    }
  }
}

/// barrier.cluster, relaxed, in a loop; `late`: cycles by which rank 0 comes later.
__global__ void cluster_barrier(int rounds, int late, unsigned long long* out) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
    const unsigned long long start = bench::clock_now();
    for (int i = 0; i < rounds; ++i) {
      if (late && cluster_rank() == 0) {
        const unsigned long long from = bench::clock_now();
        while (bench::clock_now() - from < static_cast<unsigned>(late)) {}
      }
      asm volatile("barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
    }
    const unsigned long long stop = bench::clock_now();
    if (threadIdx.x == 0) out[blockIdx.x] = stop - start;
  }
}
void ask_barrier() {
  prepare(cluster_barrier);
  unsigned long long* out;
  CHECK(cudaMalloc(&out, 8 * 1024));
  for (const int cluster : {1, 2, 4, 8, 16}) {
    for (const int warps : {1, 4, 16}) {
      for (const int late : {0, 1000}) {
        const auto cycles = [&](int rounds) {
          cudaLaunchAttribute attribute;
          const cudaLaunchConfig_t config = config_of(cluster, warps * 32, 200 * 1024, cluster, &attribute);
          CHECK(cudaLaunchKernelEx(&config, cluster_barrier, rounds, late, out));
          CHECK(cudaDeviceSynchronize());
          unsigned long long host = 0;
          CHECK(cudaMemcpy(&host, out, 8, cudaMemcpyDeviceToHost));
          return static_cast<double>(host);
        };
        std::vector<double> values;
        for (int repeat = 0; repeat < 3; ++repeat) values.push_back((cycles(96) - cycles(32)) / 64);
        bench::Answer("cluster_barrier", "cycles a relaxed arrive and wait of a cluster, rank 0 coming late by as many")
            .add("cluster", cluster).add("warps", warps).add("late", late).print(bench::summarize(values), "cycle");
      }
    }
  }
}

}  // namespace

int main() {
  ask_places();
  ask_occupancy(where, "where");
  ask_occupancy(many_registers, "many_registers");
  ask_distributed<0, false>("ld.32");
  ask_distributed<1, false>("ld.128");
  ask_distributed<2, false>("st.32");
  ask_distributed<3, false>("st.128");
  ask_distributed<0, true>("ld.32");
  ask_distributed<1, true>("ld.128");
  ask_distributed<3, true>("st.128");
  ask_barrier();
}
