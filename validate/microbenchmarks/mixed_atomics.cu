// What do atomics of several kinds cost that meet on few words?
//
// Models:  all SMs' warps add, take the greatest, exchange and compare, in turn, on few words; each thread its own word of them, or all
//          lanes the same; kinds that alternate from instruction to instruction, or from warp to warp; answers wanted or not; 32 and 64
//          bits, and floats. Then the same on shared memory.
// Ignores: anything between them.
// Source:  counters of ncu, cycles.
#include "bench.cuh"

using namespace bench;

enum Kind : int { kNone, kAdd, kMax, kExchange, kCompare, kFloat, kWide, kAnswer, kDouble };

template <int kKind>
__device__ __forceinline__ void act(unsigned* p, unsigned v, unsigned& sum) {
  if constexpr (kKind == kAdd) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if constexpr (kKind == kMax) asm volatile("red.global.max.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if constexpr (kKind == kFloat) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.0f) : "memory");
  if constexpr (kKind == kWide) asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(1ull) : "memory");
  if constexpr (kKind == kDouble) asm volatile("red.global.add.f64 [%0], %1;" ::"l"(p), "d"(1.0) : "memory");
  if constexpr (kKind == kExchange) {
    unsigned r;
    asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(v) : "memory");
    sum += r;
  }
  if constexpr (kKind == kCompare) {
    unsigned r;
    asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "l"(p), "r"(v), "r"(v + 1) : "memory");
    sum += r;
  }
  if constexpr (kKind == kAnswer) {
    unsigned r;
    asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(v) : "memory");
    sum += r;
  }
}

template <int kFirst, int kSecond>
__global__ void __launch_bounds__(1024) meet(unsigned* words, unsigned count, int pitch, int by_warp, int rounds, unsigned* sink) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* const p = words + static_cast<std::size_t>((by_warp ? thread / 32 : thread) % count) * static_cast<unsigned>(pitch);
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r) {
    act<kFirst>(p, thread, sum);
    act<kSecond>(p, thread, sum);
  }
  if (sum == 0x12345) *sink = sum;
}

struct Runner {
  Buffer<unsigned> words{1 << 20}, sink{1};
  int launch = 0;
  template <int kFirst, int kSecond>
  void run(unsigned count, int pitch, int by_warp, unsigned blocks = 132, unsigned threads = 256) {
    static const char* const names[] = {"", "add", "max", "exchange", "compare", "float add", "64-bit add", "add with answer", "double add"};
    const int rounds = kSecond == kNone ? 8 : 4;
    meet<kFirst, kSecond><<<blocks, threads>>>(words.get(), count, pitch, by_warp, rounds, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("mixed_atomics", "atomics on few words: cycles, packets")
        .add("launch", launch++).add_text("first", names[kFirst]).add_text("second", names[kSecond]).add("words", count).add("pitch", pitch)
        .add("by_warp", by_warp).add("blocks", blocks).add("threads", threads).print(8, "atomic a thread", 0);
  }
  template <int kFirst, int kSecond>
  void places() {
    run<kFirst, kSecond>(1, 2, 0);
    run<kFirst, kSecond>(8, 2, 0);
    run<kFirst, kSecond>(64, 2, 0);
    run<kFirst, kSecond>(1024, 2, 0);
    run<kFirst, kSecond>(8, 64, 1);
    run<kFirst, kSecond>(64, 64, 0);
  }
};

int main() {
  Runner r;
  r.places<kAdd, kNone>();
  r.places<kMax, kNone>();
  r.places<kExchange, kNone>();
  r.places<kCompare, kNone>();
  r.places<kFloat, kNone>();
  r.places<kWide, kNone>();
  r.places<kAnswer, kNone>();
  r.places<kDouble, kNone>();
  r.places<kAdd, kMax>();
  r.places<kAdd, kAnswer>();
  r.places<kAdd, kCompare>();
  r.places<kExchange, kCompare>();
  r.places<kAdd, kFloat>();
  r.places<kAdd, kWide>();
  return 0;
}
