// How fast do pipelines of cp.async run whose data are cold: by stages, blocks, the shape of a tile and how many blocks read it?
//
// Models:  blocks of 128 threads that fill `stages` stages of 16 KiB of shared memory by cp.async.cg of 16 bytes, stage after stage,
//          a barrier and one load of shared memory for each, as tiled matrix products without the products. A tile is contiguous, or rows
//          of 64 or 128 bytes, 4 KiB apart, whose next part the next stage reads. `share` blocks in a row read the same tiles.
// Ignores: what happens once L2 holds the data.
// Source:  counters of ncu, caches flushed.
#include "bench.cuh"

using namespace bench;

constexpr int kThreads = 128, kStageBytes = 16384, kChunks = kStageBytes / (16 * kThreads), kSteps = 32, kPitch = 4096;

template <int kStages>
__global__ void __launch_bounds__(kThreads) copy(const char* data, float* sink, int row_bytes, int share) {
  extern __shared__ __align__(128) char shared[];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const unsigned owner = blockIdx.x / share;
  // A stage's chunk `c` of this thread: 16-byte piece number c * kThreads + thread.
  auto fetch = [&](int step) {
    if (step < kSteps) {
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        const unsigned piece = c * kThreads + threadIdx.x, in_row = row_bytes / 16;
        const std::size_t at = row_bytes == 0
                                   ? static_cast<std::size_t>(owner * kSteps + step) * kStageBytes + piece * 16
                                   : static_cast<std::size_t>(owner * (kStageBytes / row_bytes) + piece / in_row) * kPitch + step * row_bytes + piece % in_row * 16;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + step % kStages * kStageBytes + piece * 16), "l"(data + at) : "memory");
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(s);
  float sum = 0;
#pragma unroll 1
  for (int step = 0; step < kSteps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
    fetch(step + kStages - 1);
    sum += *reinterpret_cast<const float*>(shared + step % kStages * kStageBytes + threadIdx.x * 4);
  }
  if (sum == 0.12345f) *sink = sum;
}

struct Runner {
  Buffer<char> data{std::size_t{1} << 30};
  Buffer<float> sink{1};
  int launch = 0;
  template <int kStages>
  void points() {
    CHECK(cudaFuncSetAttribute(copy<kStages>, cudaFuncAttributeMaxDynamicSharedMemorySize, kStages * kStageBytes));
    for (const int row_bytes : {0, 64, 128}) {
      for (const int share : {1, 8}) {
        for (const int blocks : {24, 96, 132, 264}) {
          copy<kStages><<<blocks, kThreads, kStages * kStageBytes>>>(data.get(), sink.get(), row_bytes, share);
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          Answer("pipelined_copies", "pipelines of cp.async whose data are cold")
              .add("launch", launch++).add("stages", kStages).add("row_bytes", row_bytes).add("share", share)
              .print(blocks, "block", 0);
        }
      }
    }
  }
};

int main() {
  Runner r;
  r.data.zero();
  CHECK(cudaDeviceSynchronize());
  r.points<2>();
  r.points<3>();
  r.points<4>();
  return 0;
}
