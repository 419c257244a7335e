// What does a load take that follows stores of its own thread to the same word, sector or line?
//
// Models:  each thread reads, changes and writes one element after the other of an array of its own, each step waiting for the one before: in
//          local memory (a word of 32 threads lies in a line) and in global memory laid out likewise, by the element's width. Which element:
//          always the same one; two of a word in turn; two words in turn; 16 that differ by lane and step, as histograms of a thread have
//          them. Or loads alone, and a store alone before each load of another line.
// Ignores: arrays larger than L1.
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

constexpr int kSteps = 512, kBytes = 64;
enum Mode : int { kLoads, kSame, kWord, kTwoWords, kByLane, kApart };

template <typename T, int kMode, bool kLocal>
__global__ void __launch_bounds__(256) walk(unsigned char* memory, int zero, unsigned* sink) {
  volatile unsigned char mine[kLocal ? kBytes : 1];
  constexpr unsigned kPerWord = 4 / sizeof(T), kElements = kBytes / sizeof(T);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const auto place = [&](unsigned element) {
    if constexpr (kLocal) return const_cast<unsigned char*>(mine) + element * sizeof(T);
    return memory + (std::size_t{element / kPerWord} * threads + thread) * 4 + element % kPerWord * sizeof(T);
  };
  const auto get = [&](unsigned element) -> unsigned {
    unsigned char* const p = place(element);
    if constexpr (kLocal) return *reinterpret_cast<volatile T*>(p);
    unsigned v = 0;
    if constexpr (sizeof(T) == 1) asm volatile("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    if constexpr (sizeof(T) == 4) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
  };
  const auto put = [&](unsigned element, unsigned value) {
    unsigned char* const p = place(element);
    if constexpr (kLocal) {
      *reinterpret_cast<volatile T*>(p) = static_cast<T>(value);
    } else {
      if constexpr (sizeof(T) == 1) asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(value) : "memory");
      if constexpr (sizeof(T) == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
    }
  };
  for (unsigned i = 0; i < kElements; ++i) put(i, static_cast<unsigned>(zero));
  unsigned sum = 0, random = thread * 2654435761u + 12345u;
#pragma unroll 1
  for (int s = 0; s < kSteps; ++s) {
    const unsigned still = sum & static_cast<unsigned>(zero);  // 0, and the step before has to be over
    if constexpr (kMode == kLoads) {
      sum += get(still);
    } else if constexpr (kMode == kApart) {
      put((s & 7) * kPerWord + still, sum);
      sum += get(((s & 7) + 8) % (kElements / kPerWord) * kPerWord);
    } else {
      unsigned element = still;
      if constexpr (kMode == kWord) element += s & (kPerWord - 1);
      if constexpr (kMode == kTwoWords) element += (s & 1) * kPerWord;
      if constexpr (kMode == kByLane) {
        random = random * 1664525u + 1013904223u;
        element += (random >> 24) % (16 < kElements ? 16 : kElements);
      }
      const unsigned v = get(element);
      put(element, v + 1);
      sum += v;
    }
  }
  if (sum == 0x12345) *sink = sum;
}

/// Lanes write their words of a sector: the same ones in each step, or halves of it in turn; then they load words of the same sector, of the
/// next one in the line, of the next line, or none do.
__global__ void __launch_bounds__(32) sectors(unsigned char* memory, int away, bool halves, unsigned* sink) {
  const unsigned lane = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int s = 0; s < kSteps; ++s) {
    const bool writes = lane < 8 && (!halves || lane / 4 == s % 2);
    if (writes) asm volatile("st.global.u32 [%0], %1;" ::"l"(memory + lane * 4), "r"(sum) : "memory");
    unsigned v = 0;
    if (lane < 8 && away >= 0) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(memory + away + lane * 4) : "memory");
    sum += v;
  }
  if (sum == 0x12345) *sink = sum;
}

struct Runner {
  Buffer<unsigned char> memory{64 << 20};
  Buffer<unsigned> sink{1};
  int launch = 0;
  template <typename T, int kMode, bool kLocal>
  void point() {
    static const char* const modes[] = {"loads alone", "one element", "elements of a word in turn", "two words in turn", "16 by lane", "a store, then a load of another line"};
    for (const unsigned warps : {1u, 8u}) {
      walk<T, kMode, kLocal><<<1, 32 * warps>>>(memory.get(), 0, sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      Answer("local_words", "elements of a thread's own read, changed and written, each after the one before: steps")
          .add("launch", launch++).add_text("memory", kLocal ? "local" : "global").add("bytes", sizeof(T)).add_text("mode", modes[kMode])
          .add("warps", warps)
          .print(kSteps, "step", 0);
    }
  }
  template <typename T, bool kLocal>
  void points() {
    point<T, kLoads, kLocal>();
    point<T, kSame, kLocal>();
    point<T, kWord, kLocal>();
    point<T, kTwoWords, kLocal>();
    point<T, kByLane, kLocal>();
    point<T, kApart, kLocal>();
  }
};

int main() {
  Runner r;
  r.memory.zero();
  r.points<unsigned char, true>();
  r.points<unsigned short, true>();
  r.points<unsigned, true>();
  r.points<unsigned char, false>();
  r.points<unsigned, false>();
  for (const bool halves : {false, true}) {
    for (const int away : {-1, 0, 32, 128}) {
      sectors<<<1, 32>>>(r.memory.get(), away, halves, r.sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      Answer("local_words", "stores to one sector, each followed by a load so many bytes away (-1: none): steps")
          .add("launch", r.launch++).add_text("memory", "global").add("bytes", 4).add("away", away).add("halves", halves).add("warps", 1)
          .print(kSteps, "step", 0);
    }
  }
  return 0;
}
