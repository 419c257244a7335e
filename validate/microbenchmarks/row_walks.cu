// What do threads cost that each walk a row of their own?
//
// Models:  each thread sums the words of its row, one line a lane and load, eight loads to a sector, 32 to a line; rows lie `pitch`
//          bytes from each other; so many loads independent of each other; few warps an SM. Then the same over rows that are in L1,
//          and with a second operand that all lanes share.
// Ignores: stores.
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

template <int kUnroll, bool kVector>
__global__ void __launch_bounds__(1024) walk(const float* a, int columns, int pitch, int passes, float* out) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float* const p = a + static_cast<std::size_t>(row) * static_cast<unsigned>(pitch);
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    for (int c = 0; c < columns; c += kUnroll) {
      float v[kUnroll], w[kUnroll];
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) asm volatile("ld.global.f32 %0, [%1];" : "=f"(v[i]) : "l"(p + c + i) : "memory");
      if (kVector) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) asm volatile("ld.global.f32 %0, [%1];" : "=f"(w[i]) : "l"(a + c + i) : "memory");
      }
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) sum += kVector ? v[i] * w[i] : v[i];
    }
  }
  out[row] = sum;
}

struct Runner {
  Buffer<float> memory{std::size_t{64} << 20}, out{1 << 20};
  int launch = 0;
  template <int kUnroll, bool kVector>
  void run(unsigned blocks, unsigned warps, int columns, int pitch, int passes) {
    walk<kUnroll, kVector><<<blocks, 32 * warps>>>(memory.get(), columns, pitch, passes, out.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("row_walks", "threads that each walk a row: cycles, hits, sectors")
        .add("launch", launch++).add("independent", kUnroll).add("shared_operand", kVector).add("blocks", blocks).add("warps", warps)
        .add("columns", columns).add("pitch_bytes", 4.0 * pitch).add("passes", passes).print(static_cast<double>(columns) * passes, "load a warp", 0);
  }
};

int main() {
  Runner r;
  for (unsigned warps : {1u, 2u, 4u, 8u, 16u}) {
    r.run<1, false>(1, warps, 128, 1024, 1);
    r.run<4, false>(1, warps, 128, 1024, 1);
    r.run<8, false>(1, warps, 128, 1024, 1);
    r.run<4, true>(1, warps, 128, 1024, 1);
  }
  for (int pitch : {128, 132, 256, 512, 1000, 2048, 4096}) {
    r.run<4, false>(1, 4, 128, pitch, 1);
    r.run<4, false>(1, 8, 128, pitch, 1);
    r.run<4, false>(132, 4, 128, pitch, 1);
  }
  // In L1: rows of a line or a few, again and again.
  for (unsigned warps : {1u, 2u, 4u, 8u}) {
    r.run<1, false>(1, warps, 32, 32, 16);
    r.run<4, false>(1, warps, 32, 32, 16);
    r.run<4, false>(1, warps, 32, 33, 16);
    r.run<4, false>(1, warps, 32, 1024, 16);
    r.run<4, true>(1, warps, 32, 33, 16);
    r.run<4, false>(1, warps, 128, 128, 8);
    r.run<4, false>(1, warps, 128, 132, 8);
    r.run<4, false>(1, warps, 128, 1024, 8);
  }
  for (unsigned warps : {1u, 2u, 4u, 8u}) {
    r.run<4, false>(132, warps, 128, 1024, 1);
    r.run<1, true>(132, warps, 128, 1024, 1);
    r.run<4, true>(132, warps, 128, 1024, 2);
  }
  return 0;
}
