// Does a load find in L1 what the same threads have just written?
//
// Models:  one warp goes through loads and stores of the same lines, one step after the other, some cycles between them: whole sectors,
//          parts of them, loaded before or not, by the same warp or by another one of the block. Then sweeps: each thread goes down its
//          column and reads what it wrote a step before; or along its row.
// Ignores: loads that ask for L2 (.cg, volatile).
// Source:  counters of ncu: loaded sectors and hits of l1tex, sectors read from L2, cycles.
#include "bench.cuh"

using namespace bench;

/// Steps of a program: what all lanes (or half of them) do to their word.
enum Step : int { kEnd, kLoad, kStore, kStoreHalf, kLoadHalf, kWait, kOther, kAdd };
struct Steps {
  int step[8];
};

__global__ void __launch_bounds__(64) go(char* base, const __grid_constant__ Steps steps, unsigned lane_bytes, int wait, int lines, unsigned* sink) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = 0, who = 0;
  for (int s = 0; s < 8 && steps.step[s] != kEnd; ++s) {
    const int step = steps.step[s];
    __syncthreads();
    if (step == kOther) who ^= 1;
    if (step == kWait) {
      const unsigned long long until = clock_now() + static_cast<unsigned>(wait);
      while (clock_now() < until) {
      }
    }
    if (who != warp) continue;
    char* const mine = base + lane * lane_bytes;
    for (int i = 0; i < lines; ++i) {
      char* const p = mine + static_cast<std::size_t>(i) * 32 * lane_bytes;
      unsigned v = 0;
      if (step == kLoad || (step == kLoadHalf && lane % 2 == 0)) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
      if (step == kStore || (step == kStoreHalf && lane % 2 == 0)) asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(sum) : "memory");
      if (step == kAdd) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(sum) : "memory");
      sum ^= v;
    }
  }
  if (sum == 0x12345) *sink = sum;
}

/// Down the columns: a[r][t] += a[r - 1][t], `kind` 0; 1: without the load of what was not written; 2: in a second pass as well.
__global__ void __launch_bounds__(256) columns(float* a, int rows, int pitch, int kind) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int pass = 0; pass < (kind == 2 ? 2 : 1); ++pass) {
    for (int r = 1; r < rows; ++r) {
      float v;
      asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(a + (r - 1) * pitch + t) : "memory");
      float w = 1;
      if (kind != 1) asm volatile("ld.global.f32 %0, [%1];" : "=f"(w) : "l"(a + r * pitch + t) : "memory");
      asm volatile("st.global.f32 [%0], %1;" ::"l"(a + r * pitch + t), "f"(v + w) : "memory");
    }
  }
}
/// Along the rows, each thread its own.
__global__ void __launch_bounds__(256) along(float* a, int columns, int pitch, int kind) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int pass = 0; pass < (kind == 2 ? 2 : 1); ++pass) {
    for (int c = 1; c < columns; ++c) {
      float v;
      asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(a + t * pitch + c - 1) : "memory");
      float w = 1;
      if (kind != 1) asm volatile("ld.global.f32 %0, [%1];" : "=f"(w) : "l"(a + t * pitch + c) : "memory");
      asm volatile("st.global.f32 [%0], %1;" ::"l"(a + t * pitch + c), "f"(v + w) : "memory");
    }
  }
}
/// Reads once, then sweeps in place over what was read, again and again: a[i] += 1.
__global__ void __launch_bounds__(256) again(float* a, int words, int passes) {
  float* const mine = a + static_cast<std::size_t>(blockIdx.x) * static_cast<unsigned>(words);
  for (int pass = 0; pass < passes; ++pass) {
    for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x)) {
      float v;
      asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(mine + i) : "memory");
      asm volatile("st.global.f32 [%0], %1;" ::"l"(mine + i), "f"(v + 1) : "memory");
    }
  }
}

