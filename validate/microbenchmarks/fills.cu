// Does what DRAM brings take L2's slices time, beyond the reads that ask for it?
//
// Models:  each warp loads `lines` new lines of 128 bytes, which come from DRAM, and `lone` times 32 lone sectors that L2 holds, at places that a
//          hash picks, all past L1 and four at a time; so often that the lines alone take DRAM its time. Each kind alone as well.
// Ignores: writes.
// Source:  the SMs' clocks: a block an SM, from its first load to its last answer, the mean of the SMs.
#include "bench.cuh"

using namespace bench;

__device__ __forceinline__ unsigned load(const char* p) {
  unsigned v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

constexpr int kMost = 8;

template <int kLines, int kLone>
__global__ void __launch_bounds__(1024) mix(const char* far, const char* held, unsigned held_bytes, int rounds, Stamp* out, unsigned* sink) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  unsigned sum = 0;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  for (int r = 0; r < rounds; ++r) {
    unsigned v[kMost] = {}, w[kMost] = {};
    const std::size_t first = (std::size_t(r) * warps + warp) * kLines * 128 + lane * 4;
#pragma unroll
    for (int i = 0; i < kLines; ++i) v[i] = load(far + first + i * 128);
#pragma unroll
    for (int i = 0; i < kLone; ++i) {
      unsigned h = ((r * kLone + i) * warps + warp) * 32 + lane;
      h = (h ^ h >> 15) * 2246822519u;
      h ^= h >> 13;
      w[i] = load(held + h % (held_bytes / 32) * 32);
    }
#pragma unroll
    for (int i = 0; i < kMost; ++i) sum ^= v[i] ^ w[i];
  }
  if (sum == 0x12345) *sink = sum;
  __syncthreads();
  const unsigned long long t1 = clock_now();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, t1, 0, 0, sm_id(), blockIdx.x};
}

int main() {
  const int sms = device().multiProcessorCount;
  constexpr unsigned kHeld = 4u << 20;
  Buffer<char> far(std::size_t{1} << 30), held(kHeld);
  Buffer<unsigned> sink(1);
  Buffer<Stamp> out(static_cast<std::size_t>(sms));
  far.zero();
  held.zero();
  const auto ask = [&](auto kernel, int lines, int lone) {
    std::vector<double> took;
    const int rounds = 64;
    for (int repeat = 0; repeat < 5; ++repeat) {
      mix<0, 8><<<static_cast<unsigned>(sms), 1024>>>(far.get(), held.get(), kHeld, 16, out.get(), sink.get());  // L2 holds it, copies too
      kernel<<<static_cast<unsigned>(sms), 1024>>>(far.get() + (std::size_t{200} << 20) * (repeat % 4), held.get(), kHeld, rounds, out.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      double sum = 0;
      for (const Stamp& stamp : out.download(static_cast<std::size_t>(sms))) sum += static_cast<double>(stamp.stop - stamp.start);
      took.push_back(sum / sms);
    }
    std::sort(took.begin(), took.end());
    Answer("fills", "reads from DRAM beside reads of what L2 holds: cycles a round")
        .add("lines", lines).add("lone", lone).add("warps", 32).add("rounds", rounds)
        .print(took[2] / rounds, "cycle", (took[4] - took[0]) / rounds);
  };
  ask(mix<4, 0>, 4, 0);
  ask(mix<8, 0>, 8, 0);
  ask(mix<0, 1>, 0, 1);
  ask(mix<0, 2>, 0, 2);
  ask(mix<0, 4>, 0, 4);
  ask(mix<4, 1>, 4, 1);
  ask(mix<8, 1>, 8, 1);
  ask(mix<4, 2>, 4, 2);
  ask(mix<8, 2>, 8, 2);
  ask(mix<8, 4>, 8, 4);
  ask(mix<4, 4>, 4, 4);
  ask(mix<2, 4>, 2, 4);
  return 0;
}
