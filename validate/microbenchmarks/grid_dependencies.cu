// What do griddepcontrol's instructions cost a kernel that was not launched as a dependent one?
//
// Models:  grids of 132 to 32,768 blocks of one or eight warps that do next to nothing, or chains of arithmetic, with neither
//          griddepcontrol.wait (ACQBULK) nor .launch_dependents (PREEXIT) in their code, either of them, or both.
// Ignores: dependent launches themselves.
// Source:  counters of ncu, caches flushed.
#include "bench.cuh"

using namespace bench;

template <bool kWait, bool kLaunch, int kLength>
__global__ void __launch_bounds__(256) work(float* sink) {
  if (kLaunch) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (kWait) asm volatile("griddepcontrol.wait;" ::: "memory");
  float x = static_cast<float>(threadIdx.x);
#pragma unroll 1
  for (int i = 0; i < kLength; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
  if (x == 0.12345f) *sink = x;
}

struct Runner {
  Buffer<float> sink{1};
  int launch = 0;
  template <bool kWait, bool kLaunch, int kLength>
  void points() {
    for (const unsigned warps : {1u, 8u}) {
      for (const unsigned blocks : {132u, 1500u, 8192u, 32768u}) {
        work<kWait, kLaunch, kLength><<<blocks, 32 * warps>>>(sink.get());
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        Answer("grid_dependencies", "grids of blocks that do little, whose code waits for grids before and lets those behind start")
            .add("launch", launch++).add("wait", kWait).add("launch_dependents", kLaunch).add("length", kLength).add("warps", warps)
            .print(blocks, "block", 0);
      }
    }
  }
};

int main() {
  Runner r;
  r.points<false, false, 0>();
  r.points<true, false, 0>();
  r.points<false, true, 0>();
  r.points<true, true, 0>();
  r.points<false, false, 40>();
  r.points<true, false, 40>();
  r.points<false, true, 40>();
  r.points<true, true, 40>();
  return 0;
}
