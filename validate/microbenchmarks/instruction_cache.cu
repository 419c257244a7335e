// How large are the instruction caches, what does a miss cost, and what does a taken branch cost?
//
// Models:  a loop over straight-line multiply-adds of 1 KiB to 512 KiB of code, timed when warm
//          (second and third pass) and when cold (first pass, after other data went through L2 or
//          right after the same kernel ran); tight loops of 1 to 16 instructions.
// Ignores: prefetch across jumps.
// Source:  clock64 before and after each pass; every instruction has 16 bytes since Volta.
#include <cstring>

#include "bench.cuh"

using namespace bench;

// 64 multiply-adds on 8 accumulators: 1 KiB of code.
#define FMA8                                                              \
  "fma.rn.f32 %0,%0,%8,%9;fma.rn.f32 %1,%1,%8,%9;fma.rn.f32 %2,%2,%8,%9;" \
  "fma.rn.f32 %3,%3,%8,%9;fma.rn.f32 %4,%4,%8,%9;fma.rn.f32 %5,%5,%8,%9;" \
  "fma.rn.f32 %6,%6,%8,%9;fma.rn.f32 %7,%7,%8,%9;"
#define FMA64 FMA8 FMA8 FMA8 FMA8 FMA8 FMA8 FMA8 FMA8

struct Sums {
  float f[8];
};
__device__ __forceinline__ void one_kib(Sums& s, float x, float y) {
  asm volatile(FMA64
               : "+f"(s.f[0]), "+f"(s.f[1]), "+f"(s.f[2]), "+f"(s.f[3]), "+f"(s.f[4]), "+f"(s.f[5]),
                 "+f"(s.f[6]), "+f"(s.f[7])
               : "f"(x), "f"(y));
}

constexpr int kSizeCount = 30;

/// The code sizes that are asked, in KiB; a group of code ends at each.
__host__ __device__ constexpr int size_at(int i) {
  constexpr int sizes[kSizeCount] = {1,  2,  4,   8,   12,  16,  20,  24,  28,  32,  36,  40,  48,  56,  64,
                                     80, 96, 112, 120, 128, 136, 144, 160, 192, 224, 256, 320, 384, 448, 512};
  return i < 0 || i >= kSizeCount ? 0 : sizes[i];
}

/// Runs the code of the first `kib` KiB: group I, then the next one unless this was the last.
template <int I>
__device__ __forceinline__ void code(Sums& s, float x, float y, int kib) {
  constexpr int kHere = size_at(I), kBefore = I == 0 ? 0 : size_at(I - 1);
#pragma unroll
  for (int k = kBefore; k < kHere; ++k) one_kib(s, x, y);
  if constexpr (I + 1 < kSizeCount) {
    if (kib > kHere) code<I + 1>(s, x, y, kib);
  }
}

constexpr int kPasses = 4;

__global__ void __launch_bounds__(1024) straight_line(Stamp* out, float* sink, float x, float y, int kib) {
  Sums s;
  for (int i = 0; i < 8; ++i) s.f[i] = x * static_cast<float>(i + 1);
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    __syncthreads();
    const unsigned long long t0 = clock_now();
    code<0>(s, x, y, kib);
    const unsigned long long t1 = clock_now();
    if (threadIdx.x % 32 == 0) {
      out[(blockIdx.x * kPasses + pass) * 32 + threadIdx.x / 32] = {t0, t1, 0, 0, sm_id(), 0};
    }
  }
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += s.f[i];
  if (sum == 1.25f) *sink = sum;
}

template <int N>
__global__ void tight_loop(Stamp* out, float* sink, float x, float y, int iterations) {
  float f[16];
  for (int i = 0; i < 16; ++i) f[i] = x * static_cast<float>(i + 1);
  unsigned long long t0 = 0, t1 = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    t0 = clock_now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
#pragma unroll
      for (int n = 0; n < N; ++n) asm volatile("fma.rn.f32 %0,%0,%1,%2;" : "+f"(f[n]) : "f"(x), "f"(y));
    }
    t1 = clock_now();
  }
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += f[i];
  if (sum == 1.25f) *sink = sum;
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = {t0, t1, 0, 0, sm_id(), 0};
}

