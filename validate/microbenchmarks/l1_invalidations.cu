// What makes L1 forget what it has?
//
// Models:  a warp loads the same 64 lines in each round; between two rounds it, or another warp of its SM, executes a fence, or an access that
//          acquires or releases; loads of global memory, of read-only data (`ld.global.nc`), of textures and of local memory.
// Ignores: what is on its way when it happens; other SMs.
// Source:  counters of ncu: sectors and hits of L1, sectors that L2 reads.
#include <tuple>
#include <utility>

#include "bench.cuh"

using namespace bench;

namespace {

enum Load : int { global, read_only, texture, local };
const char* const kLoads[] = {"global", "read-only", "texture", "local"};
enum Between : int { nothing, fence_block, fence_device, fence_system, relaxed_load, acquiring_load, acquiring_load_of_block, volatile_load, releasing_store, acquiring_atomic, relaxed_atomic, betweens };
const char* const kBetweens[] = {"nothing", "fence of the block", "fence of the device", "fence of the system", "relaxed load", "acquiring load", "acquiring load of the block",
                                 "volatile load", "releasing store", "acquiring and releasing atomic", "relaxed atomic"};
constexpr int kWords = 2048, kRounds = 16, kLocalWords = 64;

template <int kBetween>
__device__ __forceinline__ unsigned between(unsigned* flag) {
  unsigned v = 0;
  if constexpr (kBetween == fence_block) __threadfence_block();
  if constexpr (kBetween == fence_device) __threadfence();
  if constexpr (kBetween == fence_system) __threadfence_system();
  if constexpr (kBetween == relaxed_load) asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
  if constexpr (kBetween == acquiring_load) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
  if constexpr (kBetween == acquiring_load_of_block) asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
  if constexpr (kBetween == volatile_load) asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
  if constexpr (kBetween == releasing_store) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(7u) : "memory");
  if constexpr (kBetween == acquiring_atomic) asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(flag) : "memory");
  if constexpr (kBetween == relaxed_atomic) asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(flag) : "memory");
  return v;
}

template <int kLoad, int kBetween>
__global__ void again(const unsigned* words, cudaTextureObject_t texels, unsigned* flag, int other, unsigned zero, unsigned* sink) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned own[kLocalWords];
  if constexpr (kLoad == local)
    for (int i = 0; i < kLocalWords; ++i) own[(i + zero) % kLocalWords] = i;
  unsigned sum = 0;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    if (warp == 0) {
#pragma unroll 1
      for (int i = 0; i < kWords / 32; ++i) {
        unsigned v = 0;
        const int at = 32 * i + lane;
        if constexpr (kLoad == global) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(words + at) : "memory");
        if constexpr (kLoad == read_only) asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(words + at) : "memory");
        if constexpr (kLoad == texture) v = tex1Dfetch<unsigned>(texels, at + zero);
        if constexpr (kLoad == local) v = *static_cast<volatile unsigned*>(own + (i + zero) % kLocalWords);
        sum += v;
      }
    }
    __syncthreads();
    if (warp == other) sum += between<kBetween>(flag);
    __syncthreads();
  }
  if (sum == 123456789u) *sink = sum;
}

template <int kLoad, int kBetween>
void ask(int& launch, const unsigned* words, cudaTextureObject_t texels, unsigned* flag, unsigned* sink) {
  for (const int other : {0, 1}) {
    again<kLoad, kBetween><<<1, 64>>>(words, texels, flag, other, 0, sink);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("l1_invalidations", "loads of the same lines in each round")
        .add("launch", launch++).add_text("loads", kLoads[kLoad]).add_text("between", kBetweens[kBetween]).add("other_warp", other)
        .print(kRounds, "rounds", 0);
  }
}

template <int kLoad, int... kBetween>
void ask_all(std::integer_sequence<int, kBetween...>, int& launch, const unsigned* words, cudaTextureObject_t texels, unsigned* flag, unsigned* sink) {
  (ask<kLoad, kBetween>(launch, words, texels, flag, sink), ...);
}

}  // namespace

int main() {
  Buffer<unsigned> words(kWords), flag(32), sink(1);
  words.zero();
  flag.zero();
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = words.get();
  resource.res.linear.desc = cudaCreateChannelDesc<unsigned>();
  resource.res.linear.sizeInBytes = kWords * sizeof(unsigned);
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texels = 0;
  CHECK(cudaCreateTextureObject(&texels, &resource, &how, nullptr));
  int launch = 0;
  const auto all = std::make_integer_sequence<int, betweens>();
  ask_all<global>(all, launch, words.get(), texels, flag.get(), sink.get());
  ask_all<read_only>(all, launch, words.get(), texels, flag.get(), sink.get());
  ask_all<texture>(all, launch, words.get(), texels, flag.get(), sink.get());
  ask_all<local>(all, launch, words.get(), texels, flag.get(), sink.get());
  return 0;
}
