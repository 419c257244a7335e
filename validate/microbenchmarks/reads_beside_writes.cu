// How long do reads of DRAM take beside what all SMs write?
//
// Models:  each of `blocks` warps, an SM each, loads a line that nobody has used, waits for it, stores so many lines and goes on. What is stored
//          lies beyond what L2 holds, so that it has to write lines back all the time, or in each block's own few KiB, which stay in L2.
// Ignores: parts of lines.
// Source:  counters of ncu: cycles, bytes of DRAM and the states of the warps, a line per launch. L2 is flushed before each.
#include "bench.cuh"

using namespace bench;

namespace {

constexpr int kRounds = 512;

__global__ void __launch_bounds__(32) rounds(const uint4* loaded, uint4* stored, int stores, unsigned span_lines, unsigned* sink) {
  const unsigned lane = threadIdx.x, block = blockIdx.x;
  unsigned at = 0;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    unsigned value;
    const auto from = reinterpret_cast<const unsigned*>(loaded) +
                      ((static_cast<std::size_t>(round) * gridDim.x + block) * 32 + lane) + at;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    at = value;  // 0
#pragma unroll 1
    for (int i = 0; i < stores; ++i) {
      const std::size_t place = (static_cast<unsigned>(round * stores + i) % span_lines + at);
      asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(stored + (place * gridDim.x + block) * 32 + lane), "r"(value) : "memory");
    }
  }
  if (at == 123456) *sink = at;
}

}  // namespace

int main() {
  constexpr std::size_t kLoaded = std::size_t{kRounds} * 132 * 8, kStored = std::size_t{kRounds} * 132 * 16 * 32;  // of 16 bytes
  Buffer<uint4> loaded(kLoaded), stored(kStored);
  Buffer<unsigned> sink(1);
  loaded.zero();
  int launch = 0;
  for (const bool stays : {false, true}) {
    for (const unsigned blocks : {33u, 132u}) {
      for (const int stores : {0, 1, 2, 4, 8, 16}) {
        rounds<<<blocks, 32>>>(loaded.get(), stored.get(), stores, stays ? 32u : 1u << 30, sink.get());
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        Answer("reads_beside_writes", "loads of DRAM beside stores of whole lines")
            .add("launch", launch++).add("stays", stays).add("blocks", blocks).add("stores", stores)
            .print(kRounds, "rounds", 0);
      }
    }
  }
  return 0;
}
