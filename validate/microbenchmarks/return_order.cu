// Do loads of an SM come back in the order in which they went, or does one that L1 or L2 has overtake one that waits for
// DRAM?
//
// Models:  warp 0 loads lines that nobody has touched; some cycles later another warp (of its sub-core or of another one)
//          loads what L1 has, what L2 has, or something cold as well. Both time their own load.
// Ignores: order within a warp.
// Source:  the SM's clock.
#include "bench.cuh"

using namespace bench;

enum Kind : int { in_l1, in_l2, cold };

/// times[0]: warp 0's load, times[1]: the other warp's. `first_lines`: 0 when warp 0 loads nothing.
__global__ void pair_of_loads(const unsigned* cold_memory, const unsigned* warm_memory, int kind, unsigned first_lines,
                              unsigned other_warp, int delay, unsigned* times, unsigned* sink) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned* mine = warm_memory + lane;
  unsigned x = 0;
  if (warp == other_warp && kind == in_l1) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(mine) : "memory");
  if (warp == other_warp && kind == in_l2) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(mine) : "memory");
  if (kind == cold) mine = cold_memory + 32 * 64 + lane;
  if (x == 12345) sink[1] = x;
  __syncthreads();
  if (warp == 0 && first_lines) {
    const unsigned* p = cold_memory + (lane % first_lines) * 32;
    const unsigned long long t0 = clock_now();
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
    if (x == 12345) sink[0] = x;
    const unsigned long long t1 = clock_now();
    if (lane == 0) times[0] = static_cast<unsigned>(t1 - t0);
  }
  if (warp == other_warp) {
    const unsigned long long until = clock_now() + delay;
    while (clock_now() < until) {
    }
    const unsigned long long t0 = clock_now();
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(mine) : "memory");
    if (x == 12345) sink[0] = x;
    const unsigned long long t1 = clock_now();
    if (lane == 0) times[1] = static_cast<unsigned>(t1 - t0);
  }
}

int main() {
  const std::size_t words = std::size_t{1} << 29;  // 2 GiB; what is used first left L2 long ago
  Buffer<unsigned> memory(words), warm(1024), times(2), sink(2);
  memory.zero();
  warm.zero();
  std::size_t at = 0;
  for (int kind : {in_l1, in_l2, cold}) {
    for (unsigned lines : {0u, 1u, 8u, 32u}) {
      for (unsigned other : {1u, 4u}) {
        for (int delay : {20, 100, 300}) {
          std::vector<double> first, second;
          for (int r = 0; r < 9; ++r) {
            times.zero();
            pair_of_loads<<<1, 256>>>(memory.get() + at, warm.get(), kind, lines, other, delay, times.get(), sink.get());
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
            at += 1 << 18;  // a megabyte on
            if (at + (1 << 18) > words / 2) at = 0;
            const std::vector<unsigned> t = times.download();
            if (r) first.push_back(t[0]), second.push_back(t[1]);
          }
          Answer("return_order", "cycles of a load that follows another warp's load of cold lines")
              .add_text("second", kind == in_l1 ? "L1 has it" : kind == in_l2 ? "L2 has it" : "cold")
              .add("first_lines", lines)
              .add("same_sub_core", other == 4)
              .add("cycles_after", delay)
              .add("first_cycles", summarize(first).median)
              .print(summarize(second), "cycle");
        }
      }
    }
  }
  return 0;
}
