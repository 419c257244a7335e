// How fast do a sub-core's warps issue functions of single words (MUFU) among plain arithmetic?
//
// Models:  one block on one SM, one, two or four warps per sub-core; a loop of eight functions, each followed by 0 to 12 multiplications with
//          one, two or three registers to read; what is read was written at least eight instructions before.
// Ignores: other pipes beside them.
// Source:  counters of ncu: SM active cycles and the states of the warps, a line per launch.
#include "bench.cuh"

using namespace bench;

namespace {

enum Function { kTanh, kExp2, kNone };
enum Reads { kOne = 1, kTwo = 2, kThree = 3 };
constexpr int kEach = 8, kIterations = 256;

template <int kFunction>
__device__ __forceinline__ void function(float& x) {
  if constexpr (kFunction == kTanh) asm volatile("tanh.approx.f32 %0, %0;" : "+f"(x));
  if constexpr (kFunction == kExp2) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
}

template <int kReads>
__device__ __forceinline__ void multiply(float& x, float y, float z) {
  if constexpr (kReads == kOne) asm volatile("mul.f32 %0, %0, 0f3f800347;" : "+f"(x));
  if constexpr (kReads == kTwo) asm volatile("mul.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
  if constexpr (kReads == kThree) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(y), "f"(z));
}

template <int kFunction, int kBeside, int kReads>
__global__ void beside(float* sink, float first) {
  float x[kEach], y[kEach], z[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    x[i] = first * (threadIdx.x + i);
    y[i] = first + threadIdx.x * i;
    z[i] = first * 3 + threadIdx.x - i;
  }
#pragma unroll 1
  for (int k = 0; k < kIterations; ++k) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      function<kFunction>(x[i]);
#pragma unroll
      for (int j = 0; j < kBeside; ++j) multiply<kReads>(y[(i * kBeside + j) % kEach], z[j % kEach], z[(j + 3) % kEach]);
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) sum += x[i] + y[i] + z[i];
  if (sum == 123) sink[threadIdx.x] = sum;
}

template <int kFunction, int kBeside, int kReads>
void ask(int& launch, float* sink) {
  for (const unsigned warps : {1u, 2u, 4u}) {
    beside<kFunction, kBeside, kReads><<<1, 128 * warps>>>(sink, 0.5f);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("functions_beside", "functions among multiplications")
        .add("launch", launch++).add("function", kFunction).add("beside", kBeside).add("reads", kReads).add("warps", warps)
        .print(kIterations * kEach, "functions per warp", 0);
  }
}

template <int kFunction, int kReads>
void ask_all(int& launch, float* sink) {
  ask<kFunction, 2, kReads>(launch, sink);
  ask<kFunction, 4, kReads>(launch, sink);
  ask<kFunction, 6, kReads>(launch, sink);
  ask<kFunction, 8, kReads>(launch, sink);
  ask<kFunction, 12, kReads>(launch, sink);
}

}  // namespace

int main() {
  Buffer<float> sink(512);
  int launch = 0;
  ask<kTanh, 0, kOne>(launch, sink.get());
  ask<kExp2, 0, kOne>(launch, sink.get());
  ask_all<kTanh, kOne>(launch, sink.get());
  ask_all<kTanh, kTwo>(launch, sink.get());
  ask_all<kTanh, kThree>(launch, sink.get());
  ask_all<kExp2, kTwo>(launch, sink.get());
  ask<kNone, 8, kOne>(launch, sink.get());
  ask<kNone, 8, kTwo>(launch, sink.get());
  ask<kNone, 8, kThree>(launch, sink.get());
  return 0;
}
