// How fast are the registers of stores to shared and to global memory read?
//
// Models:  one block on one SM; each round a warp stores the same one, two or four registers n times, to shared memory without a conflict or to
//          lines of its own, and then changes the last of them, which waits until the last store has read it.
// Ignores: what reads the stored data.
// Source:  counters of ncu: SM active cycles and the states of the warps, a line per launch.
#include "bench.cuh"

using namespace bench;

namespace {

constexpr int kRounds = 512;

/// Stores of `last`, and with kWords 2 or 4 of registers before it.
template <int kWords>
__device__ __forceinline__ void store(char* to, uint32_t a, uint32_t b, uint32_t c, uint32_t last) {
  if constexpr (kWords == 4) asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b), "r"(c), "r"(last) : "memory");
  if constexpr (kWords == 2) asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(a), "r"(last) : "memory");
  if constexpr (kWords == 1) asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(last) : "memory");
}
template <int kWords>
__device__ __forceinline__ void store(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t last) {
  if constexpr (kWords == 4) asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(last) : "memory");
  if constexpr (kWords == 2) asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(last) : "memory");
  if constexpr (kWords == 1) asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(last) : "memory");
}

/// The rounds, to an address of global or of shared memory. Returns what the last register holds.
template <int kStores, int kWords, typename Address>
__device__ __forceinline__ uint32_t rounds(Address own, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t last = a;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kStores; ++i) store<kWords>(own + i * 4096, a, b, c, last);
    asm volatile("add.u32 %0, %0, 7;" : "+r"(last));
  }
  return last;
}

template <int kStores, int kWords>
__global__ void global_stores(uint4* memory, uint32_t a, uint32_t b, uint32_t c) {
  rounds<kStores, kWords>(reinterpret_cast<char*>(memory) + threadIdx.x * 4 * kWords, a, b, c);
}

template <int kStores, int kWords>
__global__ void stores(unsigned* sink, uint32_t a, uint32_t b, uint32_t c) {
  __shared__ uint4 memory[8 * 256];
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + threadIdx.x * 4 * kWords;
  const uint32_t last = rounds<kStores, kWords>(address, a, b, c);
  if (memory[threadIdx.x].x == 123456) *sink = last;
}

template <int kStores, int kWords>
void ask(int& launch, unsigned* sink) {
  for (const unsigned warps : {1u, 2u, 4u, 8u}) {
    stores<kStores, kWords><<<1, 32 * warps>>>(sink, 1, 2, 3);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("store_sources", "registers of shared stores")
        .add("launch", launch++).add("stores", kStores).add("words", kWords).add("warps", warps)
        .print(kRounds, "rounds", 0);
  }
}

template <int kStores, int kWords>
void ask_global(int& launch, uint4* memory) {
  for (const unsigned warps : {1u, 4u}) {
    global_stores<kStores, kWords><<<1, 32 * warps>>>(memory, 1, 2, 3);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("store_sources", "registers of global stores")
        .add("launch", launch++).add("stores", kStores).add("words", kWords).add("warps", warps)
        .print(kRounds, "rounds", 0);
  }
}

template <int kWords>
void ask_all_global(int& launch, uint4* memory) {
  ask_global<1, kWords>(launch, memory);
  ask_global<2, kWords>(launch, memory);
  ask_global<4, kWords>(launch, memory);
  ask_global<8, kWords>(launch, memory);
}

template <int kWords>
void ask_all(int& launch, unsigned* sink) {
  ask<1, kWords>(launch, sink);
  ask<2, kWords>(launch, sink);
  ask<4, kWords>(launch, sink);
  ask<8, kWords>(launch, sink);
}

}  // namespace

int main() {
  Buffer<unsigned> sink(1);
  int launch = 0;
  ask_all<1>(launch, sink.get());
  ask_all<2>(launch, sink.get());
  ask_all<4>(launch, sink.get());
  Buffer<uint4> memory(8 * 256);
  ask_all_global<1>(launch, memory.get());
  ask_all_global<2>(launch, memory.get());
  ask_all_global<4>(launch, memory.get());
  return 0;
}
