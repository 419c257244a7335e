// Which lines share a slice of L2: all SMs add to two lines in turn, which wait for each other in one slice.
//
// Models:  as slice_map.cu, which asks it of whole pages.
// Ignores: which partition a slice is in.
// Source:  the SMs' clocks.
#pragma once

#include "bench.cuh"

namespace bench {

constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr unsigned kLine = 128, kLines = kPage / kLine, kWarps = 4, kAdds = 32;

/// Waits until all blocks have come `turn` times.
__device__ void meet(unsigned* count, unsigned turn) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);
    while (*reinterpret_cast<volatile unsigned*>(count) < turn * gridDim.x) {}
  }
  __syncthreads();
}

/// The cycles in which all SMs have added to `fixed` and to each of the `tries` lines in turn, by the clock of block 0.
__global__ void __launch_bounds__(32 * kWarps) pairs(char* memory, unsigned fixed, const unsigned* lines,
                                                     unsigned tries, unsigned* count, unsigned* cycles) {
  char* const first = memory + std::size_t{fixed} * kLine;
  for (unsigned i = 0; i < tries; ++i) {
    char* const second = memory + std::size_t{lines[i]} * kLine;
    meet(count, 2 * i + 1);
    const unsigned long long t0 = clock_now();
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (unsigned k = 0; k < kAdds; ++k) {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"((k + threadIdx.x / 32) % 2 ? second : first), "r"(1)
                     : "memory");
      }
      __threadfence();
    }
    meet(count, 2 * i + 2);
    if (blockIdx.x == 0 && threadIdx.x == 0) cycles[i] = static_cast<unsigned>(clock_now() - t0);
  }
}

/// Tells lines of one slice from others.
class SlicePairs {
 public:
  /// `memory`: begins a page; lines are numbered from there.
  explicit SlicePairs(char* memory) : memory_(memory) {
    std::vector<unsigned> probe(1, 0);
    for (unsigned i = 1; i < 512; ++i) probe.push_back(i * 37 % kLines);
    times(0, probe);
    const std::vector<unsigned> first = times(0, probe);
    std::vector<unsigned> sorted(first.begin() + 1, first.end());
    std::sort(sorted.begin(), sorted.end());
    same = first[0];
    apart = sorted[sorted.size() / 2];
    range = sorted.back() - sorted.front();
  }
  /// Cycles of `fixed` with each of the lines `tried`, at most kLines of them.
  std::vector<unsigned> times(unsigned fixed, const std::vector<unsigned>& tried) {
    CHECK(cudaMemcpy(lines_.get(), tried.data(), tried.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(count_.get(), 0, sizeof(unsigned)));
    pairs<<<sms_, 32 * kWarps>>>(memory_, fixed, lines_.get(), static_cast<unsigned>(tried.size()),
                                 count_.get(), cycles_.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned> all = cycles_.download();
    all.resize(tried.size());
    return all;
  }
  /// A pair that takes longer shares a slice: about as long as a line with itself.
  double limit() const { return apart + (same - apart) * 3 / 4; }

  double same = 0, apart = 0,
         range =
             0;  ///< cycles of a line with itself, the median of a line with others, and these times' range

 private:
  char* const memory_;
  const unsigned sms_ = static_cast<unsigned>(device().multiProcessorCount);
  Buffer<unsigned> lines_{kLines}, cycles_{kLines}, count_{32};
};

}  // namespace bench
