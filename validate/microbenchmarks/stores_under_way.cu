// How many reductions, and how many stores, can an SM have under way?
//
// Models:  all SMs (or one) issue more than L2 can serve at once: each warp one after the other, and notes its clock after each four. First
//          they are issued as fast as the SM sends them; once so many are under way that the SM holds no more, as fast as L2 serves
//          them. Where the two slopes meet stands what is under way. `place`: all lanes of the chip on one word; a line for each warp, shared by
//          all SMs; a sector for each lane; the first lanes of each warp alone, as code that adds up within warps first.
// Ignores: loads; what the pipes hold of other instructions.
// Source:  the SMs' clocks.
#include "bench.cuh"

using namespace bench;

enum Kind : int { reduction, reduction_float, atomic, store };
constexpr int kCount = 128, kEach = 4;

template <int kKind>
__global__ void __launch_bounds__(1024) issue(unsigned* base, unsigned lanes, unsigned warp_apart, unsigned lane_apart, unsigned next_apart,
                                              unsigned long long* out, unsigned* sink) {
  extern __shared__ char whole_sm[];
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
  char* p = reinterpret_cast<char*>(base) + warp * warp_apart + threadIdx.x % 32 * lane_apart;
  unsigned long long times[kCount / kEach];
  __syncthreads();
  if (threadIdx.x % 32 >= lanes) return;
  const unsigned long long t0 = clock_now();
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if constexpr (kKind == reduction) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
    if constexpr (kKind == reduction_float) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.0f) : "memory");
    if constexpr (kKind == atomic) {
      unsigned v;
      asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(1) : "memory");
      sum += v;
    }
    if constexpr (kKind == store) asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(i) : "memory");
    p += next_apart;
    if (i % kEach == kEach - 1) times[i / kEach] = clock_now() - t0;
  }
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (int k = 0; k < kCount / kEach; ++k) out[(blockIdx.x * warps + warp) * (kCount / kEach) + k] = times[k];
  }
  if (sum == 0x7fffffff) *sink = sum + whole_sm[0];
}

int main() {
  const int sms = device().multiProcessorCount;
  Buffer<unsigned> memory((std::size_t{512} << 20) / 4), sink(1);
  memory.zero();
  Buffer<unsigned long long> out(static_cast<std::size_t>(sms) * 32 * (kCount / kEach));
  const int shared = 200 * 1024;
  struct Place {
    const char* name;
    unsigned warp, lane, next, lanes = 32;
  };
  const Place places[] = {{"one word", 0, 0, 0},
                          {"a word a lane, one line", 0, 4, 0},
                          {"a line a warp", 128, 4, 0},
                          {"a sector a lane, the same for all SMs", 1024, 32, 0},
                          {"a sector a lane, new ones each time", 1024, 32, 65536},
                          {"one lane, one word", 0, 0, 0, 1},
                          {"one lane, a sector a warp", 32, 0, 0, 1},
                          {"one lane, a line a warp", 128, 0, 0, 1},
                          {"one lane, a new line each time", 65536, 0, 128, 1},
                          {"two lanes, one word", 0, 0, 0, 2},
                          {"eight lanes, one word", 0, 0, 0, 8},
                          {"eight lanes, one sector", 0, 4, 0, 8},
                          {"sixteen lanes, two sectors", 0, 4, 0, 16},
                          {"four lanes, a line each", 0, 128, 0, 4}};
  const char* const names[] = {"red.add.u32", "red.add.f32", "atom.add.u32", "st.u32"};
  const auto ask = [&](auto kernel, int kind, const Place& place, int blocks, int warps) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    for (int repeat = 0; repeat < 2; ++repeat) {
      kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(32 * warps), shared>>>(memory.get(), place.lanes, place.warp, place.lane,
                                                                                         place.next, out.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
    }
    const std::size_t steps = kCount / kEach;
    const std::vector<double> mean = mean_of_columns(out.download(static_cast<std::size_t>(blocks * warps) * steps), steps);
    Answer("stores_under_way", "clock of the mean warp after each four")
        .add_text("kind", names[kind])
        .add_text("place", place.name)
        .add("lanes", place.lanes)
        .add("sms", blocks)
        .add("warps", warps)
        .add("times", mean)
        .print(mean.back() / kCount, "cycle", 0);
  };
  for (const Place& place : places) {
    for (const int blocks : {1, sms}) {
      for (const int warps : {1, 4, 16}) {
        ask(issue<reduction>, reduction, place, blocks, warps);
        if (blocks != 1) ask(issue<reduction_float>, reduction_float, place, blocks, warps);
        ask(issue<atomic>, atomic, place, blocks, warps);
        ask(issue<store>, store, place, blocks, warps);
      }
    }
  }
  return 0;
}