int main() {
  Buffer<char> memory(std::size_t{256} << 20);
  Buffer<unsigned> sink(1);
  memory.zero();
  int launch = 0;
  const auto steps = [&](const char* what, Steps s, unsigned lane_bytes, int wait, unsigned warps = 1) {
    const int lines = 16;
    go<<<1, 32 * warps>>>(memory.get(), s, lane_bytes, wait, lines, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("written_lines", "loads and stores of the same words by a warp: what hits, what goes to L2")
        .add("launch", launch++).add_text("steps", what).add("bytes_between_lanes", lane_bytes).add("wait", wait).print(lines, "access a step", 0);
  };
  for (unsigned apart : {4u, 8u, 32u}) {
    steps("load, load", {{kLoad, kLoad}}, apart, 0);
    steps("store, load", {{kStore, kLoad}}, apart, 0);
    steps("store, wait, load", {{kStore, kWait, kLoad}}, apart, 3000);
    steps("store, load, load", {{kStore, kLoad, kLoad}}, apart, 0);
    steps("store, wait, load, wait, load", {{kStore, kWait, kLoad, kWait, kLoad}}, apart, 3000);
    steps("load, store, load", {{kLoad, kStore, kLoad}}, apart, 0);
    steps("load, wait, store, load", {{kLoad, kWait, kStore, kLoad}}, apart, 3000);
    steps("load, wait, store, wait, load", {{kLoad, kWait, kStore, kWait, kLoad}}, apart, 3000);
    steps("load, store, load, store, load", {{kLoad, kStore, kLoad, kStore, kLoad}}, apart, 0);
    steps("half stored, all loaded", {{kStoreHalf, kLoad}}, apart, 0);
    steps("half stored, half loaded", {{kStoreHalf, kLoadHalf}}, apart, 0);
    steps("half stored, wait, half loaded", {{kStoreHalf, kWait, kLoadHalf}}, apart, 3000);
    steps("load, half stored, load", {{kLoad, kWait, kStoreHalf, kLoad}}, apart, 3000);
    steps("load, added, load", {{kLoad, kWait, kAdd, kLoad}}, apart, 3000);
    steps("store, load by another warp", {{kStore, kOther, kLoad}}, apart, 0, 2);
    steps("load, store by another warp, load", {{kLoad, kOther, kStore, kOther, kLoad}}, apart, 0, 2);
    steps("store, wait, load by another warp", {{kStore, kWait, kOther, kLoad}}, apart, 3000, 2);
  }
  const auto sweep = [&](const char* what, auto kernel, unsigned blocks, unsigned threads, int steps_, int pitch, int kind) {
    kernel<<<blocks, threads>>>(reinterpret_cast<float*>(memory.get()), steps_, pitch, kind);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("written_sweeps", "sweeps that load what they have just written: hits, sectors from L2, cycles")
        .add("launch", launch++).add_text("sweep", what).add("blocks", blocks).add("threads", threads).add("pitch", pitch).add("kind", kind).print(steps_, "step", 0);
  };
  for (int kind : {0, 1, 2}) {
    sweep("columns", columns, 1, 32, 65, 1024, kind);
    sweep("columns", columns, 1, 256, 65, 1024, kind);
    sweep("columns", columns, 132, 256, 65, 132 * 256, kind);
    sweep("rows", along, 1, 32, 65, 128, kind);
    sweep("rows", along, 1, 256, 65, 128, kind);
    sweep("rows", along, 132, 64, 65, 128, kind);
    sweep("rows", along, 132, 256, 65, 128, kind);
    sweep("rows", along, 1, 64, 65, 129, kind);
  }
  for (int words : {256, 4096, 16384}) {
    for (unsigned blocks : {1u, 132u}) {
      again<<<blocks, 256>>>(reinterpret_cast<float*>(memory.get()), words, 8);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      Answer("written_again", "sweeps in place over the same words: hits, sectors from L2, cycles")
          .add("launch", launch++).add("blocks", blocks).add("words", words).print(8, "pass", 0);
    }
  }
  return 0;
}
