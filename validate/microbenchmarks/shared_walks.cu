// How fast do SMs walk together through data that none of them has read?
//
// Models:  warps whose lanes all load the same word go through lines, sixteen loads of eight bytes per line (or one of sixteen), and begin the
//          next line when they have all of this one. Every SM reads the same lines, or lines of its own.
// Ignores: stores. Data come from DRAM (caches are emptied before each launch).
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

template <int kLoads>
__global__ void __launch_bounds__(256) walk(const float2* data, unsigned lines, unsigned apart, float* sink) {
  const float2* p = data + std::size_t{blockIdx.x} * apart;
  float sum = 0;
  for (unsigned i = 0; i < lines; ++i, p += 16) {
    float2 v[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(v[k].x), "=f"(v[k].y) : "l"(p + k * (16 / kLoads)));
    float s = 0;
#pragma unroll
    for (int k = 0; k < kLoads; ++k) s += v[k].x * v[k].y;
    // The next line's address waits for this one's words.
    if (s != 0) p += static_cast<int>(s);
    sum += s;
  }
  if (sum != 0) *sink = sum;
}

/// Every thread offers a number of its own for one word's largest.
__global__ void __launch_bounds__(256) largest(unsigned* word) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, mine = scrambled(thread + 1) >> 1;
  unsigned seen = *static_cast<volatile unsigned*>(word);
  while (mine > seen) {
    const unsigned before = seen;
    seen = atomicCAS(word, before, mine);
    if (seen == before) break;
  }
}

int main() {
  const int shared = 200 * 1024;  // one block per SM
  Buffer<float2> data(std::size_t{16} << 20);
  Buffer<float> sink(1);
  Buffer<unsigned> word(1);
  data.zero();
  int launch = 0;
  const auto ask = [&](auto kernel, const char* what, int loads, unsigned blocks, unsigned warps, unsigned lines, unsigned apart) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    kernel<<<blocks, 32 * warps, shared>>>(data.get(), lines, apart, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("shared_walks", "SMs that walk together through lines from DRAM")
        .add("launch", launch++).add_text("what", what).add("loads", loads).add("blocks", blocks).add("warps", warps)
        .print(lines, "lines", 0);
  };
  for (const unsigned warps : {1u, 8u}) {
    for (const unsigned blocks : {1u, 2u, 4u, 16u, 63u, 132u}) {
      ask(walk<16>, "the same lines", 16, blocks, warps, 256, 0);
      ask(walk<1>, "the same lines", 1, blocks, warps, 256, 0);
      if (blocks > 1) ask(walk<16>, "lines of its own", 16, blocks, warps, 256, 256 * 16);
    }
  }
  for (const unsigned blocks : {1u, 4u, 63u, 264u}) {
    CHECK(cudaMemset(word.get(), 0, sizeof(unsigned)));
    largest<<<blocks, 256>>>(word.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("shared_walks", "largest number of all threads by compare-and-swap")
        .add("launch", launch++).add_text("what", "largest").add("loads", 0).add("blocks", blocks).add("warps", 8)
        .print(blocks * 256, "numbers", 0);
  }
  return 0;
}
