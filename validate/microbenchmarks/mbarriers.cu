// What do barriers in shared memory (mbarriers) cost: their operations, a phase that is waited for, a wait that is in vain?
#include "bench.cuh"

namespace {

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void begin_barrier(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
__device__ __forceinline__ uint64_t arrive_token(uint32_t bar) {
  uint64_t token;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(bar) : "memory");
  return token;
}
template <int kForm>  // 0 test_wait, 1 try_wait, 2 try_wait with a hint of 1 ms
__device__ __forceinline__ uint32_t ended(uint32_t bar, uint32_t parity) {
  uint32_t done;
  if constexpr (kForm == 0) {
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  } else if constexpr (kForm == 1) {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  } else {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, 1000000; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  }
  return done;
}

/// Chains of `count` operations: each address depends on the result before. `zero` is 0.
template <int kOp>
__global__ void chain(uint32_t zero, int count, unsigned long long* out) {
  __shared__ alignas(8) uint64_t barrier;
  const uint32_t bar = shared_address(&barrier);
  if (threadIdx.x == 0) begin_barrier(bar, kOp == 0 ? blockDim.x : 1 << 19);
  __syncwarp();
  uint32_t at = bar;
  const unsigned long long start = bench::clock_now();
  for (int i = 0; i < count; i += 8) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if constexpr (kOp == 0) at = bar + (static_cast<uint32_t>(arrive_token(at)) & zero);
      if constexpr (kOp == 1) at = bar + (ended<0>(at, 1) & zero);
      if constexpr (kOp == 2) at = bar + (ended<1>(at, 1) & zero);
      if constexpr (kOp == 3) arrive(at);
      if constexpr (kOp == 4) {
        uint32_t word;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
        at = bar + (word & zero);
      }
    }
  }
  const unsigned long long stop = bench::clock_now();
  out[0] = stop - start + (at & zero);
}

/// Warp 1 waits; warp 0 arrives `delay` cycles after it has begun to. out: arrival to the waiter's next instruction, polls in vain.
template <int kForm>
__global__ void wake(int delay, unsigned long long* out) {
  __shared__ alignas(8) uint64_t barrier;
  __shared__ unsigned long long arrived;
  const uint32_t bar = shared_address(&barrier);
  if (threadIdx.x == 0) begin_barrier(bar, 1);
  for (int round = 0; round < 3; ++round) {  // the first two bring the code
    __syncthreads();
    if (threadIdx.x == 0) {
      const unsigned long long start = bench::clock_now();
      while (bench::clock_now() - start < static_cast<unsigned>(delay)) {}
      const unsigned long long now = bench::clock_now();
      arrive(bar);
      arrived = now;
    } else if (threadIdx.x == 32) {
      unsigned polls = 0;
      while (!ended<kForm>(bar, round & 1)) ++polls;
      const unsigned long long now = bench::clock_now();
      out[0] = now;
      out[1] = polls;
    }
    __syncthreads();
    if (threadIdx.x == 32) out[0] -= arrived;
  }
}

/// Waits in vain: what each of eight takes. `others`: warps beside it that compute.
template <int kForm>
__global__ void in_vain(unsigned long long* out, int others) {
  __shared__ alignas(8) uint64_t barrier;
  __shared__ volatile int stop;
  const uint32_t bar = shared_address(&barrier);
  if (threadIdx.x == 0) begin_barrier(bar, 1), stop = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned long long times[9];
    for (int i = 0; i < 9; ++i) {
      times[i] = bench::clock_now();
      if (ended<kForm>(bar, 0)) out[100] = 1;
    }
    for (int i = 0; i < 8; ++i) out[i] = times[i + 1] - times[i];
    stop = 1;
  } else if (threadIdx.x >= 32) {
    float x = static_cast<float>(threadIdx.x);
    while (!stop)
      for (int i = 0; i < 64; ++i) x = x * 1.0001f + 1.0f;
    if (x == 0) out[101] = 1;
  }
}

template <typename Launch>
std::vector<double> read(Launch&& launch, int words) {
  static unsigned long long* device = nullptr;
  if (!device) CHECK(cudaMalloc(&device, 1024));
  CHECK(cudaMemset(device, 0, 1024));
  launch(device);
  CHECK(cudaDeviceSynchronize());
  std::vector<unsigned long long> host(words);
  CHECK(cudaMemcpy(host.data(), device, 8 * words, cudaMemcpyDeviceToHost));
  return std::vector<double>(host.begin(), host.end());
}

template <int kOp>
void ask_chain(const char* operation, int lanes) {
  const auto cycles = [&](int count) {
    read([&](auto* out) { chain<kOp><<<1, lanes>>>(0, count, out); }, 1);
    return read([&](auto* out) { chain<kOp><<<1, lanes>>>(0, count, out); }, 1)[0];
  };
  std::vector<double> repeats;
  for (int i = 0; i < 5; ++i) repeats.push_back((cycles(512) - cycles(256)) / 256);
  bench::Answer("mbarrier_latency", "cycles an operation on an mbarrier takes in a dependent chain, with an addition or two (ld: the same with LDS)")
      .add_text("operation", operation).add("lanes", lanes).print(bench::summarize(repeats), "cycle");
}

template <int kForm>
void ask_wake(const char* form) {
  std::vector<double> delays, lates, polls;
  for (int delay = 0; delay < 600; delay += 13) delays.push_back(delay);
  for (int delay = 700; delay < 20000; delay = delay * 3 / 2 + 7) delays.push_back(delay);
  for (const double delay : delays) {
    const auto got = read([&](auto* out) { wake<kForm><<<1, 64>>>(static_cast<int>(delay), out); }, 2);
    lates.push_back(got[0]);
    polls.push_back(got[1]);
  }
  bench::Answer("mbarrier_wake", "cycles from an arrival that ends a phase until the warp that waits for it goes on; how often it asked in vain")
      .add_text("form", form).add("delays", delays).add("cycles", lates).add("in_vain", polls)
      .print(bench::summarize(lates), "cycle");
}

template <int kForm>
void ask_in_vain(const char* form, int others) {
  const auto got = read([&](auto* out) { in_vain<kForm><<<1, 32 + 32 * others>>>(out, others); }, 8);
  bench::Answer("mbarrier_in_vain", "cycles of a wait for a phase that does not end, eight in a row")
      .add_text("form", form).add("other_warps", others).add("cycles", got).print(bench::summarize(got), "cycle");
}

}  // namespace

int main() {
  for (const int lanes : {1, 32}) {
    ask_chain<0>("arrive with token", lanes);
    ask_chain<1>("test_wait", lanes);
    ask_chain<2>("try_wait", lanes);
    ask_chain<3>("arrive", lanes);
    ask_chain<4>("ld", lanes);
  }
  ask_wake<0>("test_wait");
  ask_wake<1>("try_wait");
  ask_wake<2>("try_wait, 1 ms");
  for (const int others : {0, 8}) {
    ask_in_vain<0>("test_wait", others);
    ask_in_vain<1>("try_wait", others);
    ask_in_vain<2>("try_wait, 1 ms", others);
  }
}
