// What does a loop cost that walks through a table in constant memory, all lanes and warps the same way?
//
// Models:  each warp adds up a table's words, one after the other or every fourth or sixteenth, in one pass or four, with so many
//          dependent multiplications between two words; 1 to 32 warps per SM on all SMs, tables of 1 to 48 KiB.
// Ignores: lanes that read different words (indexed_constants.cu).
// Source:  counters of ncu, caches flushed.
#include "bench.cuh"

using namespace bench;

constexpr int kTable = 48 * 1024 / 4;
__constant__ float table[kTable];

template <int kStep, int kMore>
__global__ void __launch_bounds__(1024) walk(int words, int passes, float* sink) {
  float sum = static_cast<float>(threadIdx.x), x = 1;
#pragma unroll 1
  for (int p = 0; p < passes; ++p) {
#pragma unroll 4
    for (int i = 0; i < words; i += kStep) {
      const float c = table[i];
      sum = fmaf(sum, x, c);
#pragma unroll
      for (int k = 0; k < kMore; ++k) asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(sum) : "f"(c));
    }
  }
  if (sum == 0.12345f) *sink = sum;
}

struct Runner {
  Buffer<float> sink{1};
  int launch = 0;
  template <int kStep, int kMore>
  void points() {
    for (const int kib : {1, 2, 4, 8, 16, 48}) {
      for (const unsigned warps : {1u, 8u, 32u}) {
        for (const int passes : {1, 4}) {
          walk<kStep, kMore><<<132, 32 * warps>>>(kib * 256, passes, sink.get());
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          Answer("constant_walks", "loops through a table in constant memory: words of a pass")
              .add("launch", launch++).add("step_words", kStep).add("more", kMore).add("kib", kib).add("warps", warps).add("passes", passes)
              .print(kib * 256 / kStep, "word", 0);
        }
      }
    }
  }
};

int main() {
  Runner r;
  r.points<1, 0>();
  r.points<4, 0>();
  r.points<16, 0>();
  r.points<1, 8>();
  r.points<16, 8>();
  return 0;
}
