// How much later than the others do the last SMs end, and do their blocks get on alike, by what all SMs do at once?
//
// Models:  each SM's blocks do the same amount of work: arithmetic, loads that DRAM or L2 serves, by grid stride and of chunks of their
//          own, one after another or many at once, stores of lines and of lone words, reductions. Of each SM the cycles from its first
//          block's start to its last one's end, and of each block of an SM, in order of number.
// Ignores: how much later than others an SM starts.
// Source:  the SMs' clocks.
#include "bench.cuh"

using namespace bench;

enum Work : int { kArithmetic, kReadStride, kReadOwn, kReadL2, kReadRandom, kReadLone, kStoreOwn, kStoreWords, kAdd, kCopy };
const char* const kNames[] = {"arithmetic", "dram_grid_stride", "dram_own_chunk", "l2_grid_stride", "l2_random_sectors", "l2_lone_lanes",
                              "store_lines", "store_lone_words", "reductions_of_lines", "copy"};

struct Place {
  char* base;            // of this launch
  unsigned bytes;        // that it may touch from there, a power of two
  unsigned rounds;
};

/// A word of four that are loaded together, past L1.
__device__ __forceinline__ float whole(const char* base, unsigned line) {
  float a, b, c, d;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(base + std::size_t{line} * 16) : "memory");
  return a + b + c + d;
}

template <int kWork>
__global__ void __launch_bounds__(1024) work(Place place, float* sink, Stamp* out) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  float sum = static_cast<float>(thread);
  const unsigned lines = place.bytes / 16, sectors = place.bytes / 32;
  for (unsigned r = 0; r < place.rounds; ++r) {
    if constexpr (kWork == kArithmetic) {
#pragma unroll
      for (int i = 0; i < 16; ++i) sum = sum * 1.0001f + 0.5f;
    } else if constexpr (kWork == kReadStride || kWork == kReadL2) {
      sum += whole(place.base, (r * threads + thread) & (lines - 1));
    } else if constexpr (kWork == kReadOwn) {
      sum += whole(place.base, lines / gridDim.x * blockIdx.x + r * blockDim.x + threadIdx.x);
    } else if constexpr (kWork == kReadRandom) {
      sum += __ldcg(reinterpret_cast<const float*>(place.base) + (scrambled(thread + r * threads) & (sectors - 1)) * 8);
    } else if constexpr (kWork == kReadLone) {
      const unsigned at = (scrambled(threadIdx.x / 32 + blockIdx.x * 32 + r * 65537 + (sum == 0.123f)) & (sectors - 1)) * 8;
      sum += __ldcg(reinterpret_cast<const float*>(place.base) + at);
    } else if constexpr (kWork == kStoreOwn) {
      __stcg(reinterpret_cast<float4*>(place.base) + lines / gridDim.x * blockIdx.x + r * blockDim.x + threadIdx.x, float4{sum, sum, sum, sum});
    } else if constexpr (kWork == kStoreWords) {
      __stcg(reinterpret_cast<float*>(place.base) + (scrambled(thread + r * threads) & (sectors - 1)) * 8, sum);
    } else if constexpr (kWork == kAdd) {
      atomicAdd(reinterpret_cast<unsigned*>(place.base) + ((r * threads + thread) & (sectors * 8 - 1)), 1u);
    } else {
      const unsigned at = (r * threads + thread) & (lines / 2 - 1);
      const float v = whole(place.base, at);
      reinterpret_cast<float4*>(place.base)[at + lines / 2] = float4{v, v, v, v};
    }
  }
  if (sum == 0.12345f) *sink = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
}

/// Blocks of `threads` threads, `blocks_per_sm` on each SM; every repeat begins `step` bytes further on.
template <int kWork>
void ask(unsigned sms, unsigned threads, unsigned blocks_per_sm, unsigned rounds, unsigned bytes, std::size_t step, Buffer<char>& memory, Buffer<float>& sink,
         Buffer<Stamp>& out) {
  const unsigned blocks = sms * blocks_per_sm;
  std::vector<double> of_sm(sms, 0), of_turn(blocks_per_sm, 0), means, lasts;
  constexpr int kRepeats = 4;
  for (int repeat = 0; repeat <= kRepeats; ++repeat) {
    work<kWork><<<blocks, threads>>>({memory.get() + step * static_cast<std::size_t>(repeat), bytes, rounds}, sink.get(), out.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    if (repeat == 0) continue;
    std::vector<std::vector<Stamp>> there(sms);
    for (const Stamp& s : out.download(blocks)) there[s.sm % sms].push_back(s);
    double mean = 0, last = 0;
    for (unsigned sm = 0; sm < sms; ++sm) {
      std::vector<Stamp>& stamps = there[sm];
      if (stamps.empty()) continue;
      std::sort(stamps.begin(), stamps.end(), [](const Stamp& a, const Stamp& b) { return a.block < b.block; });
      unsigned long long first = stamps.front().start, end = 0;
      for (const Stamp& s : stamps) first = std::min(first, s.start), end = std::max(end, s.stop);
      const double span = static_cast<double>(end - first);
      for (std::size_t i = 0; i < stamps.size() && i < blocks_per_sm; ++i)
        of_turn[i] += static_cast<double>(stamps[i].stop - first) / sms / kRepeats;
      of_sm[sm] += span / kRepeats;
      mean += span / sms;
      last = std::max(last, span);
    }
    means.push_back(mean);
    lasts.push_back(last - mean);
  }
  Answer("sm_ends", "cycles from an SM's first block's start to its last one's end, the mean of the SMs; and what the last takes more")
      .add_text("work", kNames[kWork])
      .add("threads", threads)
      .add("blocks_an_sm", blocks_per_sm)
      .add("rounds", rounds)
      .add("mib", static_cast<double>(bytes >> 20))
      .add("last_more", summarize(lasts).median)
      .add("by_turn", of_turn)
      .add("by_sm", of_sm)
      .print(summarize(means), "cycles");
}

int main() {
  int device = 0, count = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  const unsigned sms = static_cast<unsigned>(count);
  Buffer<char> memory(std::size_t{1} << 30);
  Buffer<float> sink(1);
  Buffer<Stamp> out(sms * 16);
  memory.zero();
  constexpr unsigned kMiB = 1u << 20;
  for (unsigned per_sm : {1u, 4u}) {
    const unsigned threads = 1024 / per_sm;
    ask<kArithmetic>(sms, threads, per_sm, 64, kMiB, 0, memory, sink, out);
    ask<kReadStride>(sms, threads, per_sm, 32, 128 * kMiB, 128 * kMiB, memory, sink, out);
    ask<kReadOwn>(sms, threads, per_sm, 32 , 128 * kMiB, 128 * kMiB, memory, sink, out);
    ask<kReadL2>(sms, threads, per_sm, 64, 8 * kMiB, 0, memory, sink, out);
    ask<kReadRandom>(sms, threads, per_sm, 16, 8 * kMiB, 0, memory, sink, out);
    ask<kReadLone>(sms, threads, per_sm, 32, 8 * kMiB, 0, memory, sink, out);
    ask<kStoreOwn>(sms, threads, per_sm, 16, 128 * kMiB, 0, memory, sink, out);
    ask<kStoreWords>(sms, threads, per_sm, 8, 8 * kMiB, 0, memory, sink, out);
    ask<kAdd>(sms, threads, per_sm, 16, 8 * kMiB, 0, memory, sink, out);
    ask<kCopy>(sms, threads, per_sm, 16, 128 * kMiB, 128 * kMiB, memory, sink, out);
  }
  return 0;
}
