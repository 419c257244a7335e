// What do cp.async's copies take of the data stage of shared memory, what does a fence for wgmma wait for behind them, and how do they
// share the stage with wgmma?
//
// async_copy_beside_loads: four warps copy 16 bytes a lane from L2 while four others load 16 bytes a lane from shared memory: cycles a
// copy instruction and a load instruction, each alone and together. By the bytes of a global row that neighbouring lanes read, by
// cache operator and by the place in shared memory.
//
// async_fence: fence.proxy.async behind copies of the same warp, and of the other three, that are under way: cycles from its first
// instruction to wgmma.fence behind it, by the copies and by the cycles since they were issued.
//
// async_products: a warpgroup multiplies while four other warps copy, or load from shared memory: cycles a product, copies a cycle.
//
// async_step: a loop as compilers write it: wait for a group of copies, barrier, fence, products, wait, barrier, next copies. With and
// without each part: cycles a step.
#include <cstring>

#include "bench.cuh"
#include "wgmma_forms.cuh"

namespace {

__device__ __forceinline__ void copy16(uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void copy16_l1(uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
__device__ __forceinline__ uint32_t base_of(const void* p) {
  return (static_cast<uint32_t>(__cvta_generic_to_shared(p)) + 1023) & ~1023u;
}

/// Lanes next to each other read `row` bytes of one line; the next ones read 4 KiB further on.
__device__ __forceinline__ const char* source(const char* from, int row, unsigned warp, unsigned lane) {
  return from + (warp * 32 + lane * 16 / row) * size_t{4096} + lane * 16 % row;
}

struct Beside {
  int row, spread, copies,
      loads;  // spread: bytes between lanes' places in shared memory; instructions of each warp, multiples of 16
};

/// Warps 0 to 3 copy, 4 to 7 load.
template <bool kThroughL1>
__global__ void __launch_bounds__(256, 1)
    beside_loads(Beside b, const char* from, unsigned long long* out, unsigned* sink) {
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = base_of(memory);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __syncthreads();
  const unsigned long long start = bench::clock_now();
  if (warp < 4) {
    const char* at = source(from, b.row, warp, lane);
    const uint32_t to = base + warp * 8192 + lane * b.spread;
#pragma unroll 1
    for (int n = 0; n < b.copies; n += 8) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        kThroughL1 ? copy16_l1(to + 512 * (i % 4), at + i * 512) : copy16(to + 512 * (i % 4), at + i * 512);
      commit();
      wait<3>();
    }
    wait<0>();
  } else {
    const uint32_t at = base + 65536 + (warp - 4) * 512 + lane * 16;
    unsigned sum = 0;
#pragma unroll 1
    for (int n = 0; n < b.loads; n += 16) {
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        unsigned v[4];
        asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(at + 2048 * (i % 4)));
        sum ^= v[0];
      }
    }
    if (sum == 0x12345) *sink = sum;
  }
  if (lane == 0) out[warp] = bench::clock_now() - start;
}

/// Each warp of the first `warps` issues `copies`, waits `delay` cycles; warp 0 fences. The products' fence behind it needs its scoreboard.
__global__ void __launch_bounds__(128, 1)
    fence_behind(int copies, int warps, int delay, int kind, const char* from, unsigned long long* out) {
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = base_of(memory);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const char* at = source(from, 128, warp, lane);
  for (int turn = 0; turn < 3; ++turn) {
    __syncthreads();
    const unsigned long long start = bench::clock_now();
    if (static_cast<int>(warp) < warps)
      for (int i = 0; i < copies; ++i) copy16(base + warp * 8192 + i % 16 * 512 + lane * 16, at + i * 128);
    commit();
    while (bench::clock_now() - start < static_cast<unsigned>(delay)) {}
    const unsigned long long begin = bench::clock_now();
    if (kind == 0) proxy_fence();
    if (kind == 1) asm volatile("fence.acq_rel.cta;" ::: "memory");
    if (kind != 2) products_begin();
    const unsigned long long end = bench::clock_now();
    wait<0>();
    const unsigned long long copied = bench::clock_now();
    if (lane == 0)
      out[3 * warp] = end - begin, out[3 * warp + 1] = copied - start, out[3 * warp + 2] = begin - start;
  }
}

