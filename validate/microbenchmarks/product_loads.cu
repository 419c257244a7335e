// What do loads that miss L1 cost an SM in a loop like that of a naive matrix product?
//
// Models:  a product of 528 x 256 by 256 x 1024 floats, a sum per thread, two waves of blocks of 32 x 8: a word of A for all lanes and a line of B
//          per step. As the compiler writes it (`source`, sixteen steps together, a wide multiplication per address), and by pointers, four
//          steps at a time: A and B new at each step, or one of them, or both, the same words again and again, which L1 then has. With less
//          L1, with half of the blocks, and with blocks of other shapes.
// Ignores: stores; sums of values.
// Source:  counters of ncu, with caches as the launch before left them (`warm`) and flushed. Where nothing misses, the data stage serves a load per
//          cycle; what a launch takes beyond that is what misses cost.
#include <cstring>

#include "bench.cuh"

using namespace bench;

constexpr int kRows = 528, kColumns = 1024, kDepth = 256;

__global__ void as_written(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int rows, int columns, int depth) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
  c[row * columns + column] = sum;
}

/// `a_step`, `b_step`: floats from four steps to the next four.
__global__ void by_pointers(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int rows, int columns, int depth, int a_step,
                            int b_step) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const float* at_a = a + row * depth;
  const float* at_b = b + column;
  float sum = 0.0f;
  for (int k = 0; k < depth; k += 4) {
    float a0, a1, a2, a3, b0, b1, b2, b3;
    asm volatile("ld.global.nc.f32 %0,[%1];" : "=f"(b0) : "l"(at_b));
    asm volatile("ld.global.nc.f32 %0,[%1];" : "=f"(b1) : "l"(at_b + kColumns));
    asm volatile("ld.global.nc.f32 %0,[%1];" : "=f"(b2) : "l"(at_b + 2 * kColumns));
    asm volatile("ld.global.nc.f32 %0,[%1];" : "=f"(b3) : "l"(at_b + 3 * kColumns));
    asm volatile("ld.global.nc.f32 %0,[%1];" : "=f"(a0) : "l"(at_a));
    asm volatile("ld.global.nc.f32 %0,[%1];" : "=f"(a1) : "l"(at_a + 1));
    asm volatile("ld.global.nc.f32 %0,[%1];" : "=f"(a2) : "l"(at_a + 2));
    asm volatile("ld.global.nc.f32 %0,[%1];" : "=f"(a3) : "l"(at_a + 3));
    sum += a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3;
    at_a += a_step;
    at_b += b_step;
  }
  c[row * columns + column] = sum;
}

int main(int argc, char** argv) {
  const bool warm = argc > 1 && std::strcmp(argv[1], "warm") == 0;
  Buffer<float> a(kRows * kDepth + 1024), b(kDepth * kColumns + 16384), c(kRows * kColumns);
  a.zero();
  b.zero();
  int launch = 0;
  const auto answer = [&](const char* form, bool new_a, bool new_b, dim3 block, unsigned shared) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("product_loads", "cycles of a loop like that of a naive matrix product")
        .add("launch", launch++)
        .add_text("caches", warm ? "warm" : "cold")
        .add_text("form", form)
        .add("new_a", new_a)
        .add("new_b", new_b)
        .add("block_x", block.x)
        .add("block_y", block.y)
        .add("dynamic_shared", shared)
        .print(2.0 * kDepth * kRows * kColumns / 32, "load", 0);
  };
  const auto written = [&](dim3 block) {
    as_written<<<dim3(kColumns / block.x, kRows / block.y), block>>>(a.get(), b.get(), c.get(), kRows, kColumns, kDepth);
    answer("source", true, true, block, 0);
  };
  const auto pointers = [&](bool new_a, bool new_b, unsigned shared) {
    const dim3 block(32, 8);
    by_pointers<<<dim3(kColumns / 32, kRows / 8), block, shared>>>(a.get(), b.get(), c.get(), kRows, kColumns, kDepth, new_a ? 4 : 0, new_b ? 4 * kColumns : 0);
    answer("pointers", new_a, new_b, block, shared);
  };
  written(dim3(32, 8));
  pointers(true, true, 0);
  pointers(false, true, 0);
  pointers(true, false, 0);
  pointers(false, false, 0);
  pointers(true, true, 24 * 1024);
  pointers(true, true, 48 * 1024);
  written(dim3(32, 16));
  written(dim3(64, 4));
  return 0;
}
