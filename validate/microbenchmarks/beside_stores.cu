// What do loads and stores of whole lines cost L2 beside each other?
//
// Models:  each warp loads `held` lines that L2 holds and `fresh` lines that come from DRAM, and stores `stores` lines of which L2 holds the
//          place, all past L1, at places that a hash picks (fresh ones in order). Each kind alone, and together.
// Ignores: what is written back: the stores' places fit L2 and are written again and again.
// Source:  the SMs' clocks: a block an SM, from its first access to its last one's end, the mean of the SMs.
#include "bench.cuh"

using namespace bench;

__device__ __forceinline__ unsigned load(const char* p) {
  unsigned v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

__device__ __forceinline__ unsigned place(unsigned n, unsigned lines) {
  return scrambled(n) % lines;
}

constexpr int kMost = 8;

template <int kHeld, int kFresh, int kStores>
__global__ void __launch_bounds__(1024) mix(const char* held, const char* fresh, char* to, unsigned lines, int rounds, Stamp* out, unsigned* sink) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  unsigned sum = 0;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  for (int r = 0; r < rounds; ++r) {
    unsigned v[kMost] = {}, w[kMost] = {};
#pragma unroll
    for (int i = 0; i < kHeld; ++i) v[i] = load(held + place((r * kHeld + i) * warps + warp, lines) * 128 + lane * 4);
#pragma unroll
    for (int i = 0; i < kFresh; ++i) w[i] = load(fresh + ((std::size_t(r) * warps + warp) * kFresh + i) * 128 + lane * 4);
#pragma unroll
    for (int i = 0; i < kStores; ++i)
      asm volatile("st.global.u32 [%0], %1;" ::"l"(to + place((r * kStores + i) * warps + warp + 77, lines) * 128 + lane * 4), "r"(r) : "memory");
#pragma unroll
    for (int i = 0; i < kMost; ++i) sum ^= v[i] ^ w[i];
  }
  if (sum == 0x12345) *sink = sum;
  __threadfence();
  __syncthreads();
  const unsigned long long t1 = clock_now();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, t1, 0, 0, sm_id(), blockIdx.x};
}

int main() {
  const int sms = device().multiProcessorCount;
  constexpr unsigned kBytes = 4u << 20;
  Buffer<char> held(kBytes), to(kBytes), fresh(std::size_t{1} << 30);
  Buffer<unsigned> sink(1);
  Buffer<Stamp> out(static_cast<std::size_t>(sms));
  held.zero();
  to.zero();
  fresh.zero();
  const auto ask = [&](auto kernel, int loads, int news, int stores) {
    std::vector<double> took;
    const int rounds = 64;
    for (int repeat = 0; repeat < 5; ++repeat) {
      mix<8, 0, 8><<<static_cast<unsigned>(sms), 1024>>>(held.get(), fresh.get(), to.get(), kBytes / 128, 16, out.get(), sink.get());  // L2 holds them
      kernel<<<static_cast<unsigned>(sms), 1024>>>(held.get(), fresh.get() + (std::size_t{200} << 20) * (repeat % 4), to.get(), kBytes / 128, rounds,
                                                   out.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      double sum = 0;
      for (const Stamp& stamp : out.download(static_cast<std::size_t>(sms))) sum += static_cast<double>(stamp.stop - stamp.start);
      took.push_back(sum / sms);
    }
    std::sort(took.begin(), took.end());
    Answer("beside_stores", "loads beside stores of whole lines: cycles a round")
        .add("held", loads).add("fresh", news).add("stores", stores).add("warps", 32).add("rounds", rounds)
        .print(took[2] / rounds, "cycle", (took[4] - took[0]) / rounds);
  };
  ask(mix<8, 0, 0>, 8, 0, 0);
  ask(mix<0, 8, 0>, 0, 8, 0);
  ask(mix<0, 0, 8>, 0, 0, 8);
  ask(mix<0, 0, 4>, 0, 0, 4);
  ask(mix<8, 0, 8>, 8, 0, 8);
  ask(mix<8, 0, 4>, 8, 0, 4);
  ask(mix<8, 0, 2>, 8, 0, 2);
  ask(mix<4, 0, 8>, 4, 0, 8);
  ask(mix<0, 8, 8>, 0, 8, 8);
  ask(mix<0, 8, 4>, 0, 8, 4);
  ask(mix<0, 8, 2>, 0, 8, 2);
  ask(mix<4, 4, 4>, 4, 4, 4);
  ask(mix<8, 8, 0>, 8, 8, 0);
  return 0;
}
