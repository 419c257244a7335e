// How long is a chain of two products that wait for each other, as a fused layer's or an attention's do, and of what?
//
// Models:  one or two warpgroups, rounds of 16 products of 64 columns, a wait, what is asked for of functions of the sums, their store to shared
//          memory, a fence for the products' view of it and a barrier of the warpgroup, then 4 products of 256 columns, and a wait.
// Ignores: where operands come from; they stay where they are.
// Source:  counters of ncu: SM active cycles of one block, a line per launch and twice the rounds in the next.
#include "bench.cuh"
#include "wgmma_forms.cuh"

using namespace bench;

namespace {

enum Step : int { kFunctions = 1, kStore = 2, kFence = 4, kBarrier = 8, kSecond = 16 };
constexpr int kBytes = 112 * 1024;

__device__ __forceinline__ void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void end() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
__device__ __forceinline__ float function_of(float x) {
  float y;
  asm volatile("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(0.7978845608f * (x + 0.044715f * x * x * x)));
  return 0.5f * x * (1 + y);
}

/// One block. 112 KiB of shared memory: 32 for the first operand of both warpgroups, 64 for the second, 8 for each warpgroup's sums.
template <int kSteps>
__global__ void __launch_bounds__(256, 1) chain(int rounds, float* sink) {
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = (static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + 1023) & ~1023u;
  for (unsigned i = threadIdx.x; i < (kBytes - 1024) / 4; i += blockDim.x) asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 4 * i), "r"(0) : "memory");
  __syncthreads();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const unsigned group = threadIdx.x / 128, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const uint32_t own = base + 96 * 1024 - 1024 + group * 8192;
  float hidden[32], sums[128];
  const uint32_t none[4] = {0, 0, 0, 0};
  for (float& x : hidden) x = 0;
  for (float& x : sums) x = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    begin();
#pragma unroll
    for (int k = 0; k < 16; ++k) product<64, false>(hidden, none, wgmma_descriptor(base + group * 8192) + 2 * (k % 4), wgmma_descriptor(base + 32768 + k / 4 * 8192) + 2 * (k % 4));
    end();
    if constexpr ((kSteps & kFunctions) != 0) {
#pragma unroll
      for (float& x : hidden) x = function_of(x * 0.125f);
    }
    if constexpr ((kSteps & kStore) != 0) {
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        uint32_t pair[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair[i]) : "f"(hidden[4 * j + 2 * i + 1]), "f"(hidden[4 * j + 2 * i]));
        const uint32_t row = warp * 16 + lane % 16, chunk = (j + lane / 16) ^ row % 8;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(own + row * 128 + chunk * 16), "r"(pair[0]), "r"(pair[1]), "r"(pair[2]), "r"(pair[3]) : "memory");
      }
    }
    if constexpr ((kSteps & kFence) != 0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if constexpr ((kSteps & kBarrier) != 0) asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    if constexpr ((kSteps & kSecond) != 0) {
      begin();
#pragma unroll
      for (int k = 0; k < 4; ++k) product<256, false>(sums, none, wgmma_descriptor(own) + 2 * k, wgmma_descriptor(base + 32768) + 2 * k);
      end();
      if constexpr ((kSteps & kBarrier) != 0) asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    }
  }
  float sum = 0;
  for (const float x : hidden) sum += x;
  for (const float x : sums) sum += x;
  if (sum == 123) sink[threadIdx.x] = sum;
}

template <int kSteps>
void ask(int& launch, float* sink) {
  CHECK(cudaFuncSetAttribute(chain<kSteps>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  for (const unsigned groups : {1u, 2u}) {
    for (const int rounds : {32, 64}) {
      chain<kSteps><<<1, 128 * groups, kBytes>>>(rounds, sink);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      Answer("chained_products", "rounds of two products that wait for each other")
          .add("launch", launch++).add("groups", groups).add("functions", kSteps & 1).add("store", kSteps >> 1 & 1).add("fence", kSteps >> 2 & 1)
          .add("barrier", kSteps >> 3 & 1).add("second", kSteps >> 4 & 1)
          .print(rounds, "rounds", 0);
    }
  }
}

}  // namespace

int main() {
  Buffer<float> sink(256);
  int launch = 0;
  ask<0>(launch, sink.get());
  ask<kFunctions>(launch, sink.get());
  ask<kFunctions | kStore>(launch, sink.get());
  ask<kFunctions | kStore | kFence>(launch, sink.get());
  ask<kFunctions | kStore | kFence | kBarrier>(launch, sink.get());
  ask<kSecond>(launch, sink.get());
  ask<kFunctions | kStore | kFence | kBarrier | kSecond>(launch, sink.get());
  ask<kFence>(launch, sink.get());
  ask<kBarrier>(launch, sink.get());
  ask<kFence | kBarrier | kSecond>(launch, sink.get());
  return 0;
}
