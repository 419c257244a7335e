// What do lines that are asked for at the same time have in common on their way to DRAM?
//
// Models:  `together`: warps of one SM ask for one line each, `stride` apart, at once; each times its own. Lines that
//          share a channel, a bank or a row wait for each other. `rate`: every SM asks for a line in fixed intervals,
//          neighbours in memory or scattered over gigabytes; latency against the rate. `bank`: two lines at a
//          distance, the second once the first is there: is its row still open?
// Ignores: stores; more than one sector a line.
// Source:  the SMs' own clocks.
#include <cmath>

#include "bench.cuh"

using namespace bench;

constexpr std::size_t kSpan = std::size_t{24} << 30;  // far beyond L2: what was read does not come back

__global__ void ask_together(const char* base, std::size_t stride, std::size_t step, int rounds, unsigned* cycles, unsigned* sink) {
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
  unsigned sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const char* p = base + static_cast<std::size_t>(round) * step + warp * stride;
    __syncthreads();
    const unsigned long long due = (clock_now() / 4096 + 2) * 4096;  // the SM's warps leave at one cycle
    while (clock_now() < due) {
    }
    if (threadIdx.x % 32 == 0) {
      const unsigned long long t0 = clock_now();
      const unsigned v = *reinterpret_cast<const volatile unsigned*>(p);
      sum ^= v;
      if (sum == 0x12345) *sink = sum;
      const unsigned long long t1 = clock_now();
      cycles[static_cast<std::size_t>(round) * warps + warp] = static_cast<unsigned>(t1 - t0);
    }
    __syncthreads();
  }
}

__device__ __forceinline__ std::size_t scatter(std::size_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 33;
}

/// Every SM's one warp asks for one line every `period` cycles.
__global__ void ask_in_step(const char* base, std::size_t first, bool scattered, int period, int rounds, unsigned* cycles, unsigned* sink) {
  if (threadIdx.x != 0) return;
  unsigned sum = 0;
  const unsigned long long start = clock_now() + 4000 + blockIdx.x % 16 * static_cast<unsigned>(period) / 16;
  for (int round = 0; round < rounds; ++round) {
    const std::size_t number = first + static_cast<std::size_t>(round) * gridDim.x + blockIdx.x;
    const std::size_t line = scattered ? scatter(number) % (kSpan / 128) : number;
    const unsigned long long due = start + static_cast<unsigned long long>(round) * static_cast<unsigned>(period);
    while (clock_now() < due) {
    }
    const unsigned long long t0 = clock_now();
    const unsigned v = *reinterpret_cast<const volatile unsigned*>(base + line * 128);
    sum ^= v;
    if (sum == 0x12345) *sink = sum;
    const unsigned long long t1 = clock_now();
    cycles[static_cast<std::size_t>(round) * gridDim.x + blockIdx.x] = static_cast<unsigned>(t1 - t0);
  }
}

/// One lane: a line, and when it is there another at a distance.
__global__ void ask_twice(const char* base, std::size_t distance, std::size_t step, int rounds, unsigned* cycles, unsigned* sink) {
  unsigned sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const char* p = base + static_cast<std::size_t>(round) * step;
    for (int second = 0; second < 2; ++second) {
      const unsigned long long t0 = clock_now();
      const unsigned v = *reinterpret_cast<const volatile unsigned*>(p + (second ? distance : 0));
      sum ^= v;
      if (sum == 0x12345) *sink = sum;
      const unsigned long long t1 = clock_now();
      cycles[2 * round + second] = static_cast<unsigned>(t1 - t0);
    }
  }
}

std::vector<double> percentiles_of(std::vector<unsigned>& all) {
  std::sort(all.begin(), all.end());
  std::vector<double> percentiles;
  for (int p : {0, 5, 25, 50, 75, 95, 99}) percentiles.push_back(all[all.size() * static_cast<std::size_t>(p) / 100]);
  return percentiles;
}
double mean_of(const std::vector<unsigned>& all) {
  double sum = 0;
  for (unsigned c : all) sum += c;
  return sum / static_cast<double>(all.size());
}

int main() {
  int device = 0, sms = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  Buffer<char> base(kSpan + (std::size_t{2} << 30));
  Buffer<unsigned> cycles(1 << 22), sink(1);
  base.zero();
  const int rounds = 400;
  const std::size_t step = (std::size_t{53} << 20) + 128 * 37;  // another page, channel and row each round
  std::size_t fresh = 0;
  for (int warps : {1, 2, 4, 8, 16, 32}) {
    for (std::size_t stride = 128; stride <= std::size_t{2} << 20; stride *= 2) {
      if (warps == 1 && stride > 128) continue;
      // Lines that no launch before has read.
      fresh += (std::size_t{1} << 20) + 128 * 1031;
      ask_together<<<1, static_cast<unsigned>(warps * 32)>>>(base.get() + fresh, stride, step, rounds, cycles.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      std::vector<unsigned> all = cycles.download(static_cast<std::size_t>(rounds * warps));
      std::vector<unsigned> last;
      for (int r = 0; r < rounds; ++r) last.push_back(*std::max_element(all.begin() + r * warps, all.begin() + (r + 1) * warps));
      const double mean = mean_of(all), mean_last = mean_of(last);
      const std::vector<double> percentiles = percentiles_of(all);
      Answer("dram_together", "latency of lines that warps of one SM ask for at once: percentiles 0 5 25 50 75 95 99")
          .add("warps", warps)
          .add("stride_bytes", static_cast<double>(stride))
          .add("percentiles", percentiles)
          .add("mean_of_the_last", mean_last)
          .print(mean, "cycle", percentiles.back() - percentiles.front());
    }
  }
  std::size_t first = 0;
  for (bool scattered : {false, true}) {
    for (int period : {20000, 8000, 4000, 2000, 1500, 1200, 1000}) {
      const int turns = 300;
      ask_in_step<<<static_cast<unsigned>(sms), 32>>>(base.get(), first, scattered, period, turns, cycles.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      first += static_cast<std::size_t>(turns * sms);
      std::vector<unsigned> all = cycles.download(static_cast<std::size_t>(turns * sms));
      const double mean = mean_of(all);
      const std::vector<double> percentiles = percentiles_of(all);
      Answer("dram_rate", "latency when every SM asks for a line in fixed intervals: percentiles 0 5 25 50 75 95 99")
          .add("scattered", scattered)
          .add("period_cycles", period)
          .add("percentiles", percentiles)
          .print(mean, "cycle", percentiles.back() - percentiles.front());
    }
  }
  for (std::size_t distance = 64; distance <= std::size_t{64} << 20; distance *= 2) {
    ask_twice<<<1, 1>>>(base.get(), distance, step, rounds, cycles.get(), sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const std::vector<unsigned> all = cycles.download(static_cast<std::size_t>(2 * rounds));
    std::vector<unsigned> second, one;
    for (int r = 0; r < rounds; ++r) one.push_back(all[2 * r]), second.push_back(all[2 * r + 1]);
    const double mean = mean_of(second), mean_one = mean_of(one);
    const std::vector<double> percentiles = percentiles_of(second);
    Answer("dram_second", "latency of a line once one at a distance was read: percentiles 0 5 25 50 75 95 99")
        .add("distance_bytes", static_cast<double>(distance))
        .add("percentiles", percentiles)
        .add("mean_of_the_first", mean_one)
        .print(mean, "cycle", percentiles.back() - percentiles.front());
  }
  return 0;
}
