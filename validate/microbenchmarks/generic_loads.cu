// What does a load through a generic pointer cost, by the space that it finds?
//
// Models:  dependent chains of self-pointing 64-bit words in shared and in global memory, read by an
//          instruction that knows the space (LDS, LDG) and by one that does not (LD); one warp, all
//          lanes on words of their own.
// Ignores: local memory; generic stores and atomics.
// Source:  the slope method of bench.cuh.
#include "bench.cuh"

using namespace bench;

enum class Form { kShared, kGenericShared, kGlobal, kGenericGlobal };

template <Form kForm>
__device__ __forceinline__ void follow(unsigned long long& at) {
  if constexpr (kForm == Form::kShared) {
    asm volatile("ld.shared.u64 %0, [%0];" : "+l"(at)::"memory");
  } else if constexpr (kForm == Form::kGlobal) {
    asm volatile("ld.global.u64 %0, [%0];" : "+l"(at)::"memory");
  } else {
    asm volatile("ld.u64 %0, [%0];" : "+l"(at)::"memory");
  }
}

template <Form kForm, int N>
__global__ void chain(Stamp* out, unsigned long long* sink, unsigned long long* far, int iterations) {
  __shared__ unsigned long long near[32];
  const unsigned lane = threadIdx.x % 32;
  unsigned long long at = reinterpret_cast<unsigned long long>(far + lane);
  if (kForm == Form::kGenericShared) at = reinterpret_cast<unsigned long long>(near + lane);
  if (kForm == Form::kShared) at = __cvta_generic_to_shared(near + lane);
  near[lane] = at;
  far[lane] = at;
  __syncthreads();
  unsigned long long t0 = 0, t1 = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    t0 = clock_now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
#pragma unroll
      for (int n = 0; n < N; ++n) follow<kForm>(at);
    }
    if (at == 0x5a5a5a5b) *sink = at;
    __syncthreads();
    t1 = clock_now();
  }
  if (lane == 0) out[0] = {t0, t1, 0, 0, sm_id(), 0};
}

template <Form kForm>
void measure(const char* space, const char* pointer, Buffer<Stamp>& out, Buffer<unsigned long long>& words) {
  constexpr int kShort = 16, kLong = 80, kIterations = 8;
  std::vector<double> slopes;
  for (int r = 0; r < 5; ++r) {
    double t[2];
    for (int i : {0, 1}) {
      if (i) {
        chain<kForm, kLong><<<1, 32>>>(out.get(), words.get() + 64, words.get(), kIterations);
      } else {
        chain<kForm, kShort><<<1, 32>>>(out.get(), words.get() + 64, words.get(), kIterations);
      }
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      const Stamp s = out.download(1)[0];
      t[i] = static_cast<double>(s.stop - s.start);
    }
    if (r) slopes.push_back((t[1] - t[0]) / ((kLong - kShort) * kIterations));
  }
  Answer("generic_load_latency", "cycles a 64-bit load in a dependent chain, one warp, all lanes on words of their own")
      .add_text("space", space)
      .add_text("pointer", pointer)
      .print(summarize(slopes), "cycle");
}

int main() {
  Buffer<Stamp> out(1);
  Buffer<unsigned long long> words(128);
  measure<Form::kShared>("shared", "shared", out, words);
  measure<Form::kGenericShared>("shared", "generic", out, words);
  measure<Form::kGlobal>("global", "global", out, words);
  measure<Form::kGenericGlobal>("global", "generic", out, words);
  return 0;
}
