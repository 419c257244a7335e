// How long until the last of n lines that are asked for at once has come from DRAM?
//
// Models:  a block of 256 threads of which the first n load a word of a line each, past L1, and that goes on when all have theirs; 200 times,
//          each time other lines. They lie in a row from a place that a hash picks (`pitch` 128), at places that a hash picks each (0), or
//          64 bytes of rows 8 KiB apart, as tiles of matrices do. One block, or one on each of some SMs, each with lines of its own.
// Ignores: L2, which holds none of them.
// Source:  the SM's clock (how long each time took); counters of ncu, caches flushed (all of them together).
#include <cstring>

#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 200;
constexpr unsigned kMemory = 1u << 30;

__global__ void __launch_bounds__(256) load(const char* data, unsigned* times, int lines, unsigned pitch, float* sink) {
  __shared__ unsigned taken[kRounds];
  float sum = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    const unsigned turn = blockIdx.x * kRounds + round;
    unsigned at;
    if (pitch == 0) at = scrambled(turn * 256 + threadIdx.x) % (kMemory / 128) * 128;
    else at = scrambled(turn) % (kMemory / 4096 - 1024) * 4096 + threadIdx.x * pitch;
    const unsigned long long before = clock_now();
    if (threadIdx.x < static_cast<unsigned>(lines)) {
      float word;
      asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(word) : "l"(data + at) : "memory");
      sum += word;
      if (word == 0.12345f) *sink = word;
    }
    __syncthreads();
    if (threadIdx.x == 0) taken[round] = static_cast<unsigned>(clock_now() - before);
  }
  if (blockIdx.x == 0)
    for (int i = threadIdx.x; i < kRounds; i += 256) times[i] = taken[i];
  if (sum == 0.12345f) *sink = sum;
}

int main(int count, char** words) {
  const bool counters = count > 1 && !std::strcmp(words[1], "counters");
  Buffer<char> data(kMemory);
  Buffer<char> other(counters ? 1 : 256u << 20);
  Buffer<unsigned> times(kRounds);
  Buffer<float> sink(1);
  data.zero();
  int launch = 0;
  for (const int blocks : {1, 24, 132}) {
    for (const unsigned pitch : {128u, 0u, 8192u}) {
      for (const int lines : {1, 2, 4, 8, 16, 32, 64, 128, 256}) {
        if (blocks != 1 && lines != 1 && lines != 32 && lines != 128) continue;
        other.zero();
        CHECK(cudaDeviceSynchronize());
        load<<<blocks, 256>>>(data.get(), times.get(), lines, pitch, sink.get());
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        std::vector<unsigned> t = times.download();
        std::sort(t.begin(), t.end());
        double sum = 0;
        for (unsigned each : t) sum += each;
        Answer answer("cold_groups", "cycles until all of the lines that are asked for at once have come from DRAM, mean");
        if (counters) answer.add("launch", launch++);
        answer.add("blocks", blocks).add("pitch", pitch).add("lines", lines);
        if (!counters) {
          std::vector<double> quantiles;
          for (int i = 0; i <= 10; ++i) quantiles.push_back(t[std::min(kRounds - 1, i * kRounds / 10)]);
          answer.add("deciles", quantiles);
        }
        answer.print(sum / kRounds, "cycle", 0);
      }
    }
  }
  return 0;
}