/// Warps 0 to 3 multiply `rounds` times four; 4 to 7 copy (traffic 1, 2, 4: rows of 64, 128, 512 bytes) or load (3) `others` times each.
template <int kN, bool kRegisters>
__global__ void __launch_bounds__(256, 1)
    beside_products(int traffic, int rounds, int others, const char* from, unsigned long long* out,
                    float* sink) {
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = base_of(memory);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 24576; i += blockDim.x)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 4 * i), "r"(0) : "memory");
  proxy_fence();
  __syncthreads();
  const unsigned long long start = bench::clock_now();
  if (warp < 4) {
    float d[kN / 2];
    uint32_t a[4] = {0, 0, 0, 0};
    for (float& x : d) x = 0;
    const uint64_t da = wgmma_descriptor(base), db = wgmma_descriptor(base + 16384);
#pragma unroll 1
    for (int i = 0; i < rounds; ++i) {
      products_begin();
#pragma unroll
      for (int k = 0; k < 4; ++k) product<kN, kRegisters>(d, a, da + 2 * k, db + 2 * k);
      products_commit();
      products_wait<1>();
    }
    products_wait<0>();
    for (float& x : d) asm volatile("" : "+f"(x)::"memory");
    if (lane == 0) out[warp] = bench::clock_now() - start;
    float sum = 0;
    for (const float x : d) sum += x;
    if (sum == 123) sink[threadIdx.x] = sum;
    return;
  }
  const int row = traffic == 1 ? 64 : traffic == 4 ? 512 : 128;
  const char* at = source(from, row, warp - 4, lane);
  const uint32_t to = base + 65536 + (warp - 4) * 4096 + lane * 16;
  unsigned sum = 0;
#pragma unroll 1
  for (int n = 0; n < others; n += 8) {
    if (traffic != 3) {
#pragma unroll
      for (int i = 0; i < 8; ++i) copy16(to + 512 * i, at + i * 512);
      commit();
      wait<3>();
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        unsigned v[4];
        asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(to + 512 * i));
        sum ^= v[0];
      }
    }
  }
  wait<0>();
  if (sum == 0x12345) sink[0] = 1;
  if (lane == 0) out[warp] = bench::clock_now() - start;
}

struct Step {
  int steps, row;  // row: bytes of a global row of the first tile
};

/// 128 threads; a step copies 8 KiB of A (rows of `row` bytes) and 8 KiB of B (rows of 256 bytes) and multiplies `kProducts` times.
template <int kStages, int kProducts, bool kCopies, bool kFence>
__global__ void __launch_bounds__(128, 1)
    step(Step s, const char* from, unsigned long long* out, float* sink) {
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = base_of(memory);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const char* at_a = source(from, s.row, warp, lane);
  const char* at_b = from + (1 << 20) + (warp * 2 + lane / 16) * size_t{4096} + lane % 16 * 16;
  const uint32_t to = base + warp * 512 + lane * 16;
  float d[64];
  uint32_t none[4] = {0, 0, 0, 0};
  for (float& x : d) x = 0;
  const auto copy = [&](int stage, int number) {
    if constexpr (kCopies) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        copy16(to + stage * 16384 + i * 2048, at_a + number * 64 + i * (size_t{4096} * 128));
      commit();
#pragma unroll
      for (int i = 0; i < 4; ++i)
        copy16(to + stage * 16384 + 8192 + i * 2048,
               at_b + number % 4 * (size_t{4096} * 32) + i * (size_t{4096} * 8));
    } else {
      commit();
    }
    commit();
  };
  for (int i = 0; i < kStages - 1; ++i) copy(i, i);
  unsigned long long start = 0;
  int stage = 0, free_stage = kStages - 1;
  for (int i = 0; i < s.steps; ++i) {
    if (i == 8) start = bench::clock_now();
    wait<2 * (kStages - 2)>();
    __syncthreads();
    if constexpr (kFence) proxy_fence();
    if constexpr (kProducts > 0) {
      products_begin();
      const uint64_t da = wgmma_descriptor(base + stage * 16384),
                     db = wgmma_descriptor(base + stage * 16384 + 8192);
#pragma unroll
      for (int k = 0; k < kProducts; ++k) product<128, false>(d, none, da + 2 * (k % 2), db + 2 * (k % 2));
      products_commit();
      products_wait<1>();
    }
    __syncthreads();
    copy(free_stage, i);
    if (++stage == kStages) stage = 0;
    if (++free_stage == kStages) free_stage = 0;
  }
  if (threadIdx.x == 0) out[0] = (bench::clock_now() - start) * 1000 / (s.steps - 8);
  products_wait<0>();
  wait<0>();
  float sum = 0;
  for (const float x : d) sum += x;
  if (sum == 123) sink[threadIdx.x] = sum;
}

constexpr int kShared = 120 << 10, kRounds = 64;
int repeats = 5;
unsigned long long* out;
char* from;
float* sink;

