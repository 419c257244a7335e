// How do warpgroup products share an SM: with each other, with traffic of shared memory, and what do counters make of them?
#include <cstring>

#include "bench.cuh"
#include "wgmma_forms.cuh"

namespace {

__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

/// The first `groups` warpgroups multiply `rounds` times four; the `others` warps behind them access shared memory until they have.
/// traffic: 0 LDS.32, 1 LDS.128, 2 STS.32, 3 STS.128, 4 LDSM.x4, 5 FFMA, 6 HMMA
template <int kN, bool kRegisters, int kTraffic>
__global__ void __launch_bounds__(384, 1) beside(int groups, int rounds, int fixed, unsigned long long* out, float* sink) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ volatile int stop;
  const uint32_t base = (static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + 1023) & ~1023u;
  for (int i = threadIdx.x; i < 16384; i += blockDim.x) asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 4 * i), "r"(0) : "memory");
  if (threadIdx.x == 0) stop = 0;
  __syncthreads();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const int group = threadIdx.x / 128;
  if (group < groups) {
    float d[kN / 2];
    uint32_t a[4] = {0, 0, 0, 0};
    for (float& x : d) x = 0;
    const uint64_t da = wgmma_descriptor(base + group * 8192), db = wgmma_descriptor(base + 32768);
    unsigned long long start = 0;
    for (int repeat = 0; repeat < 2; ++repeat) {
      start = bench::clock_now();
      for (int i = 0; i < rounds; ++i) {
        fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) product<kN, kRegisters>(d, a, da + 2 * k, db + 2 * k);
        commit();
        if (i % 4 == 3) wait();
      }
      wait();
    }
    const unsigned long long stopped = bench::clock_now();
    if (threadIdx.x == 0) out[2 * blockIdx.x] = stopped - start, stop = 1;
    float sum = 0;
    for (const float x : d) sum += x;
    if (sum == 123) sink[threadIdx.x] = sum;
  } else {
    const uint32_t at = base + (threadIdx.x % 32) * (kTraffic == 0 || kTraffic == 2 ? 4 : 16) + 57344;
    unsigned done = 0, sum = 0;
    float x = 1;
    unsigned c[4] = {0, 0, 0, 0};
    const unsigned long long start = bench::clock_now();
    while (fixed ? done < static_cast<unsigned>(fixed) : !stop) {
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        unsigned v[4];
        if constexpr (kTraffic == 0) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[0]) : "r"(at + 512 * (k % 4)));
        if constexpr (kTraffic == 1) asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at + 512 * (k % 4)));
        if constexpr (kTraffic == 2) asm volatile("st.shared.u32 [%0], %1;" ::"r"(at + 512 * (k % 4)), "r"(0) : "memory");
        if constexpr (kTraffic == 3) asm volatile("st.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at + 512 * (k % 4)), "r"(0) : "memory");
        if constexpr (kTraffic == 4) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at + 512 * (k % 4)));
        if constexpr (kTraffic == 5) x = x * 1.0001f + 1.0f;
        if constexpr (kTraffic == 6) asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, {%2,%2}, {%0,%1};" : "+r"(c[k % 2 * 2]), "+r"(c[k % 2 * 2 + 1]) : "r"(sum));
        if constexpr (kTraffic < 2 || kTraffic == 4) sum += v[0];
      }
      done += 16;
    }
    const unsigned long long stopped = bench::clock_now();
    if (threadIdx.x == groups * 128) {
      out[2 * blockIdx.x + 1] = (stopped - start) * 1000 / done;
      if (groups == 0) out[2 * blockIdx.x] = 1;
    }
    if (sum == 12345 || x == 0 || c[0] == 77) sink[0] = x + sum;
  }
}

unsigned long long* out_of() {
  static unsigned long long* out = nullptr;
  if (!out) CHECK(cudaMalloc(&out, 1 << 14));
  return out;
}

template <int kN, bool kRegisters, int kTraffic>
void launch(int blocks, int groups, int others, int rounds, unsigned long long* host) {
  const auto kernel = beside<kN, kRegisters, kTraffic>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
  kernel<<<blocks, groups * 128 + others * 32, 100 * 1024>>>(groups, rounds, groups ? 0 : 4096, out_of(), reinterpret_cast<float*>(out_of() + 1024));
  CHECK(cudaDeviceSynchronize());
  if (host) CHECK(cudaMemcpy(host, out_of(), 16, cudaMemcpyDeviceToHost));
}

template <int kN, bool kRegisters, int kTraffic>
void ask(const char* traffic) {
  for (const int groups : {0, 1, 2}) {
    for (const int others : {0, 1, 4}) {
      if (groups + others == 0) continue;
      unsigned long long few[2] = {}, many[2] = {};
      launch<kN, kRegisters, kTraffic>(1, groups, others, 64, few);
      launch<kN, kRegisters, kTraffic>(1, groups, others, 320, many);
      bench::Answer("warpgroup_beside", "cycles a warpgroup product, and an instruction of each warp beside it")
          .add("n", kN).add_text("a", kRegisters ? "registers" : "shared").add("warpgroups", groups)
          .add_text("traffic", traffic).add("other_warps", others)
          .add("traffic_cycles", others ? many[1] / 1000.0 : 0)
          .print(groups ? (static_cast<double>(many[0]) - static_cast<double>(few[0])) / 1024 : 0, "cycle", 0);
    }
  }
}

template <int kN, bool kRegisters>
void ask_all() {
  ask<kN, kRegisters, 0>("LDS.32");
  ask<kN, kRegisters, 1>("LDS.128");
  ask<kN, kRegisters, 2>("STS.32");
  ask<kN, kRegisters, 3>("STS.128");
  ask<kN, kRegisters, 4>("LDSM.4");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "count") == 0) {
    launch<256, false, 5>(132, 1, 0, 256, nullptr);
    launch<256, false, 5>(132, 2, 0, 256, nullptr);
    launch<64, false, 5>(132, 1, 0, 256, nullptr);
    launch<64, false, 5>(132, 2, 0, 256, nullptr);
    launch<128, true, 5>(132, 1, 0, 256, nullptr);
    launch<128, true, 5>(132, 2, 0, 256, nullptr);
    launch<64, false, 6>(132, 0, 4, 256, nullptr);
    return 0;
  }
  ask_all<64, false>();
  ask_all<128, false>();
  ask_all<256, false>();
  ask_all<64, true>();
  ask_all<128, true>();
  ask<128, false, 6>("HMMA.16816");
}
