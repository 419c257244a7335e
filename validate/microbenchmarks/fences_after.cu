// How long does a fence of a block wait for the shared stores before it, and a barrier behind it?
//
// Models:  one block on one SM; each round a warp stores n times 4 or 16 bytes per thread to shared memory without a conflict, then comes a
//          fence (none, MEMBAR.CTA, or MEMBAR.CTA and FENCE.VIEW.ASYNC), then a barrier or none.
// Ignores: stores to global memory, and who reads what was stored.
// Source:  counters of ncu: SM active cycles and the states of the warps, a line per launch.
#include "bench.cuh"

using namespace bench;

namespace {

enum Fence { kNone, kBlock, kView };
constexpr int kRounds = 256;

template <int kStores, int kWords, int kFence, bool kBarrier>
__global__ void fences(unsigned* sink) {
  __shared__ uint4 memory[4 * 256];
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + threadIdx.x * 4 * kWords;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kStores; ++i) {
      if constexpr (kWords == 4) asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(address + i * 4096), "r"(round) : "memory");
      if constexpr (kWords == 1) asm volatile("st.shared.u32 [%0], %1;" ::"r"(address + i * 4096), "r"(round) : "memory");
    }
    if constexpr (kFence == kBlock) asm volatile("fence.acq_rel.cta;" ::: "memory");
    if constexpr (kFence == kView) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if constexpr (kBarrier) asm volatile("bar.sync 1;" ::: "memory");
  }
  if (memory[threadIdx.x].x == 123456) *sink = 1;
}

template <int kStores, int kWords, int kFence, bool kBarrier>
void ask(int& launch, unsigned* sink) {
  for (const unsigned warps : {1u, 4u, 8u}) {
    fences<kStores, kWords, kFence, kBarrier><<<1, 32 * warps>>>(sink);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("fences_after", "a fence behind shared stores")
        .add("launch", launch++).add("stores", kStores).add("words", kWords).add("fence", kFence).add("barrier", kBarrier).add("warps", warps)
        .print(kRounds, "rounds", 0);
  }
}

template <int kFence, bool kBarrier>
void ask_all(int& launch, unsigned* sink) {
  if constexpr (kFence != kNone || kBarrier) ask<0, 1, kFence, kBarrier>(launch, sink);
  ask<1, 1, kFence, kBarrier>(launch, sink);
  ask<4, 1, kFence, kBarrier>(launch, sink);
  ask<1, 4, kFence, kBarrier>(launch, sink);
  ask<4, 4, kFence, kBarrier>(launch, sink);
}

}  // namespace

int main() {
  Buffer<unsigned> sink(1);
  int launch = 0;
  ask_all<kNone, false>(launch, sink.get());
  ask_all<kNone, true>(launch, sink.get());
  ask_all<kBlock, false>(launch, sink.get());
  ask_all<kBlock, true>(launch, sink.get());
  ask_all<kView, false>(launch, sink.get());
  ask_all<kView, true>(launch, sink.get());
  return 0;
}
