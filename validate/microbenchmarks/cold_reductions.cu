// Do reductions to lines that L2 does not hold keep an SM's places longer than reductions to lines that it holds?
//
// Models:  warps issue reductions (or atomics, or stores) to new lines each time, then wait until all are done (a fence). The lines were read
//          just before (warm), or have not been touched since 256 MiB of others were (cold). `place`: a word per lane of one line; one lane
//          alone; a sector per lane. Clock of the mean warp after each four, and after the fence.
// Ignores: several reductions to one line.
// Source:  the SMs' clocks.
#include "bench.cuh"

using namespace bench;

enum Kind : int { reduction, reduction_float, atomic, store };
constexpr int kCount = 32, kEach = 4, kTimes = kCount / kEach + 1;

template <int kKind>
__global__ void __launch_bounds__(512) issue(char* base, unsigned lanes, unsigned lane_apart, unsigned next_apart, unsigned long long* out,
                                             unsigned* sink) {
  extern __shared__ char whole_sm[];
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32, all = gridDim.x * warps;
  char* p = base + (std::size_t{blockIdx.x} * warps + warp) * next_apart + threadIdx.x % 32 * lane_apart;
  const std::size_t step = std::size_t{all} * next_apart;
  unsigned long long times[kTimes];
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
    p += step;
    if (i % kEach == kEach - 1) times[i / kEach] = clock_now() - t0;
  }
  asm volatile("fence.sc.gpu;" ::: "memory");
  times[kTimes - 1] = clock_now() - t0;
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (int k = 0; k < kTimes; ++k) out[(blockIdx.x * warps + warp) * kTimes + k] = times[k];
  }
  if (sum == 0x7fffffff) *sink = sum + whole_sm[0];
}

__global__ void read(const unsigned* p, std::size_t words, unsigned* sink) {
  unsigned sum = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < words; i += std::size_t{gridDim.x} * blockDim.x) sum += __ldcg(p + i);
  if (sum == 0x7fffffff) *sink = sum;
}

int main() {
  const int sms = device().multiProcessorCount;
  const std::size_t words = (std::size_t{256} << 20) / 4;
  Buffer<unsigned> memory(words), other(words), sink(1);
  memory.zero();
  other.zero();
  Buffer<unsigned long long> out(static_cast<std::size_t>(sms) * 16 * kTimes);
  const int shared = 200 * 1024;
  struct Place {
    const char* name;
    unsigned lanes, lane, next;
  };
  const Place places[] = {{"a line", 32, 4, 128}, {"one lane", 1, 0, 128}, {"a sector a lane", 32, 32, 1024}};
  const char* const names[] = {"red.add.u32", "red.add.f32", "atom.add.u32", "st.u32"};
  const auto ask = [&](auto kernel, int kind, const Place& place, int blocks, int warps, bool warm) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const std::size_t touched = std::size_t{kCount} * static_cast<std::size_t>(blocks * warps) * place.next / 4;
    for (int repeat = 0; repeat < 2; ++repeat) {
      read<<<1056, 256>>>(other.get(), words, sink.get());
      if (warm) read<<<1056, 256>>>(memory.get(), touched, sink.get());
      kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(32 * warps), shared>>>(reinterpret_cast<char*>(memory.get()), place.lanes,
                                                                                         place.lane, place.next, out.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
    }
    const std::vector<double> mean = mean_of_columns(out.download(static_cast<std::size_t>(blocks * warps) * kTimes), kTimes);
    Answer("cold_reductions", "clock of the mean warp after each four, and after a fence")
        .add_text("kind", names[kind])
        .add_text("place", place.name)
        .add("sms", blocks)
        .add("warps", warps)
        .add_text("lines", warm ? "warm" : "cold")
        .add("times", mean)
        .print(mean.back() / kCount, "cycle", 0);
  };
  for (const Place& place : places) {
    for (const int blocks : {1, sms}) {
      for (const int warps : {1, 4, 16}) {
        for (const bool warm : {true, false}) {
          ask(issue<reduction>, reduction, place, blocks, warps, warm);
          ask(issue<reduction_float>, reduction_float, place, blocks, warps, warm);
          ask(issue<atomic>, atomic, place, blocks, warps, warm);
          ask(issue<store>, store, place, blocks, warps, warm);
        }
      }
    }
  }
  return 0;
}
