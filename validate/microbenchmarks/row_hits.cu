// Do loads that hit L1 and stores hold each other up, by where their words lie?
//
// Models:  one block on one SM; each thread has a row of L1's lines to load from and one to store to, `stride` bytes from the next thread's.
//          Each round a warp loads words and stores one, of which its next round is independent: stores of what was loaded or of something
//          else, to lines that L1 has or not, by the warps that load, by other warps of the same sub-cores, or by those of other sub-cores; also
//          loads of shared memory and shuffles instead of loads.
// Ignores: loads that miss: all loaded lines are brought before.
// Source:  counters of ncu: SM active cycles, wavefronts of L1's data stage and the states of the warps, a line per launch.
#include "bench.cuh"

using namespace bench;

namespace {

constexpr int kUnrolled = 8;  // rounds of an iteration
enum Roles : int { all_do_both, half_of_each_sub_core, half_of_the_sub_cores };

constexpr int kSharedLoads = -1, kShuffles = -2;  // instead of a number of loads

struct Rows {
  char *loaded, *stored;
  int stride;  // bytes
  int move;    // bytes from an iteration's rows to the next one's: 0, which the compiler does not know
};

__device__ __forceinline__ unsigned load_word(const char* from) {
  unsigned word;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
  return word;
}

/// `kStep`: bytes from a round's word to the next one's.
template <int kLoads, int kStores, bool kChain, int kRoles, int kStep>
__global__ void __launch_bounds__(512) rounds(Rows rows, int iterations, int hits, unsigned* sink) {
  const unsigned warp = threadIdx.x / 32;
  const bool loads = kRoles == half_of_each_sub_core ? warp < blockDim.x / 64 : warp % 2 == 0;
  const char* from = rows.loaded + threadIdx.x * rows.stride;
  char* to = rows.stored + threadIdx.x * rows.stride;
  unsigned sum = 0;
  for (int i = 0; i < kUnrolled; ++i) {
    sum += load_word(from + i * kStep);
    if (hits) sum += load_word(to + i * kStep);
  }
  __syncthreads();
  __shared__ unsigned shared[512];
  shared[threadIdx.x] = sum;
  __syncthreads();
  const unsigned something = threadIdx.x;
  const auto load_words = [&](int i) {
    unsigned value = 0;
    if constexpr (kLoads == kSharedLoads) value = *reinterpret_cast<volatile unsigned*>(shared + threadIdx.x);
    if constexpr (kLoads == kShuffles) value = __shfl_xor_sync(~0u, something, i + 1);
#pragma unroll
    for (int j = 0; j < kLoads; ++j) value ^= load_word(from + ((i + 3 * j) % kUnrolled) * kStep);
    return value;
  };
  const auto store_word = [&](int i, unsigned value) {
    if constexpr (kStores != 0) asm volatile("st.global.u32 [%0], %1;" ::"l"(to + i * kStep), "r"(value) : "memory");
  };
#pragma unroll 1
  for (int iteration = 0; iteration < iterations; ++iteration) {
    if constexpr (kRoles == all_do_both) {
#pragma unroll
      for (int i = 0; i < kUnrolled; ++i) {
        const unsigned value = load_words(i);
        store_word(i, kChain ? value : something);
        sum ^= value;
      }
    } else if (loads) {
#pragma unroll
      for (int i = 0; i < kUnrolled; ++i) sum ^= load_words(i);
    } else {
#pragma unroll
      for (int i = 0; i < kUnrolled; ++i) store_word(i, something);
    }
    from += rows.move;
    to += rows.move;
  }
  if (sum == 123456) *sink = sum;
}

template <int kLoads, int kStores, bool kChain, int kRoles>
void ask(int& launch, const char* what, Rows rows, bool same, unsigned* sink) {
  for (const int hits : {0, 1}) {
    if (hits && (kStores == 0 || same)) continue;
    for (const int stride : {4, 32, 64, 128, 132}) {
      for (const unsigned warps : {1u, 8u, 16u}) {
        if (kRoles != all_do_both && warps == 1) continue;
        for (const int iterations : {8, 16}) {
          Rows asked = rows;
          asked.stride = stride;
          if (same) asked.stored = asked.loaded;
          if (stride == 4) {
            rounds<kLoads, kStores, kChain, kRoles, 4096><<<1, 32 * warps>>>(asked, iterations, hits, sink);
          } else {
            rounds<kLoads, kStores, kChain, kRoles, 4><<<1, 32 * warps>>>(asked, iterations, hits, sink);
          }
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          Answer("row_hits", "loads that hit L1 beside stores")
              .add("launch", launch++).add_text("what", what).add("hits", hits).add("stride", stride)
              .add("warps", warps).add("rounds", kUnrolled * iterations).print(kUnrolled * iterations, "rounds", 0);
        }
      }
    }
  }
}

}  // namespace

int main() {
  Buffer<char> loaded(std::size_t{1} << 20), stored(std::size_t{1} << 20);
  Buffer<unsigned> sink(1);
  loaded.zero();
  stored.zero();
  const Rows rows = {loaded.get(), stored.get(), 0, 0};
  int launch = 0;
  ask<1, 0, false, all_do_both>(launch, "loads", rows, false, sink.get());
  ask<0, 1, false, all_do_both>(launch, "stores", rows, false, sink.get());
  ask<1, 1, false, all_do_both>(launch, "a load and a store of something else", rows, false, sink.get());
  ask<1, 1, true, all_do_both>(launch, "a load and its store", rows, false, sink.get());
  ask<1, 1, true, all_do_both>(launch, "a load and its store to the same word", rows, true, sink.get());
  ask<2, 1, true, all_do_both>(launch, "two loads and their store", rows, false, sink.get());
  ask<1, 1, false, half_of_each_sub_core>(launch, "warps that load and warps that store", rows, false, sink.get());
  ask<1, 1, false, half_of_the_sub_cores>(launch, "sub-cores that load and sub-cores that store", rows, false, sink.get());
  ask<kSharedLoads, 1, false, half_of_each_sub_core>(launch, "warps that load shared memory and warps that store", rows, false, sink.get());
  ask<kSharedLoads, 1, false, half_of_the_sub_cores>(launch, "sub-cores that load shared memory and sub-cores that store", rows, false, sink.get());
  ask<kShuffles, 1, false, half_of_each_sub_core>(launch, "warps that shuffle and warps that store", rows, false, sink.get());
  return 0;
}
