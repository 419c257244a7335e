// Which words of a sector does L1 have after some of them were stored?
//
// Models:  one warp, each lane its own sector: loads a word or not, stores `stored` words from the `first` on, loads word `loaded`; some
//          cycles between the steps or none. Lanes lie `apart` bytes from each other, 32 (eight lines) to 128 (32 lines), or only the
//          first `lanes` of them take part.
// Ignores: other warps.
// Source:  counters of ncu: hits of loads, sectors read from L2.
#include "bench.cuh"

using namespace bench;

constexpr int kPlaces = 4;

__device__ __forceinline__ void pause(int cycles) {
  const unsigned long long until = clock_now() + static_cast<unsigned>(cycles);
  while (clock_now() < until) {
  }
}

__global__ void go(char* base, unsigned apart, unsigned lanes, int before, int first, int stored, int loaded, int wait, int order, unsigned* sink) {
  const unsigned lane = threadIdx.x;
  if (lane >= lanes) return;
  unsigned sum = 0;
  for (int place = 0; place < kPlaces; ++place) {
    char* const p = base + place * 65536 + lane * apart;
    unsigned v = 0;
    if (before >= 0) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p + 4 * before) : "memory");
    sum += v;
    if (order == 0 && sum == 0x12345) *sink = sum;  // waits for it
    if (wait) pause(wait);
    for (int i = 0; i < stored; ++i) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + 4 * ((first + i) % 8)), "r"(sum) : "memory");
    if (wait) pause(wait);
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p + 4 * loaded) : "memory");
    sum += v;
    if (sum == 0x12345) *sink = sum;
    if (wait) pause(wait);
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p + 4 * loaded) : "memory");
    sum += v;
    if (sum == 0x12345) *sink = sum;
  }
}

int main() {
  Buffer<char> memory(std::size_t{8} << 20);
  Buffer<unsigned> sink(1);
  memory.zero();
  int launch = 0;
  const auto ask = [&](unsigned apart, unsigned lanes, int before, int first, int stored, int loaded, int wait, int order = 0) {
    go<<<1, 32>>>(memory.get(), apart, lanes, before, first, stored, loaded, wait, order, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("written_words", "a load before (word, -1: none), stores, two loads of a word: hits and sectors from L2")
        .add("launch", launch++).add("apart", apart).add("lanes", lanes).add("before", before).add("first", first).add("stored", stored)
        .add("loaded", loaded).add("wait", wait).add("at_once", order).print(kPlaces, "place", 0);
  };
  for (unsigned apart : {32u, 128u, 512u}) {
    for (int wait : {0, 3000}) {
      ask(apart, 32, 0, 0, 1, 0, wait);
      ask(apart, 32, 0, 0, 1, 1, wait);
      ask(apart, 32, 0, 0, 1, 7, wait);
      ask(apart, 32, 1, 0, 1, 1, wait);
      ask(apart, 32, 0, 1, 1, 0, wait);
      ask(apart, 32, 0, 0, 2, 2, wait);
      ask(apart, 32, 0, 0, 4, 4, wait);
      ask(apart, 32, 0, 0, 4, 1, wait);
      ask(apart, 32, 0, 0, 7, 7, wait);
      ask(apart, 32, 0, 0, 8, 0, wait);
      ask(apart, 32, -1, 0, 1, 0, wait);
      ask(apart, 32, -1, 0, 1, 1, wait);
      ask(apart, 32, -1, 0, 4, 0, wait);
      ask(apart, 32, -1, 0, 4, 3, wait);
      ask(apart, 32, -1, 0, 8, 0, wait);
      ask(apart, 32, -1, 0, 8, 7, wait);
      ask(apart, 32, 0, 0, 1, 1, wait, 1);
    }
  }
  for (unsigned lanes : {1u, 2u, 4u, 8u, 16u, 17u, 24u}) {
    ask(128, lanes, 0, 0, 1, 1, 0);
    ask(128, lanes, 0, 0, 1, 1, 3000);
    ask(128, lanes, -1, 0, 4, 0, 0);
    ask(128, lanes, 0, 0, 4, 4, 0);
  }
  return 0;
}
