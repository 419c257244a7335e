// How many asynchronous copies and wide loads of an SM are under way before its warps cannot issue the next one?
//
// Models:  each warp issues 1 to 16 copies of 16 bytes per lane (cp.async), or loads of 16 bytes per lane, waits for all of them, and begins
//          again: 32 rounds. A warp's lanes read rows of 64, 128 or 512 bytes that lie in lines of their own (a copy has 8 half lines, 4 lines, or
//          4 lines in a row), from a set that L2 holds or so large that each line comes from DRAM. One block per SM, on one SM or on all.
//          Where nothing limits them, a round takes the latency and what the lines take of the way; where an SM keeps only so many,
//          rounds grow and the states say at which queue warps stand (`mio_throttle`, `lg_throttle`). Each copy of a warp has a place of its
//          own: of two that are under way to one place the SM fetches one.
// Ignores: what the copies take of shared memory beside other accesses (async_copies.cu).
// Source:  counters of ncu. The kernel prefetches the set that L2 is to hold before its rounds, because ncu empties L2 between its passes.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 32;
enum Kind : int { kCopy, kCopyThroughL1, kLoad };
constexpr unsigned kL2Lines = 1u << 12, kDramLines = 1u << 23;  // 512 KiB and 1 GiB

template <int kKind, int kCount>
__global__ void __launch_bounds__(1024) ask(const char* memory, unsigned mask_lines, unsigned seed, int row, unsigned* sink) {
  extern __shared__ __align__(16) char shared[];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + warp * (kCount * 512) + lane * 16;
  const unsigned pieces = 512 / static_cast<unsigned>(row), piece = lane * 16 / static_cast<unsigned>(row);
  if (mask_lines < kDramLines - 1) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i <= mask_lines; i += gridDim.x * blockDim.x)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(memory + std::size_t{i} * 128));
    __syncthreads();
  }
  unsigned number = ((blockIdx.x * blockDim.x + threadIdx.x) / 32) * 65536 + seed, sum = 0;
  for (int r = 0; r < kRounds; ++r) {
    uint4 got[kKind == kLoad ? kCount : 1];
#pragma unroll
    for (int i = 0; i < kCount; ++i, number += pieces) {
      const unsigned line = scrambled(number + piece) & mask_lines & (row == 512 ? ~3u : ~0u);
      const char* const from = memory + std::size_t{line} * 128 + lane * 16 % row;
      if constexpr (kKind == kCopy) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i * 512), "l"(from) : "memory");
      if constexpr (kKind == kCopyThroughL1)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to + i * 512), "l"(from) : "memory");
      if constexpr (kKind == kLoad)
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(got[i].x), "=r"(got[i].y), "=r"(got[i].z), "=r"(got[i].w) : "l"(from) : "memory");
    }
    if constexpr (kKind == kLoad) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) sum |= got[i].x ^ got[i].y ^ got[i].z ^ got[i].w;
      number += sum;  // all are 0; the next round waits for this one
    } else {
      asm volatile("cp.async.wait_all;" ::: "memory");
    }
  }
  if (sum) *sink = sum;
}

/// Each warp loads its eight pieces, or does not, and copies them again and again past L1: what of them crosses to the SM?
__global__ void __launch_bounds__(1024) again(const char* memory, bool loaded, unsigned* sink) {
  extern __shared__ __align__(16) char shared[];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + warp * 4096 + lane * 16;
  const char* const from = memory + warp * 4096 + lane * 16;
  unsigned sum = 0;
  for (int i = 0; loaded && i < 8; ++i) {
    unsigned v;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(from + i * 512) : "memory");
    sum |= v;
  }
  __syncthreads();
  for (int r = 0; r < kRounds + static_cast<int>(sum); ++r) {
#pragma unroll
    for (int i = 0; i < 8; ++i) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i * 512), "l"(from + i * 512) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
  if (sum) *sink = sum;
}

struct Runner {
  Buffer<char> memory{std::size_t{kDramLines} * 128};
  Buffer<unsigned> sink{1};
  int launch = 0;
  unsigned seed = 0;

  template <int kKind, int kCount>
  void point(bool dram, int row, unsigned warps, unsigned blocks) {
    static const char* const kinds[] = {"copies past L1", "copies through L1", "loads"};
    const int shared = static_cast<int>(warps) * kCount * 512;
    if (shared > 128 * 1024) return;
    CHECK(cudaFuncSetAttribute(ask<kKind, kCount>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    ask<kKind, kCount><<<blocks, 32 * warps, shared>>>(memory.get(), (dram ? kDramLines : kL2Lines) - 1, dram ? ++seed * 9973u : 0u, row, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("copies_under_way", "rounds of copies or loads of 16 bytes per lane, each waited for: instructions of a warp")
        .add("launch", launch++).add_text("kind", kinds[kKind]).add_text("from", dram ? "dram" : "l2").add("row", row)
        .add("warps", warps).add("blocks", blocks).add("in_flight", kCount)
        .print(kRounds * kCount, "instruction", 0);
  }
  template <int kKind>
  void points(bool dram, int row, unsigned warps, unsigned blocks) {
    point<kKind, 1>(dram, row, warps, blocks);
    point<kKind, 2>(dram, row, warps, blocks);
    point<kKind, 4>(dram, row, warps, blocks);
    point<kKind, 8>(dram, row, warps, blocks);
    if constexpr (kKind != kLoad) point<kKind, 16>(dram, row, warps, blocks);
  }
};

int main() {
  Runner r;
  r.memory.zero();
  for (const bool loaded : {false, true}) {
    again<<<1, 256, 8 * 4096>>>(r.memory.get(), loaded, r.sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("copies_under_way", "copies past L1 of the same lines again and again: instructions of a warp")
        .add("launch", r.launch++).add_text("kind", loaded ? "copies of loaded lines" : "copies of the same lines").add_text("from", "l2").add("row", 512)
        .add("warps", 8).add("blocks", 1).add("in_flight", 8)
        .print(kRounds * 8, "instruction", 0);
  }
  for (const bool dram : {false, true}) {
    for (const int row : {64, 128, 512}) {
      for (const unsigned warps : {4u, 8u, 16u, 32u}) {
        r.points<kCopy>(dram, row, warps, 1);
        if (row != 128) r.points<kLoad>(dram, row, warps, 1);
        if (row == 64 && warps >= 8) r.points<kCopyThroughL1>(dram, row, warps, 1);
      }
    }
  }
  for (const int row : {64, 128, 512}) {
    for (const unsigned warps : {4u, 8u, 16u}) {
      r.points<kCopy>(false, row, warps, 132 * 16 / warps);
      r.points<kLoad>(false, row, warps, 132 * 16 / warps);
    }
  }
  return 0;
}