template <int N>
void measure_loop(Buffer<Stamp>& out, Buffer<float>& sink) {
  for (int warps : {1, 4, 8, 16, 32}) {
    std::vector<double> values;
    for (int r = 0; r < 4; ++r) {
      double t[2];
      for (int i : {0, 1}) {
        out.zero();
        tight_loop<N><<<1, 32 * warps>>>(out.get(), sink.get(), 0.5f, 1.5f, i ? 1024 : 512);
        CHECK(cudaDeviceSynchronize());
        t[i] = span(out.download(32));
      }
      if (r) values.push_back((t[1] - t[0]) / 512);
    }
    Answer("tight_loop", "cycles an iteration of a loop of n FFMA, a counter, a compare, a branch")
        .add("ffma", N)
        .add("warps", warps)
        .print(summarize(values), "cycle");
  }
}

int main() {
  Buffer<Stamp> out(32 * kPasses * 256);
  Buffer<float> sink(1);
  Buffer<char> flush(256 << 20);
  for (int i = 0; i < kSizeCount; ++i) {
    const int kib = size_at(i);
    for (int warps : {1, 4, 16}) {
      std::vector<double> warm, cold, again;
      for (int r = 0; r < 4; ++r) {
        for (bool flushed : {true, false}) {
          if (flushed) {  // other code through the SM's caches, other data through L2
            straight_line<<<device().multiProcessorCount, 32>>>(out.get(), sink.get(), 0.5f, 1.5f, 512);
            CHECK(cudaMemset(flush.get(), r, flush.size()));
          }
          out.zero();
          straight_line<<<1, 32 * warps>>>(out.get(), sink.get(), 0.5f, 1.5f, kib);
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          const auto s = out.download(32 * kPasses);
          double t[kPasses];
          for (int p = 0; p < kPasses; ++p) { t[p] = span({s.begin() + p * 32, s.begin() + p * 32 + warps}); }
          (flushed ? cold : again).push_back(t[0] / (kib * 64));
          if (r) warm.push_back(std::min(t[2], t[3]) / (kib * 64));
        }
      }
      Answer("instruction_cache",
             "cycles an instruction of straight-line FFMA code in a loop, to the last warp's end")
          .add("kib", kib)
          .add("warps", warps)
          .add("first_pass_after_flush", summarize(cold).median)
          .add("first_pass_after_same_kernel", summarize(again).median)
          .print(summarize(warm), "cycle");
    }
  }
  // All SMs at once: the rate at which L2 gives instructions.
  for (int kib : {64, 128, 192, 256, 512}) {
    const int sms = device().multiProcessorCount;
    out.zero();
    straight_line<<<sms, 128>>>(out.get(), sink.get(), 0.5f, 1.5f, kib);
    CHECK(cudaDeviceSynchronize());
    const auto s = out.download(static_cast<std::size_t>(32 * kPasses * sms));
    std::vector<double> values;
    for (int b = 0; b < sms; ++b) {
      const auto at = s.begin() + (b * kPasses + 3) * 32;
      values.push_back(span({at, at + 4}) / (kib * 64));
    }
    Answer("instruction_cache_all_sms", "cycles an instruction, 4 warps on every SM at once")
        .add("kib", kib)
        .print(summarize(values), "cycle");
  }
  measure_loop<1>(out, sink);
  measure_loop<2>(out, sink);
  measure_loop<3>(out, sink);
  measure_loop<4>(out, sink);
  measure_loop<5>(out, sink);
  measure_loop<6>(out, sink);
  measure_loop<8>(out, sink);
  measure_loop<10>(out, sink);
  measure_loop<12>(out, sink);
  measure_loop<16>(out, sink);
  return 0;
}
