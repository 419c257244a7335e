// What do arrays cost that each thread has for itself, and indexes by its data?
//
// Models:  one block on one SM; each thread has an array of bytes or words in local memory. Each round it loads an element, stores one, or adds to
//          one, where all lanes of a warp use the same index or each its own; the index of a round needs the value of the one before it, or not.
// Ignores: arrays that the compiler keeps in registers.
// Source:  counters of ncu: SM active cycles, L1's hits and wavefronts, sectors to L2 and the states of the warps, a line per launch.
#include "bench.cuh"

using namespace bench;

namespace {

enum Step : int { load, store, add, add_by_value };

template <typename T, int kLength, int kStep, bool kSpread>
__global__ void __launch_bounds__(1024) rounds(int count, unsigned* sink) {
  T array[kLength];
#pragma unroll 1
  for (int i = 0; i < kLength; ++i) array[i] = static_cast<T>(i + count);
  unsigned at = kSpread ? threadIdx.x * 7 : 0, sum = 0;
#pragma unroll 1
  for (int round = 0; round < count; ++round) {
#pragma unroll 4
    for (int i = 0; i < 4; ++i) {
      at = at * 5 + 3;
      T& own = array[at % kLength];
      if constexpr (kStep == load) sum += own;
      if constexpr (kStep == store) own = static_cast<T>(round);
      if constexpr (kStep == add) own = static_cast<T>(own + 1);
      if constexpr (kStep == add_by_value) {
        const T value = own;
        own = static_cast<T>(value + 1);
        at += value;
      }
    }
  }
  for (int i = 0; i < kLength; ++i) sum += array[(at + i) % kLength];
  if (sum == 123456) *sink = sum;
}

template <typename T, int kLength, int kStep, bool kSpread>
void ask(int& launch, const char* what, unsigned* sink) {
  for (const unsigned warps : {1u, 4u, 16u, 32u}) {
    for (const int count : {64, 128}) {
      rounds<T, kLength, kStep, kSpread><<<1, 32 * warps>>>(count, sink);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      Answer("own_arrays", "arrays of threads' own")
          .add("launch", launch++).add_text("what", what).add("element_bytes", sizeof(T)).add("length", kLength)
          .add("spread", kSpread).add("warps", warps).add("rounds", count).print(count, "rounds", 0);
    }
  }
}

template <typename T, int kLength, bool kSpread>
void ask_steps(int& launch, unsigned* sink) {
  ask<T, kLength, load, kSpread>(launch, "load", sink);
  ask<T, kLength, store, kSpread>(launch, "store", sink);
  ask<T, kLength, add, kSpread>(launch, "add", sink);
  ask<T, kLength, add_by_value, kSpread>(launch, "add where the value says", sink);
}

}  // namespace

int main() {
  Buffer<unsigned> sink(1);
  int launch = 0;
  ask_steps<unsigned, 32, false>(launch, sink.get());
  ask_steps<unsigned, 32, true>(launch, sink.get());
  ask_steps<unsigned char, 64, false>(launch, sink.get());
  ask_steps<unsigned char, 64, true>(launch, sink.get());
  ask_steps<unsigned char, 256, true>(launch, sink.get());
  return 0;
}
