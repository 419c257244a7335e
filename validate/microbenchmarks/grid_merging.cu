// Which blocks of a grid have their reads of the same data merged before L2, where the launch placed them itself?
//
// Models:  blocks that walk through data together, tile after tile with a barrier between: all blocks the same data, or
//          groups of neighbouring blocks, or every n-th block. Data come from DRAM.
// Ignores: tiles that L1 keeps; what merging saves in time.
// Source:  lts__t_sectors_srcunit_tex_op_read.sum of Nsight Compute: line n describes launch n of the process.
#include "bench.cuh"

using namespace bench;

constexpr int kSteps = 64, kThreads = 128;

/// Every thread reads 16 bytes a step: 64 sectors a block and step.
__global__ void __launch_bounds__(kThreads) walk(const uint4* base, int group, int every, unsigned* sms, unsigned* sink) {
  const int block = static_cast<int>(blockIdx.x);
  const int part = every ? block % every : block / group;
  const uint4* at = base + static_cast<std::size_t>(part) * kSteps * kThreads + threadIdx.x;
  unsigned sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    const uint4 v = at[step * kThreads];
    sum += v.x ^ v.y ^ v.z ^ v.w;
    if (sum == 0x12345) *sink = sum;
    __syncthreads();
  }
  if (threadIdx.x == 0) sms[block] = sm_id();
}

int main() {
  const std::size_t words = std::size_t{132} * kSteps * kThreads;
  Buffer<uint4> base(words);
  base.zero();
  Buffer<unsigned> sms(132), sink(1);
  int launch = 0;
  for (int blocks : {2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 132}) {
    struct Sharing { int group, every; };
    for (const Sharing s : {Sharing{132, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {1, 2}, {1, 4}, {1, 8}}) {
      if (s.every == 0 && s.group != 132 && s.group >= blocks) continue;
      if (s.every >= blocks) continue;
      walk<<<static_cast<unsigned>(blocks), kThreads>>>(base.get(), s.group, s.every, sms.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      std::vector<double> where;
      for (unsigned sm : sms.download(static_cast<std::size_t>(blocks))) where.push_back(sm);
      Answer("grid_merging", "sectors that a grid's blocks ask L2 for when so many of them read the same")
          .add("launch", launch++)
          .add("blocks", blocks)
          .add("neighbours_a_group", s.every ? 1 : s.group)
          .add("every", s.every)
          .add("sms", where)
          .print(blocks * 64.0 * kSteps, "sector if nothing merged", 0);
    }
  }
  return 0;
}
