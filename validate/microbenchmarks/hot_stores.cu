// How long do stores of many SMs to the same few sectors hold L2 up? A flag that every block sets is stored thousands of times.
//
// Models:  a warp of each SM stores again and again, one store after each `steps` dependent products, so that stores of one SM to a
//          line are too far apart to leave it together, to one of `places` that lie `apart` bytes from each other: one lane a word, eight
//          lanes a whole sector, 32 a line; `fresh`: another value each time. Then reductions and atomics with an answer meet on one word:
//          every `share`th warp instruction has an answer, in all SMs, or all instructions of every `share`th SM have.
// Ignores: what stores of one SM to a line do to each other (record_stores).
// Source:  counters of ncu, cycles.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 192;

__global__ void store(unsigned* base, unsigned places, unsigned apart, unsigned lanes, unsigned steps, unsigned fresh, unsigned* sink) {
  if (threadIdx.x >= lanes) return;
  unsigned* const p = base + blockIdx.x % places * (apart / 4) + threadIdx.x;
  unsigned chain = fresh;
  for (int r = 0; r < kRounds; ++r) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(fresh * (r + 1)) : "memory");
    for (unsigned i = 0; i < steps; ++i) asm volatile("mad.lo.u32 %0, %0, %0, %1;" : "+r"(chain) : "r"(i));
  }
  if (chain == 0x7fffffff) *sink = chain;
}

template <bool kBySm>
__global__ void meet(unsigned* word, unsigned share, unsigned rounds, unsigned* sink) {
  unsigned sum = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    const unsigned turn = kBySm ? blockIdx.x : r + threadIdx.x / 32 + blockIdx.x;
    if (share != 0 && turn % share == 0) {
      unsigned v;
      asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(word), "r"(1) : "memory");
      sum += v;
    } else {
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(word), "r"(1) : "memory");
    }
  }
  if (sum == 0x7fffffff) *sink = sum;
}

int main() {
  const int sms = device().multiProcessorCount;
  Buffer<unsigned> memory((std::size_t{64} << 20) / 4), sink(1);
  memory.zero();
  int launch = 0;
  const auto stores = [&](unsigned places, unsigned apart, unsigned lanes, unsigned steps, unsigned fresh) {
    store<<<static_cast<unsigned>(sms), 32>>>(memory.get(), places, apart, lanes, steps, fresh, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("hot_stores", "stores of all SMs to few places: cycles, sectors")
        .add("launch", launch++).add("places", places).add("apart", apart).add("lanes", lanes).add("steps", steps).add("fresh", fresh)
        .print(kRounds, "store a warp", 0);
  };
  for (const unsigned steps : {14u, 18u, 25u, 40u, 80u}) stores(1, 128, 1, steps, 1);
  stores(1, 128, 1, 18, 0);
  for (const unsigned lanes : {8u, 32u}) stores(1, 128, lanes, 18, 1);
  for (const unsigned places : {2u, 4u, 8u}) stores(places, 4, 1, 18, 1);     // words of a sector
  for (const unsigned places : {2u, 4u}) stores(places, 32, 1, 18, 1);        // sectors of a line
  for (const unsigned places : {2u, 4u, 16u, 64u}) stores(places, 128, 1, 18, 1);  // lines
  const auto meets = [&](bool by_sm, unsigned share) {
    const unsigned rounds = 8;
    if (by_sm) {
      meet<true><<<static_cast<unsigned>(sms), 128>>>(memory.get(), share, rounds, sink.get());
    } else {
      meet<false><<<static_cast<unsigned>(sms), 128>>>(memory.get(), share, rounds, sink.get());
    }
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("hot_stores", "reductions and atomics with an answer on one word: cycles")
        .add("launch", launch++).add("by_sm", by_sm).add("share", share).print(rounds, "instruction a warp", 0);
  };
  for (const bool by_sm : {false, true})
    for (const unsigned share : {0u, 1u, 2u, 3u, 4u, 8u, 16u}) meets(by_sm, share);
  return 0;
}
