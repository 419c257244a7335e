// What do atomics on a word that many use wait for, when the others of the grid go to words of their own?
//
// Models:  of each warp's lanes some (or one of a block's) take part in an atomic on one word; the rest do an atomic, a load or a store at a
//          random word of a table, or nothing. All SMs; counters tell time and traffic. With a word (`warm`) every launch is run twice and the
//          second finds the table where the first left it.
// Ignores: other operations than additions of 32-bit integers.
// Source:  counters of ncu.
#include <cstring>

#include "bench.cuh"

using namespace bench;

enum Others : int { kNothing, kReduction, kAtomic, kLoad, kStore };

/// `hot_lanes` of each `group` threads add to words[0]; the others go to words[32 .. 32 + count).
__global__ void __launch_bounds__(256) skewed_atomics(unsigned* words, unsigned count, unsigned hot_lanes, unsigned group, int others, int rounds, unsigned* out) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const bool hot = threadIdx.x % group < hot_lanes;
  unsigned state = thread * 2654435761u + 12345u, sum = 0;
  for (int r = 0; r < rounds; ++r) {
    state = state * 1664525u + 1013904223u;
    const unsigned at = 32 + static_cast<unsigned>((static_cast<unsigned long long>(state) * count) >> 32);
    if (hot) {
      atomicAdd(words, 1u);
    } else if (others == kReduction) {
      atomicAdd(words + at, 1u);
    } else if (others == kAtomic) {
      sum += atomicAdd(words + at, 1u);
    } else if (others == kLoad) {
      unsigned v;
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(words + at) : "memory");
      sum += v;
    } else if (others == kStore) {
      asm volatile("st.global.u32 [%0], %1;" ::"l"(words + at), "r"(state) : "memory");
    }
  }
  if (sum == 0xdeadbeefu) out[0] = sum;
}

int main(int argc, char** argv) {
  const bool warm = argc > 1 && std::strcmp(argv[1], "warm") == 0;
  Buffer<unsigned> words((std::size_t{64} << 20) + 64), out(32);
  static const char* const names[] = {"nothing", "reductions", "atomics", "loads", "stores"};
  int launch = 0;
  for (unsigned log : {16u, 20u, 22u, 24u, 26u}) {
    for (int others : {kNothing, kReduction, kAtomic, kLoad, kStore}) {
      if (others == kNothing && log != 16) continue;
      for (auto [hot, group] : {std::pair{0u, 32u}, {1u, 256u}, {1u, 32u}, {16u, 32u}}) {
        if (others == kNothing && hot == 0) continue;
        for (int time = 0; time < (warm ? 2 : 1); ++time) {
          skewed_atomics<<<1056, 256>>>(words.get(), 1u << log, hot, group, others, 8, out.get());
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
        }
        Answer("skewed_atomics", "one word that many add to, and others")
            .add("launch", warm ? 2 * launch + 1 : launch)
            .add("words", 1u << log)
            .add_text("others", names[others])
            .add("hot_lanes", hot)
            .add("group", group)
            .print(1056 * 256 * 8, "operation", 0);
        ++launch;
      }
    }
  }
  return 0;
}
