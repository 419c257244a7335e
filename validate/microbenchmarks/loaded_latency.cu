// How far apart do the latencies of loads lie when the whole chip loads from DRAM or L2?
//
// Models:  every thread of a grid loads one word (or 16 bytes), as a vector add does; each warp notes the cycles from
//          its load's issue to its first use, each block the cycles from its first load to its last.
// Ignores: stores.
// Source:  the SMs' own clocks.
#include <cmath>

#include "bench.cuh"

using namespace bench;

template <typename Word>
__global__ void timed_load(const Word* base, int loads, std::size_t step, unsigned* warp_cycles, unsigned long long* ends, unsigned* sink) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  unsigned sum = 0;
  for (int k = 0; k < loads; ++k) {
    const unsigned long long t0 = clock_now();
    const Word v = *reinterpret_cast<const volatile Word*>(base + i + k * step);
    sum ^= static_cast<unsigned>(v);
    if (sum == 0x12345) *sink = sum;
    const unsigned long long t1 = clock_now();
    if (threadIdx.x % 32 == 0) warp_cycles[i / 32 * static_cast<std::size_t>(loads) + k] = static_cast<unsigned>(t1 - t0);
  }
  if (threadIdx.x % 32 == 0) ends[i / 32] = clock_now();
}

__global__ void read_words(const unsigned* base, std::size_t count, unsigned* sink) {
  unsigned sum = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += step) sum ^= base[i];
  if (sum == 0x12345) *sink = sum;
}

template <typename Word>
void ask(const char* width, int threads, int blocks_an_sm, int waves, int loads, bool in_l2) {
  int device = 0, sms = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const std::size_t blocks = static_cast<std::size_t>(sms) * blocks_an_sm * waves;
  const std::size_t total = blocks * threads;
  const std::size_t others = in_l2 ? 1 : std::size_t{64} << 20;
  Buffer<Word> base(total * loads);
  Buffer<unsigned> other(others);
  Buffer<unsigned> cycles(total / 32 * loads), sink(1);
  Buffer<unsigned long long> ends(total / 32);
  base.zero();
  other.zero();
  // What was there leaves L2, and nothing dirty stays in it: a miss would have to write that back.
  for (int pass = 0; pass < 3; ++pass) read_words<<<1056, 512>>>(other.get(), others, sink.get());
  const int shared = 228 * 1024 / blocks_an_sm - 1024 - 512;
  CHECK(cudaFuncSetAttribute(timed_load<Word>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  for (int pass = 0; pass < (in_l2 ? 2 : 1); ++pass) {
    timed_load<Word><<<static_cast<unsigned>(blocks), threads, shared>>>(base.get(), loads, total, cycles.get(), ends.get(), sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  std::vector<unsigned> all = cycles.download();
  const std::vector<unsigned long long> end = ends.download();
  double sum = 0, squares = 0;
  for (unsigned c : all) sum += c, squares += static_cast<double>(c) * c;
  const double mean = sum / all.size();
  std::vector<double> by_load(loads, 0.0);
  for (std::size_t i = 0; i < all.size(); ++i) by_load[i % loads] += static_cast<double>(all[i]) * loads / all.size();
  std::vector<double> block_spread;
  const std::size_t warps = static_cast<std::size_t>(threads) / 32;
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto first = end.begin() + static_cast<std::ptrdiff_t>(b * warps);
    const auto [low, high] = std::minmax_element(first, first + static_cast<std::ptrdiff_t>(warps));
    block_spread.push_back(static_cast<double>(*high - *low));
  }
  std::sort(all.begin(), all.end());
  std::vector<double> percentiles;
  for (int p : {0, 1, 5, 10, 25, 50, 75, 90, 95, 99}) percentiles.push_back(all[all.size() * p / 100]);
  percentiles.push_back(all.back());
  const Summary spread = summarize(block_spread);
  Answer("loaded_latency", "latency of a load while every SM loads: percentiles 0 1 5 10 25 50 75 90 95 99 100")
      .add_text("width", width)
      .add("threads", threads)
      .add("blocks_an_sm", blocks_an_sm)
      .add("waves", waves)
      .add("loads_in_a_row", loads)
      .add("in_l2", in_l2)
      .add("percentiles", percentiles)
      .add("mean_by_load", by_load)
      .add("sigma", std::sqrt(std::max(0.0, squares / all.size() - mean * mean)))
      .add("last_warp_after_first_of_block_median", spread.median)
      .print(mean, "cycle", percentiles.back() - percentiles.front());
}

int main() {
  for (int threads : {32, 128, 256, 512, 1024}) {
    for (int blocks : {1, 2, 4, 8}) {
      if (threads * blocks > 2048) continue;
      ask<unsigned>("32", threads, blocks, 1, 4, false);
      ask<unsigned>("32", threads, blocks, 1, 4, true);
      if (threads * blocks <= 1024) ask<unsigned long long>("64", threads, blocks, 1, 4, false);
    }
  }
  ask<unsigned>("32", 256, 8, 16, 1, false);
  ask<unsigned>("32", 1024, 2, 16, 1, false);
  ask<unsigned>("32", 1024, 1, 16, 1, false);
  ask<unsigned>("32", 128, 16, 16, 1, false);
  return 0;
}
