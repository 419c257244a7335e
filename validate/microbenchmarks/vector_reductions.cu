// What do reductions of two and four words per lane cost?
//
// Models:  warps issue reductions, then wait until all are done (a fence). A lane's words follow each other, lanes' too. `place`: new lines each
//          time, which L2 holds; one place for each warp; one for all warps of all SMs. Clock of the mean warp after each four, and after
//          the fence.
// Ignores: lines that L2 does not hold (cold_reductions).
// Source:  the SMs' clocks.
#include "bench.cuh"

using namespace bench;

enum Kind : int { words_1, words_2, words_4, halves_4, halves_8, stores_4 };
constexpr int kCount = 32, kEach = 4, kTimes = kCount / kEach + 1;
constexpr unsigned kLaneBytes[] = {4, 8, 16, 8, 16, 16};

template <int kKind>
__global__ void __launch_bounds__(512) issue(char* base, unsigned warp_apart, unsigned block_apart, unsigned long long next_apart,
                                             unsigned long long* out) {
  extern __shared__ char whole_sm[];
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
  char* p = base + std::size_t{blockIdx.x} * block_apart + warp * warp_apart + threadIdx.x % 32 * kLaneBytes[kKind];
  unsigned long long times[kTimes];
  __syncthreads();
  const unsigned long long t0 = clock_now();
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if constexpr (kKind == words_1) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.0f) : "memory");
    if constexpr (kKind == words_2) asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(p), "f"(1.0f) : "memory");
    if constexpr (kKind == words_4) asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(p), "f"(1.0f) : "memory");
    if constexpr (kKind == halves_4) asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %1};" ::"l"(p), "r"(0x3c003c00) : "memory");
    if constexpr (kKind == halves_8) asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(0x3c003c00) : "memory");
    if constexpr (kKind == stores_4) asm volatile("st.global.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(p), "f"(1.0f) : "memory");
    p += next_apart;
    if (i % kEach == kEach - 1) times[i / kEach] = clock_now() - t0;
  }
  asm volatile("fence.sc.gpu;" ::: "memory");
  times[kTimes - 1] = clock_now() - t0;
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (int k = 0; k < kTimes; ++k) out[(blockIdx.x * warps + warp) * kTimes + k] = times[k];
  }
  if (t0 == 1) out[0] = whole_sm[0];
}

int main() {
  const int sms = device().multiProcessorCount;
  Buffer<char> memory(std::size_t{64} << 20);
  memory.zero();
  Buffer<unsigned long long> out(static_cast<std::size_t>(sms) * 16 * kTimes);
  const int shared = 200 * 1024;
  const char* const names[] = {"red.add.f32", "red.add.v2.f32", "red.add.v4.f32", "red.add.v2.f16x2", "red.add.v4.f16x2", "st.v4.f32"};
  const auto ask = [&](auto kernel, int kind, int place, int blocks, int warps) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const unsigned bytes = kLaneBytes[kind] * 32, block = bytes * static_cast<unsigned>(warps);
    const char* const places[] = {"new lines each time", "one place for each warp", "one place for all"};
    for (int repeat = 0; repeat < 2; ++repeat) {
      kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(32 * warps), shared>>>(
          memory.get(), place == 2 ? 0 : bytes, place == 2 ? 0 : block, place == 0 ? std::size_t{block} * static_cast<unsigned>(blocks) : 0, out.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
    }
    const std::vector<double> mean = mean_of_columns(out.download(static_cast<std::size_t>(blocks * warps) * kTimes), kTimes);
    Answer("vector_reductions", "clock of the mean warp after each four, and after a fence")
        .add_text("kind", names[kind])
        .add_text("place", places[place])
        .add("sms", blocks)
        .add("warps", warps)
        .add("times", mean)
        .print(mean.back() / kCount, "cycle", 0);
  };
  for (int place = 0; place < 3; ++place) {
    for (const int blocks : {1, sms}) {
      for (const int warps : {1, 4, 16}) {
        ask(issue<words_1>, words_1, place, blocks, warps);
        ask(issue<words_2>, words_2, place, blocks, warps);
        ask(issue<words_4>, words_4, place, blocks, warps);
        ask(issue<halves_4>, halves_4, place, blocks, warps);
        ask(issue<halves_8>, halves_8, place, blocks, warps);
        ask(issue<stores_4>, stores_4, place, blocks, warps);
      }
    }
  }
  return 0;
}