std::vector<unsigned long long> answers(int count) {
  CHECK(cudaDeviceSynchronize());
  std::vector<unsigned long long> values(static_cast<size_t>(count));
  CHECK(cudaMemcpy(values.data(), out, values.size() * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemset(out, 0, 4096));
  return values;
}

template <typename Kernel>
void allow(Kernel kernel) {
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
}

double median(std::vector<double> values) { return bench::summarize(values).median; }

template <bool kThroughL1>
void ask_beside_loads(int row, int spread, int copies, int loads) {
  allow(beside_loads<kThroughL1>);
  std::vector<double> copy, load;
  for (int r = 0; r < repeats; ++r) {
    beside_loads<kThroughL1>
        <<<1, 256, kShared>>>({row, spread, copies, loads}, from, out, reinterpret_cast<unsigned*>(sink));
    const auto v = answers(8);
    copy.push_back(static_cast<double>(v[0])), load.push_back(static_cast<double>(v[4]));
  }
  bench::Answer("async_copy_beside_loads",
                "cycles of four warps' copies, and of four warps' loads beside them")
      .add("row", row)
      .add("spread", spread)
      .add("through_l1", kThroughL1)
      .add("copies", copies)
      .add("loads", loads)
      .add("load_cycles", median(load))
      .print(bench::summarize(copy), "cycle");
}

void ask_fence(int kind, int copies, int warps, int delay) {
  allow(fence_behind);
  std::vector<double> fence, copied, begun;
  for (int r = 0; r < repeats; ++r) {
    fence_behind<<<1, 128, kShared>>>(copies, warps, delay, kind, from, out);
    const auto v = answers(12);
    fence.push_back(static_cast<double>(v[0])), copied.push_back(static_cast<double>(v[1])),
        begun.push_back(static_cast<double>(v[2]));
  }
  bench::Answer("async_fence", "cycles of a fence behind copies under way")
      .add_text("kind", kind == 0   ? "proxy"
                        : kind == 1 ? "cta"
                                    : "none")
      .add("copies", copies)
      .add("warps", warps)
      .add("delay", delay)
      .add("began", median(begun))
      .add("copied", median(copied))
      .print(bench::summarize(fence), "cycle");
}

template <int kN, bool kRegisters>
void ask_products(int traffic, int others) {
  allow(beside_products<kN, kRegisters>);
  std::vector<double> products, traffic_ends;
  for (int r = 0; r < repeats; ++r) {
    beside_products<kN, kRegisters><<<1, 256, kShared>>>(traffic, kRounds, others, from, out, sink);
    const auto v = answers(8);
    products.push_back(v[0] / (4.0 * kRounds)), traffic_ends.push_back(static_cast<double>(v[4]));
  }
  const char* names[] = {"none", "copies, rows of 64", "copies, rows of 128", "loads", "copies, rows of 512"};
  bench::Answer("async_products", "cycles a product beside four warps' copies or loads")
      .add("columns", kN)
      .add("registers", kRegisters)
      .add_text("traffic", names[traffic])
      .add("others", others)
      .add("others_cycles", median(traffic_ends))
      .print(bench::summarize(products), "cycle");
}

template <int kStages, int kProducts, bool kCopies, bool kFence>
void ask_step(int row) {
  allow(step<kStages, kProducts, kCopies, kFence>);
  std::vector<double> cycles;
  for (int r = 0; r < repeats; ++r) {
    step<kStages, kProducts, kCopies, kFence><<<1, 128, kShared>>>({104, row}, from, out, sink);
    cycles.push_back(answers(1)[0] / 1000.0);
  }
  bench::Answer("async_step", "cycles a step of copies, fence and products")
      .add("stages", kStages)
      .add("products", kProducts)
      .add("row", row)
      .add("copies", kCopies)
      .add("fence", kFence)
      .print(bench::summarize(cycles), "cycle");
}

}  // namespace

int main(int count, char** words) {
  if (count > 1) repeats = std::atoi(words[1]);
  CHECK(cudaMalloc(&out, 4096));
  CHECK(cudaMalloc(&from, 8 << 20));
  CHECK(cudaMalloc(&sink, 4096));
  CHECK(cudaMemset(from, 0, 8 << 20));
  CHECK(cudaMemset(out, 0, 4096));
  ask_beside_loads<false>(128, 16, 0, 1024);
  for (const int row : {64, 128, 256, 512})
    for (const int loads : {0, 512, 1024})
      ask_beside_loads<false>(row, 16, 512, loads), ask_beside_loads<true>(row, 16, 512, loads);
  for (const int spread : {32, 64, 128})
    ask_beside_loads<false>(128, spread, 512, 0), ask_beside_loads<false>(128, spread, 512, 1024);
  for (const int kind : {0, 1, 2}) ask_fence(kind, 0, 4, 100);
  for (const int kind : {0, 1})
    for (const int delay : {20, 100, 200, 300, 400, 600}) ask_fence(kind, 4, 4, delay);
  for (const int delay : {100, 300})
    ask_fence(0, 1, 4, delay), ask_fence(0, 16, 4, delay), ask_fence(0, 4, 1, delay),
        ask_fence(0, 16, 1, delay);
  for (const int traffic : {0, 1, 2, 4, 3})
    for (const int others : {128, 512, 2048}) {
      if (traffic == 0 && others > 128) break;
      const int some = traffic ? others : 0;
      ask_products<64, false>(traffic, some), ask_products<128, false>(traffic, some),
          ask_products<256, false>(traffic, some);
      ask_products<128, true>(traffic, some);
    }
  for (const int row : {64, 128, 256}) {
    ask_step<4, 0, true, false>(row), ask_step<4, 0, true, true>(row), ask_step<4, 4, true, false>(row);
    ask_step<4, 4, true, true>(row), ask_step<4, 2, true, true>(row), ask_step<3, 4, true, true>(row);
  }
  ask_step<4, 0, false, false>(128), ask_step<4, 0, false, true>(128), ask_step<4, 4, false, false>(128),
      ask_step<4, 4, false, true>(128);
  return 0;
}
