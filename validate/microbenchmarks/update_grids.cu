// What do updates of shared and global words take as programs make them: by the operation, by which lanes and warps meet, and by how many warps?
//
// Models:  each round every lane updates a word: one of its own, one at random among so many, or its neighbours' (runs of lanes on one word);
//          in global memory or in a block's shared memory; the operations of histograms, sums, maxima and of floats summed by compare-and-swap.
// Ignores: skewed choices (skewed_atomics) and several operations on one word (mixed_atomics).
// Source:  counters of ncu: cycles, L2's sectors, states of the warps, a line per launch.
#include <cuda_fp16.h>

#include <tuple>
#include <utility>

#include "bench.cuh"

using namespace bench;

namespace {

enum Kind : int { add_u32, add_f32, add_f64, add_u64, max_u32, add_half2, answered_add, answered_swap, swapped_float, kinds };
const char* const kNames[] = {"add.u32", "add.f32", "add.f64", "add.u64", "max.u32", "add.f16x2", "add.u32 with its answer", "cas.u32 once", "add.f32 by cas"};

/// Lanes choose by their thread: `own` of each `run` neighbours one word, or one of `words` at random for each `run` of them.
struct Choice {
  bool random;
  unsigned words;  // a power of two
  unsigned run;    // lanes
  unsigned move = 0;  // from a round's word to the next one's: 0, which the compiler does not know
};

template <int kKind>
__device__ __forceinline__ unsigned update(char* words, unsigned at, unsigned round) {
  unsigned* const word = reinterpret_cast<unsigned*>(words) + at;
  if constexpr (kKind == add_u32) atomicAdd(word, 1u);
  if constexpr (kKind == add_f32) atomicAdd(reinterpret_cast<float*>(word), 1.0f);
  if constexpr (kKind == add_f64) atomicAdd(reinterpret_cast<double*>(words) + at, 1.0);
  if constexpr (kKind == add_u64) atomicAdd(reinterpret_cast<unsigned long long*>(words) + at, 1ull);
  if constexpr (kKind == max_u32) atomicMax(word, round * 77777u);
  if constexpr (kKind == add_half2) atomicAdd(reinterpret_cast<__half2*>(word), __floats2half2_rn(1.0f, 2.0f));
  if constexpr (kKind == answered_add) return atomicAdd(word, 1u);
  if constexpr (kKind == answered_swap) return atomicCAS(word, round, round + 1);
  if constexpr (kKind == swapped_float) {
    unsigned old = *reinterpret_cast<volatile unsigned*>(word), seen;
    do {
      seen = old;
      old = atomicCAS(word, seen, __float_as_uint(__uint_as_float(seen) + 1.0f));
    } while (old != seen);
  }
  return 0;
}

template <int kKind>
__device__ __forceinline__ unsigned rounds_of(char* words, Choice choice, unsigned thread, int rounds) {
  unsigned state = (thread / choice.run + 1) * 2654435761u, sum = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    unsigned at = thread / choice.run + round * choice.move;
    if (choice.random) {
      state = state * 1664525u + 1013904223u;
      at = state >> 8;
    }
    sum += update<kKind>(words, at & (choice.words - 1), static_cast<unsigned>(round));
  }
  return sum;
}

template <int kKind>
__global__ void __launch_bounds__(1024) update_global(char* words, Choice choice, int rounds, unsigned* sink) {
  const unsigned sum = rounds_of<kKind>(words, choice, blockIdx.x * blockDim.x + threadIdx.x, rounds);
  if (sum == 123456789u) *sink = sum;
}

template <int kKind>
__global__ void __launch_bounds__(1024) update_shared(char*, Choice choice, int rounds, unsigned* sink) {
  __shared__ __align__(16) char words[32768];
  for (unsigned i = threadIdx.x; i < sizeof words / 4; i += blockDim.x) reinterpret_cast<unsigned*>(words)[i] = 0;
  __syncthreads();
  const unsigned sum = rounds_of<kKind>(words, choice, threadIdx.x, rounds);
  __syncthreads();
  if (sum == 123456789u) *sink = sum + reinterpret_cast<unsigned*>(words)[threadIdx.x];
}

template <int kKind>
void ask(int& launch, bool shared, char* words, Choice choice, int blocks, int threads, int rounds, unsigned* sink) {
  (shared ? update_shared<kKind> : update_global<kKind>)<<<blocks, threads>>>(words, choice, rounds, sink);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  Answer("update_grids", "updates of words")
      .add("launch", launch++).add_text("kind", kNames[kKind]).add_text("space", shared ? "shared" : "global").add("random", choice.random)
      .add("words", choice.words).add("run", choice.run).add("blocks", blocks).add("threads", threads).add("rounds", rounds)
      .print(rounds, "rounds", 0);
}

template <int kKind>
void ask_kind(int& launch, char* words, int sms, unsigned* sink) {
  constexpr bool loops = kKind == swapped_float;
  constexpr unsigned all = 1u << 23;
  const Choice global[] = {{false, all, 1}, {false, all, 4}, {false, all, 32}, {true, 32, 1}, {true, 1024, 1}, {true, 32768, 1}, {true, 1u << 20, 1}, {true, all, 1}, {true, 32768, 8}};
  for (const Choice& choice : global) {
    for (const auto& [blocks, threads, rounds] : {std::tuple{1, 32, 32}, {1, 256, 32}, {sms, 256, 16}, {4 * sms, 512, 8}}) {
      if (loops && choice.words < 1u << 20 && blocks > 1) continue;  // who comes first is chance
      ask<kKind>(launch, false, words, choice, blocks, threads, rounds, sink);
    }
  }
  if (kKind == add_half2) return;
  const Choice shared[] = {{false, 2048, 1}, {false, 2048, 2}, {false, 2048, 8}, {false, 2048, 32}, {true, 16, 1}, {true, 256, 1}, {true, 4096, 1}, {true, 256, 4}};
  for (const Choice& choice : shared) {
    for (const int threads : {32, 128, 1024}) ask<kKind>(launch, true, words, choice, 1, threads, 32, sink);
  }
}

template <int... kKinds>
void ask_kinds(std::integer_sequence<int, kKinds...>, int& launch, char* words, int sms, unsigned* sink) {
  (ask_kind<kKinds>(launch, words, sms, sink), ...);
}

}  // namespace

int main() {
  Buffer<char> words(std::size_t{64} << 20);
  Buffer<unsigned> sink(1);
  words.zero();
  int sms = 0, launch = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  ask_kinds(std::make_integer_sequence<int, kinds>(), launch, words.get(), sms, sink.get());
  return 0;
}
