// How many loads that take the data stage for long wait in an SM before a warp cannot issue another?
//
// Models:  loads of L1-resident words whose lanes lie in many lines, issued as fast as they can be by 1 to 8 warps a sub-core; the
//          largest number of them that had issued and not been served, the rate being what it is in the end.
// Ignores: stores; loads that miss.
// Source:  the SM's clock, read between the loads.
#include "bench.cuh"

using namespace bench;

constexpr int kLoads = 24;

__global__ void __launch_bounds__(1024) loads(const float* words, int lane_stride, int warp_stride, unsigned* clocks, float* sink) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float* own = words + warp * warp_stride + lane * lane_stride;
  float sum = 0, values[kLoads];
  unsigned t[kLoads + 1];
  for (int i = 0; i < kLoads; ++i) {  // bring the lines into L1
    float x;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(x) : "l"(own + i));
    sum += x;
  }
  __syncthreads();
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t[0])::"memory");
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(values[i]) : "l"(own + i));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t[i + 1])::"memory");
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) sum += values[i];
  if (sum == -1.0f) *sink = sum;
  if (lane == 0) {
    for (int i = 0; i <= kLoads; ++i) clocks[warp * (kLoads + 1) + i] = t[i];
  }
}

int main() {
  Buffer<float> words(1 << 22), sink(1);
  Buffer<unsigned> clocks(32 * (kLoads + 1));
  words.zero();
  for (int lines : {1, 8, 16, 32}) {
    for (int warps : {1, 2, 4, 8, 16, 32}) {
      std::vector<double> waiting, intervals;
      for (int r = 0; r < 6; ++r) {
        loads<<<1, static_cast<unsigned>(warps * 32)>>>(words.get(), lines, 0, clocks.get(), sink.get());
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        if (r == 0) continue;
        const std::vector<unsigned> t = clocks.download();
        unsigned begin = ~0u;
        for (int w = 0; w < warps; ++w) begin = std::min(begin, t[static_cast<std::size_t>(w) * (kLoads + 1)]);
        std::vector<double> issued;
        for (int w = 0; w < warps; ++w) {
          for (int i = 1; i <= kLoads; ++i) issued.push_back(t[static_cast<std::size_t>(w) * (kLoads + 1) + static_cast<std::size_t>(i)] - begin);
        }
        std::sort(issued.begin(), issued.end());
        const std::size_t n = issued.size();
        const double interval = (issued[n * 3 / 4] - issued[n / 2]) / static_cast<double>(n * 3 / 4 - n / 2);
        double most = 0;
        for (std::size_t k = 0; k < n; ++k) most = std::max(most, static_cast<double>(k + 1) - issued[k] / interval);
        waiting.push_back(most);
        intervals.push_back(interval);
      }
      Answer("load_queue", "most loads of an SM that had issued and were not served, at the rate of the steady state")
          .add("lines", lines)
          .add("warps", warps)
          .add("interval", summarize(intervals).median)
          .print(summarize(waiting), "load");
    }
  }
  return 0;
}
