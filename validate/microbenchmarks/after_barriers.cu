// Does a warp go on with arithmetic while it waits at a barrier?
//
// Models:  one block on one SM; rounds of a barrier, n dependent multiplications, and n dependent loads of shared memory, sixteen rounds without a
//          branch or one.
// Ignores: warps that come late.
// Source:  counters of ncu: SM active cycles and the states of the warps, a line per launch.
#include "bench.cuh"

using namespace bench;

namespace {

constexpr int kRounds = 1024;

template <int kMultiplications, int kLoads, int kUnrolled, bool kBarrier>
__global__ void rounds(unsigned* sink, float factor) {
  __shared__ unsigned memory[256];
  memory[threadIdx.x] = 0;
  const auto base = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  uint32_t address = base + 4 * (threadIdx.x % 32);
  float x = factor;
  __syncthreads();
#pragma unroll 1
  for (int round = 0; round < kRounds; round += kUnrolled) {
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) {
      if constexpr (kBarrier) asm volatile("bar.sync 0;" ::: "memory");
#pragma unroll
      for (int k = 0; k < kMultiplications; ++k) asm volatile("mul.f32 %0, %0, %1;" : "+f"(x) : "f"(factor));
#pragma unroll
      for (int k = 0; k < kLoads; ++k) {
        uint32_t next;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"(address) : "memory");
        address += next;
      }
    }
  }
  if (x == 123 || address == 1) *sink = 1;
}

template <int kMultiplications, int kLoads, int kUnrolled, bool kBarrier>
void ask(int& launch, unsigned* sink) {
  for (const unsigned warps : {1u, 4u, 8u}) {
    rounds<kMultiplications, kLoads, kUnrolled, kBarrier><<<1, 32 * warps>>>(sink, 1.0001f);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("after_barriers", "work behind a barrier")
        .add("launch", launch++).add("multiplications", kMultiplications).add("loads", kLoads).add("unrolled", kUnrolled).add("barrier", kBarrier).add("warps", warps)
        .print(kRounds, "rounds", 0);
  }
}

template <int kMultiplications, int kLoads>
void ask_all(int& launch, unsigned* sink) {
  ask<kMultiplications, kLoads, 16, true>(launch, sink);
  ask<kMultiplications, kLoads, 1, true>(launch, sink);
  if constexpr (kMultiplications + kLoads > 0) ask<kMultiplications, kLoads, 16, false>(launch, sink);
  ask<kMultiplications, kLoads, 1, false>(launch, sink);
}

}  // namespace

int main() {
  Buffer<unsigned> sink(1);
  int launch = 0;
  ask_all<0, 0>(launch, sink.get());
  ask_all<1, 0>(launch, sink.get());
  ask_all<2, 0>(launch, sink.get());
  ask_all<4, 0>(launch, sink.get());
  ask_all<8, 0>(launch, sink.get());
  ask_all<0, 1>(launch, sink.get());
  ask_all<4, 1>(launch, sink.get());
  return 0;
}
