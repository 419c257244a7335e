// Which of the warps that could go does a scheduler take?
//
// Models:  the warps of one block, or of several, do the same: chains of FFMA, one or more side by side, chains of integer additions, loads of
//          shared memory, chains that end each round at a branch. Of each warp of scheduler 0 when it ended, from the first one's begin.
// Ignores: the first fetch of the code: every kernel is run before.
// Source:  the SM's clock.
#include "bench.cuh"

using namespace bench;

enum Work : int { kChain, kTwoChains, kFourChains, kIntegers, kShared, kDivergent };
const char* const kNames[] = {"chain of FFMA", "two chains of FFMA", "four chains of FFMA", "chain of IADD3", "chain of LDS", "chain of FFMA and SHFL"};

template <int kWork>
__global__ void __launch_bounds__(1024) work(unsigned rounds, float scale, float* sink, Stamp* out) {
  __shared__ unsigned there[1024];
  there[threadIdx.x] = threadIdx.x;
  float a[4] = {1, 2, 3, 4};
  unsigned n = threadIdx.x;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      if constexpr (kWork <= kFourChains) {
#pragma unroll
        for (int k = 0; k < (1 << kWork); ++k) a[k] = fmaf(a[k], scale, scale);
      } else if constexpr (kWork == kIntegers) {
        asm volatile("{ .reg .u32 t; add.u32 t, %0, %1; xor.b32 %0, t, %1; }" : "+r"(n) : "r"(rounds));
      } else if constexpr (kWork == kShared) {
        n = *const_cast<volatile unsigned*>(&there[n]);
      } else {
        a[0] = fmaf(a[0], scale, scale);
        if (i % 8 == 7) a[0] += __shfl_xor_sync(0xffffffffu, a[0], 1);
      }
    }
  }
  const unsigned long long t1 = clock_now();
  if (a[0] + a[1] + a[2] + a[3] + static_cast<float>(n) == 0.12345f) *sink = a[0];
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {t0, t1, 0, 0, sm_id(), threadIdx.x / 32};
}

struct Runner {
  unsigned sms;
  Buffer<float> sink{1};
  Buffer<Stamp> out{132 * 64 * 4};
  template <int kWork>
  void run(unsigned blocks_per_sm, unsigned warps) {
    const unsigned rounds = kWork == kShared ? 16 : 64;
    const unsigned blocks = sms * blocks_per_sm, count = blocks * warps;
    std::vector<double> end(blocks_per_sm * warps / 4, 0), last;
    constexpr int kRepeats = 5;
    for (int repeat = 0; repeat <= kRepeats; ++repeat) {
      work<kWork><<<blocks, 32 * warps>>>(rounds, 0.5f, sink.get(), out.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      if (repeat == 0) continue;
      // The blocks of the SM of block 0, in order of number.
      std::vector<Stamp> stamps = out.download(count);
      std::vector<Stamp> here;
      for (const Stamp& s : stamps)
        if (s.sm == stamps[0].sm) here.push_back(s);
      unsigned long long first = here[0].start, stop = 0;
      for (const Stamp& s : here) first = std::min(first, s.start), stop = std::max(stop, s.stop);
      for (std::size_t i = 0, k = 0; i < here.size(); ++i)
        if (here[i].block % 4 == 0 && k < end.size()) end[k++] += static_cast<double>(here[i].stop - first) / kRepeats;
      last.push_back(static_cast<double>(stop - first));
    }
    Answer("warp_turns", "cycles until the last warp ended, and each of scheduler 0's")
        .add_text("work", kNames[kWork]).add("blocks_an_sm", blocks_per_sm).add("warps", warps).add("rounds", rounds)
        .add("by_warp", end).print(summarize(last), "cycles");
  }
  template <int kWork>
  void run_all() {
    for (unsigned warps : {8u, 16u, 32u}) run<kWork>(1, warps);
    run<kWork>(2, 16);
    run<kWork>(4, 8);
    run<kWork>(8, 4);
    run<kWork>(2, 32);
  }
};

int main() {
  int count = 0;
  CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  Runner r{static_cast<unsigned>(count)};
  r.run_all<kChain>();
  r.run_all<kTwoChains>();
  r.run_all<kFourChains>();
  r.run_all<kIntegers>();
  r.run_all<kShared>();
  r.run_all<kDivergent>();
  return 0;
}
