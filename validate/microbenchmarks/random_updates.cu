// What does a store cost that follows a load of the same random word?
//
// Models:  each thread changes random words of a table, one after the other, and waits for each: loads alone, stores alone, both at one
//          word, at two words of a sector, of a line, of the table, or of two tables, by exchanges and by compare-and-swap; tables in L2
//          and beyond.
// Ignores: words that two threads change at once (they are few).
// Source:  counters of ncu: cycles, loaded sectors and hits of l1tex, sectors of L2, states of warps.
#include "bench.cuh"

using namespace bench;

enum Kind : int { kLoad, kStore, kWord, kSector, kLine, kOther, kReduce, kExchange, kSwap, kApart };
const char* const kNames[] = {"loads",      "stores",        "load, store there", "load, store to its sector", "load, store to its line", "load, store elsewhere",
                              "reductions", "load, exchange", "load, compare-and-swap", "load, store to another table"};

template <int kKind>
__global__ void __launch_bounds__(1024) update(unsigned long long* table, unsigned long long* other, unsigned long long mask, int rounds, unsigned long long* sink) {
  unsigned long long x = (blockIdx.x * blockDim.x + threadIdx.x + 1) * 0x9E3779B97F4A7C15ull, sum = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    unsigned long long* const p = table + (x & mask);
    unsigned long long v = x, w = 0;
    if (kKind != kStore && kKind != kReduce) asm volatile("ld.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    unsigned long long* q = p;
    if (kKind == kSector) q = table + ((x ^ 1) & mask);
    if (kKind == kLine) q = table + ((x ^ 4) & mask);
    if (kKind == kOther) q = table + ((x >> 24) & mask);
    if (kKind == kApart) q = other + ((x >> 24) & mask);
    if (kKind == kStore || (kKind >= kWord && kKind <= kOther) || kKind == kApart) asm volatile("st.global.u64 [%0], %1;" ::"l"(q), "l"(v ^ x) : "memory");
    if (kKind == kReduce) asm volatile("red.global.xor.b64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
    if (kKind == kExchange) asm volatile("atom.global.exch.b64 %0, [%1], %2;" : "=l"(w) : "l"(p), "l"(v ^ x) : "memory");
    if (kKind == kSwap) asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;" : "=l"(w) : "l"(p), "l"(v), "l"(v ^ x) : "memory");
    sum += v ^ w;
  }
  if (sum == 0x12345) *sink = sum;
}

template <int kKind>
void ask(int& launch, unsigned long long* table, std::size_t bytes, int blocks, int threads, unsigned long long* sink) {
  const int rounds = threads == 1024 ? 16 : 64;  // few enough to be predicted in seconds as well
  update<kKind><<<blocks, threads>>>(table, table + (std::size_t{32} << 20), bytes / 8 - 1, rounds, sink);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  Answer("random_updates", "random words of a table that are changed one after the other: cycles, hits, sectors")
      .add("launch", launch++).add_text("kind", kNames[kKind]).add("bytes", static_cast<double>(bytes)).add("blocks", blocks).add("threads", threads).print(rounds, "word per thread", 0);
}

template <int kKind>
void ask_all(int& launch, unsigned long long* table, unsigned long long* sink, int sms) {
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{8} << 20, std::size_t{256} << 20}) {
    ask<kKind>(launch, table, bytes, sms, 32, sink);
    ask<kKind>(launch, table, bytes, sms, 256, sink);
    ask<kKind>(launch, table, bytes, 2 * sms, 1024, sink);
  }
}

int main() {
  Buffer<unsigned long long> table(std::size_t{64} << 20), sink(1);
  table.zero();
  int launch = 0, sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  ask_all<kLoad>(launch, table.get(), sink.get(), sms);
  ask_all<kStore>(launch, table.get(), sink.get(), sms);
  ask_all<kWord>(launch, table.get(), sink.get(), sms);
  ask_all<kSector>(launch, table.get(), sink.get(), sms);
  ask_all<kLine>(launch, table.get(), sink.get(), sms);
  ask_all<kOther>(launch, table.get(), sink.get(), sms);
  ask_all<kReduce>(launch, table.get(), sink.get(), sms);
  ask_all<kExchange>(launch, table.get(), sink.get(), sms);
  ask_all<kSwap>(launch, table.get(), sink.get(), sms);
  ask_all<kApart>(launch, table.get(), sink.get(), sms);
}
