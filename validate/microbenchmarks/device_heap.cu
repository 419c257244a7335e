// What do malloc() and free() of a kernel take?
//
// Models:  lanes of warps that take a piece of the heap and give it back, again and again; cycles of a warp from before the call until
//          all its lanes are back from it. The instructions that this takes are ncu's to count (docs: DEVIATIONS D75).
// Ignores: pieces that stay; heaps that are nearly full.
// Source:  the SM's clock.
#include "bench.cuh"

using namespace bench;

__global__ void take_and_give(int lanes, int bytes, int times, unsigned long long* out) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  unsigned long long taking = 0, giving = 0;
  for (int i = 0; i < times; ++i) {
    __syncwarp();
    const unsigned long long t0 = clock_now();
    char* piece = lane < static_cast<unsigned>(lanes) ? static_cast<char*>(malloc(bytes)) : nullptr;
    if (piece != nullptr) *static_cast<volatile char*>(piece) = 1;
    __syncwarp();
    const unsigned long long t1 = clock_now();
    if (lane < static_cast<unsigned>(lanes) && piece == nullptr) __trap();
    free(piece);
    __syncwarp();
    const unsigned long long t2 = clock_now();
    if (i == 0) continue;  // code and the heap's own data come from DRAM
    taking += t1 - t0;
    giving += t2 - t1;
  }
  if (lane == 0) {
    out[2 * warp] = taking / (times - 1);
    out[2 * warp + 1] = giving / (times - 1);
  }
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{1} << 30));
  const int times = 9;
  for (const int blocks : {1, 132})
    for (const int warps : {1, 4, 32})
      for (const int lanes : {1, 8, 32})
        for (const int bytes : {16, 256, 4096}) {
          if (static_cast<std::size_t>(blocks) * warps * lanes * bytes > std::size_t{1} << 28) continue;
          Buffer<unsigned long long> out(static_cast<std::size_t>(2) * blocks * warps);
          std::vector<double> taking, giving;
          for (int repeat = 0; repeat < 3; ++repeat) {
            take_and_give<<<blocks, 32 * warps>>>(lanes, bytes, times, out.get());
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
            const std::vector<double> mean = mean_of_columns(out.download(), 2);
            taking.push_back(mean[0]);
            giving.push_back(mean[1]);
          }
          for (const bool take : {true, false})
            Answer("device_heap", take ? "cycles of a warp's malloc" : "cycles of a warp's free")
                .add("blocks", blocks)
                .add("warps", warps)
                .add("lanes", lanes)
                .add("bytes", bytes)
                .print(summarize(take ? taking : giving), "cycle");
        }
  return 0;
}
