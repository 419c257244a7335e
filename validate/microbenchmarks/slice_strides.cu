// How evenly do lines that are a power of two apart lie in L2's slices?
//
// Models:  all SMs add to the first words of so many lines, each warp to 32 of them at once, as often whatever their number; lines in one slice wait for
//          each other there. The time with a single line by that with so many: in how many slices they are as if evenly. Strides are powers
//          of two, and some of rows of matrices that are none.
// Ignores: where a slice is; both partitions count.
// Source:  the SMs' clocks.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 32, kWarps = 8;

/// Lane l of warp w adds to line (32 w + l) % lines in each round.
__global__ void __launch_bounds__(32 * kWarps) strided(char* base, std::size_t stride, unsigned lines, Stamp* out) {
  char* p = base + (threadIdx.x % lines) * stride;
  __syncthreads();
  const unsigned long long t0 = clock_now();
#pragma unroll 4
  for (int i = 0; i < kRounds; ++i) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
}

int main() {
  const int sms = device().multiProcessorCount;
  constexpr std::size_t kMost = std::size_t{4} << 30;
  Buffer<char> memory(kMost);
  CHECK(cudaMemset(memory.get(), 0, kMost));
  Buffer<Stamp> out(static_cast<std::size_t>(sms));
  const auto cycles = [&](std::size_t stride, unsigned lines) {
    std::vector<double> times;
    for (int repeat = 0; repeat < 4; ++repeat) {
      strided<<<static_cast<unsigned>(sms), 32 * kWarps>>>(memory.get(), stride, lines, out.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      double most = 0;
      for (const Stamp& s : out.download()) most = std::max(most, static_cast<double>(s.stop - s.start));
      if (repeat) times.push_back(most);
    }
    return summarize(times);
  };
  const double alone = cycles(128, 1).median;
  const auto ask = [&](std::size_t stride, unsigned lines) {
    if (stride * lines > kMost) return;
    const Summary time = cycles(stride, lines);
    Answer("slice_strides", "slices in which lines that are so far apart lie, as if evenly")
        .add("lines", lines)
        .add("stride", static_cast<double>(stride))
        .add("cycles", time.median)
        .print(alone / time.median, "slice", 0);
  };
  for (unsigned lines : {2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u}) {
    for (std::size_t stride = 128; stride <= (std::size_t{32} << 20); stride *= 2) ask(stride, lines);
    for (std::size_t stride : {384, 1280, 3072, 4224, 12288, 40960}) ask(stride, lines);
  }
  return 0;
}
