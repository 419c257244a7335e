// How long does a fence of the device (of a cluster it is the same code) wait for the stores to global memory before it?
//
// Models:  each round a warp stores n times 4 bytes per thread to global memory, to one line or to 32, then comes a fence (acq_rel or sc) or
//          none. Each warp has lines of its own, the same in each round.
// Ignores: loads behind the fence; lines that others write.
// Source:  counters of ncu: SM active cycles and the states of the warps, a line per launch.
#include "bench.cuh"

using namespace bench;

namespace {

enum Fence { kNone, kDevice, kSequential };
constexpr int kRounds = 64;

template <int kStores, int kFence>
__global__ void fences(unsigned* memory, int stride) {
  unsigned* const own = memory + (blockIdx.x * blockDim.x / 32 + threadIdx.x / 32) * 16384l + threadIdx.x % 32 * stride;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kStores; ++i) asm volatile("st.global.u32 [%0], %1;" ::"l"(own + i * 1024), "r"(round) : "memory");
    if constexpr (kFence == kDevice) asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if constexpr (kFence == kSequential) asm volatile("fence.sc.gpu;" ::: "memory");
  }
}

template <int kStores, int kFence>
void ask(int& launch, unsigned* memory, int stride) {
  for (const unsigned blocks : {1u, 132u}) {
    for (const unsigned warps : {1u, 8u, 32u}) {
      fences<kStores, kFence><<<blocks, 32 * warps>>>(memory, stride);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      Answer("device_fences", "a fence behind stores to global memory")
          .add("launch", launch++).add("stores", kStores).add("lines", stride).add("fence", kFence).add("blocks", blocks).add("warps", warps)
          .print(kRounds, "rounds", 0);
    }
  }
}

template <int kFence>
void ask_all(int& launch, unsigned* memory) {
  if constexpr (kFence != kNone) ask<0, kFence>(launch, memory, 1);
  ask<1, kFence>(launch, memory, 1);
  ask<4, kFence>(launch, memory, 1);
  ask<16, kFence>(launch, memory, 1);
  ask<1, kFence>(launch, memory, 32);
  ask<4, kFence>(launch, memory, 32);
}

}  // namespace

int main() {
  Buffer<unsigned> memory(132l * 32 * 16384);
  int launch = 0;
  ask_all<kNone>(launch, memory.get());
  ask_all<kDevice>(launch, memory.get());
  ask_all<kSequential>(launch, memory.get());
  return 0;
}
