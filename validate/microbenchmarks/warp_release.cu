// What does a warp that ends leave to the next block while other warps of its own block go on?
//
// Models:  blocks of which some warps end early and the others much later, and one block that ends as a whole in between; how
//          many blocks start where and when before any other has ended, where warp slots, registers, shared memory or block
//          slots are what an SM lacks.
// Ignores: other kernels on the SM.
// Source:  the SMs' clocks.
#include "bench.cuh"

using namespace bench;

struct WarpStamp {
  unsigned long long start, stop;
  unsigned sm, block, warp, unused;
};

constexpr unsigned kEarly = 4000, kEnd = 20000, kLate = 60000;  // cycles after a warp's start

/// Holds kValues registers a thread all the time. Warps whose bit is set in `early` end after kEarly cycles, the others after kLate;
/// with `ends` block 0 as a whole after kEnd.
template <int kValues>
__global__ void __launch_bounds__(kValues > 32 ? 256 : 1024) leave(unsigned early, bool ends, WarpStamp* out, unsigned* sink) {
  const unsigned long long t0 = clock_now();
  unsigned values[kValues];
#pragma unroll
  for (int k = 0; k < kValues; ++k) asm volatile("mov.u32 %0, %1;" : "=r"(values[k]) : "r"(threadIdx.x + k));
  const unsigned warp = threadIdx.x / 32;
  const unsigned cycles = ends && blockIdx.x == 0 ? kEnd : early >> warp & 1 ? kEarly : kLate;
  while (clock_now() - t0 < cycles) {
#pragma unroll
    for (int k = 0; k < kValues; ++k) asm volatile("" : "+r"(values[k]));
  }
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < kValues; ++k) sum ^= values[k];
  if (sum == 0xffffffff) *sink = sum;
  if (threadIdx.x % 32 == 0) out[blockIdx.x * (blockDim.x / 32) + warp] = {t0, clock_now(), sm_id(), blockIdx.x, warp, 0};
}

template <int kValues>
void ask(const char* lacks, int threads, unsigned early, bool ends, int shared, Buffer<WarpStamp>& out, Buffer<unsigned>& sink) {
  const int sms = device().multiProcessorCount;
  CHECK(cudaFuncSetAttribute(leave<kValues>, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 * 1024));
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, leave<kValues>));
  int fits = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, leave<kValues>, threads, static_cast<std::size_t>(shared)));
  if (fits == 0) return;
  const int warps = threads / 32, blocks = 2 * fits * sms;
  std::vector<double> here, beside, elsewhere, delays;
  for (int r = 0; r < 6; ++r) {
    leave<kValues><<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), shared>>>(early, ends, out.get(), sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    if (r == 0) continue;
    const std::vector<WarpStamp> stamps = out.download(static_cast<std::size_t>(blocks) * warps);
    std::vector<unsigned long long> begin(static_cast<std::size_t>(sms), ~0ull);  // of each SM's first warp
    for (const WarpStamp& s : stamps) begin[s.sm] = std::min(begin[s.sm], s.start);
    const unsigned sm = stamps.front().sm;  // where block 0 ran
    double own = 0, pair = 0, far = 0;
    unsigned long long stop = 0, first = ~0ull;
    for (int w = 0; w < warps; ++w) stop = std::max(stop, stamps[static_cast<std::size_t>(w)].stop - begin[sm]);
    for (int b = 0; b < blocks; ++b) {
      const WarpStamp& s = stamps[static_cast<std::size_t>(b) * warps];
      const unsigned long long start = s.start - begin[s.sm];
      if (start < kEarly || start >= kLate) continue;
      (s.sm == sm ? own : s.sm == (sm ^ 1) ? pair : far) += 1;
      if (s.sm == sm) first = std::min(first, start);
    }
    here.push_back(own);
    beside.push_back(pair);
    elsewhere.push_back(far);
    if (own > 0) delays.push_back(static_cast<double>(first) - static_cast<double>(stop));
  }
  Answer("warp_release", "blocks that start on an SM where a block has ended and others have lost some of their warps")
      .add_text("lacks", lacks)
      .add("threads", threads)
      .add("registers", attributes.numRegs)
      .add("shared", shared)
      .add("fits", fits)
      .add("early_warps", early)
      .add("a_block_ends", ends)
      .add("beside", summarize(beside).median)
      .add("elsewhere", summarize(elsewhere).median)
      .add("delay", summarize(delays).median)
      .print(summarize(here), "block");
}

int main() {
  Buffer<WarpStamp> out(1 << 16);
  Buffer<unsigned> sink(1);
  for (const bool ends : {false, true}) {
    ask<1>("warps", 256, 0xf0, ends, 0, out, sink);
    ask<1>("warps", 256, 0xfe, ends, 0, out, sink);
    ask<1>("warps", 1024, 0xffff, ends, 0, out, sink);
    ask<90>("registers", 256, 0xf0, ends, 0, out, sink);
  }
  // Other numbers of warps that are left, and other sub-cores that they leave.
  for (const unsigned early : {0x00u, 0x01u, 0x11u, 0x33u, 0x55u, 0xc0u, 0xfcu}) ask<1>("warps", 256, early, true, 0, out, sink);
  ask<1>("warps", 64, 0x1, true, 0, out, sink);
  for (const unsigned early : {0x1u, 0x3u}) ask<1>("warps", 96, early, true, 0, out, sink);
  for (const unsigned early : {0x1u, 0x3u, 0x8u}) ask<1>("warps", 128, early, true, 0, out, sink);
  for (const unsigned early : {0x3u, 0xfu}) ask<1>("warps", 160, early, true, 0, out, sink);
  for (const unsigned early : {0xffu, 0x1111u, 0x3333u, 0x5555u}) ask<1>("warps", 512, early, true, 0, out, sink);
  for (const unsigned early : {0xc0u, 0xfeu}) ask<90>("registers", 256, early, true, 0, out, sink);
  for (const unsigned early : {0x1u, 0x3u}) ask<150>("registers", 128, early, true, 0, out, sink);
  ask<150>("registers", 256, 0xf0, true, 0, out, sink);
  ask<1>("shared", 256, 0xfe, true, 25 * 1024, out, sink);
  ask<1>("shared", 256, 0xfe, true, 60 * 1024, out, sink);
  return 0;
}
