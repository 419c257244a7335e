// Does a load wait for the asynchronous copies (or loads) of its own warp that went before it?
//
// Models:  one warp makes `before` copies of 16 bytes per lane, or loads, of lines that nobody has touched, then loads a word that L1 or L2
//          has (or one that is cold as well) and times that load alone, from its issue to its result.
// Ignores: other warps.
// Source:  the SM's clock.
#include "bench.cuh"

using namespace bench;

enum Before : int { loads, copies_past_l1, copies_through_l1 };
enum Kind : int { in_l1, in_l2, cold };
constexpr int kMost = 8;

template <int kBefore, int kCount>
__global__ void behind(const char* cold_memory, const unsigned* warm_memory, int kind, unsigned* times, unsigned* sink) {
  __shared__ __align__(128) char to[kMost * 512];
  const unsigned lane = threadIdx.x;
  const unsigned* mine = kind == cold ? reinterpret_cast<const unsigned*>(cold_memory + 65536) + lane : warm_memory + lane;
  unsigned x = 0, v[kMost] = {};
  if (kind == in_l1) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(mine) : "memory");
  if (kind == in_l2) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(mine) : "memory");
  if (x == 12345) sink[1] = x;
  __syncwarp();
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to)) + lane * 16;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const char* p = cold_memory + i * 4096 + lane * 16;
    if constexpr (kBefore == loads) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[i]) : "l"(p) : "memory");
    if constexpr (kBefore == copies_past_l1)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared + static_cast<unsigned>(i) * 512u), "l"(p) : "memory");
    if constexpr (kBefore == copies_through_l1)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(shared + static_cast<unsigned>(i) * 512u), "l"(p) : "memory");
  }
  const unsigned long long t0 = clock_now();
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(mine) : "memory");
  if (x == 12345) sink[0] = x;
  const unsigned long long t1 = clock_now();
  asm volatile("cp.async.wait_all;" ::: "memory");
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) sum += v[i];
  if (sum == 12345) sink[2] = sum;
  const unsigned long long t2 = clock_now();
  if (lane == 0) {
    times[0] = static_cast<unsigned>(t1 - t0);
    times[1] = static_cast<unsigned>(t2 - t0);
  }
}

int main() {
  Buffer<char> cold_memory{std::size_t{64} << 20};
  Buffer<unsigned> warm_memory(1024), times(2), sink(4);
  warm_memory.zero();
  std::size_t at = 0;
  const char* const befores[] = {"loads", "copies past L1", "copies through L1"};
  const char* const kinds[] = {"in L1", "in L2", "cold"};
  const auto ask = [&](auto kernel, int before, int count, int kind) {
    double best[2] = {1e9, 1e9};
    for (int repeat = 0; repeat < 5; ++repeat) {
      kernel<<<1, 32>>>(cold_memory.get() + at, warm_memory.get(), kind, times.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      at += 131072;
      const std::vector<unsigned> t = times.download();
      for (int i = 0; i < 2; ++i) best[i] = std::min(best[i], static_cast<double>(t[static_cast<std::size_t>(i)]));
    }
    Answer("loads_behind_copies", "cycles of a load behind others of its warp, and until those are done")
        .add_text("before", befores[before])
        .add("count", count)
        .add_text("load", kinds[kind])
        .add("all_done", best[1])
        .print(best[0], "cycle", 0);
  };
  for (int kind = in_l1; kind <= cold; ++kind) {
    ask(behind<loads, 0>, loads, 0, kind);
    ask(behind<loads, 1>, loads, 1, kind);
    ask(behind<loads, 4>, loads, 4, kind);
    ask(behind<loads, 8>, loads, 8, kind);
    ask(behind<copies_past_l1, 1>, copies_past_l1, 1, kind);
    ask(behind<copies_past_l1, 4>, copies_past_l1, 4, kind);
    ask(behind<copies_past_l1, 8>, copies_past_l1, 8, kind);
    ask(behind<copies_through_l1, 1>, copies_through_l1, 1, kind);
    ask(behind<copies_through_l1, 4>, copies_through_l1, 4, kind);
    ask(behind<copies_through_l1, 8>, copies_through_l1, 8, kind);
  }
  return 0;
}
