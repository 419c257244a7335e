// What do warpgroup products take of the sub-cores that they run on, of issue slots and of registers' ports?
//
// Models:  one block on one SM: no, one or two warpgroups whose products take 32,768 cycles of the tensor cores in all, and one or two of plain
//          arithmetic with one, two or three registers to read, which takes longer than that by itself.
// Ignores: shared memory beside the products (warpgroup), and what waits for them.
// Source:  counters of ncu: SM active cycles and the states of the warps, a line per launch.
#include "bench.cuh"
#include "wgmma_forms.cuh"

using namespace bench;

namespace {

enum Kind { kOneRead, kTwoReads, kThreeReads, kLogic, kFunction, kChain };
constexpr int kProductCycles = 32768, kBytes = 100 * 1024;

template <int kKind>
__device__ __forceinline__ void operate(float& x, float y, float z) {
  if constexpr (kKind == kOneRead || kKind == kChain) asm volatile("mul.f32 %0, %0, 0f3f800347;" : "+f"(x));
  if constexpr (kKind == kTwoReads) asm volatile("mul.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
  if constexpr (kKind == kThreeReads) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(y), "f"(z));
  if constexpr (kKind == kLogic) asm volatile("{.reg .b32 a, b, c; mov.b32 a, %0; mov.b32 b, %1; mov.b32 c, %2; lop3.b32 a, a, b, c, 0xe8; mov.b32 %0, a;}" : "+f"(x) : "f"(y), "f"(z));
  if constexpr (kKind == kFunction) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
}

template <int kN, bool kRegisters, int kKind>
__global__ void __launch_bounds__(kN == 64 ? 512 : 384, 1) beside(int groups, int products, int operations, unsigned long long* took, float* sink) {
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = (static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + 1023) & ~1023u;
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(base + 16 * i), "r"(0) : "memory");
  __syncthreads();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  const int group = threadIdx.x / 128;
  float sum = 0;
  __syncthreads();
  const unsigned long long start = clock_now();
  if (group < groups) {
    float d[kN / 2];
    const uint32_t a[4] = {0, 0, 0, 0};
    for (float& x : d) x = 0;
    const uint64_t da = wgmma_descriptor(base + group * 8192), db = wgmma_descriptor(base + 32768);
#pragma unroll 1
    for (int i = 0; i < products; i += 16) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < 16; ++k) product<kN, kRegisters>(d, a, da + 2 * (k % 4), db + 2 * (k % 4));
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    if (threadIdx.x % 32 == 0) took[threadIdx.x / 32] = clock_now() - start;
    for (const float x : d) sum += x;
  } else {
    float x[8], y[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(threadIdx.x + i), y[i] = static_cast<float>(threadIdx.x * (i + 3));
#pragma unroll 1
    for (int i = 0; i < operations; i += 64) {
#pragma unroll
      for (int k = 0; k < 64; ++k) operate<kKind>(x[kKind == kChain ? 0 : k % 8], y[(k + 1) % 8], y[(k + 2) % 8]);
    }
    if (threadIdx.x % 32 == 0) took[threadIdx.x / 32] = clock_now() - start;
    for (int i = 0; i < 8; ++i) sum += x[i] + y[i];
  }
  if (sum == 123) sink[threadIdx.x] = sum;
}

template <int kN, bool kRegisters, int kKind>
void ask(int& launch, int groups, int others, float* sink) {
  const auto kernel = beside<kN, kRegisters, kKind>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const int products = groups ? kProductCycles / (kN / 2) / groups : 0, operations = (kKind == kFunction ? 8192 : kKind == kChain ? 16384 : 65536) / others;
  Buffer<unsigned long long> took(16);
  kernel<<<1, 128 * (groups + others), kBytes>>>(groups, products, operations, took.get(), sink);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const std::vector<unsigned long long> cycles = took.download();
  const auto longest = [&](int first, int last) { return static_cast<double>(first < last ? *std::max_element(cycles.begin() + 4 * first, cycles.begin() + 4 * last) : 0); };
  Answer("arithmetic_beside", "arithmetic beside warpgroup products")
      .add("launch", launch++).add("n", kN).add_text("a", kRegisters ? "registers" : "shared").add("kind", kKind).add("groups", groups).add("others", others).add("products", products).add("products_took", longest(0, groups)).add("operations_took", longest(groups, groups + others))
      .print(operations, "operations per warp", 0);
}

template <int kKind>
void ask_all(int& launch, float* sink) {
  for (const int others : {1, 2}) {
    for (const int groups : {0, 1, 2}) ask<64, false, kKind>(launch, groups, others, sink);
  }
  for (const int groups : {1, 2}) {
    ask<256, false, kKind>(launch, groups, 1, sink);
    ask<64, true, kKind>(launch, groups, 1, sink);
    ask<128, true, kKind>(launch, groups, 1, sink);
  }
}

}  // namespace

int main() {
  Buffer<float> sink(384);
  int launch = 0;
  ask_all<kOneRead>(launch, sink.get());
  ask_all<kTwoReads>(launch, sink.get());
  ask_all<kThreeReads>(launch, sink.get());
  ask_all<kLogic>(launch, sink.get());
  ask_all<kFunction>(launch, sink.get());
  ask_all<kChain>(launch, sink.get());
  return 0;
}
