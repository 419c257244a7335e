// A warp's two stores to one line, of some lanes each: does the second join the first, is it a hit, and what is left of the line in L1?
//
// Models:  lines that are in L1 as a whole. Lanes `first` write their words of a line, some cycles later lanes `second` do, and long after that
//          all lanes read theirs. In local memory, where lane l has the line's l-th word, and in global memory laid out likewise. L2's sectors
//          tell which stores joined, hits which were taken for one, reads what had to come back.
// Ignores: other warps; several lines per instruction (store_order).
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 16;

template <int kAdds, bool kLocal>
__global__ void __launch_bounds__(32) two_stores(unsigned* memory, unsigned first, unsigned second, unsigned zero, unsigned* sink) {
  unsigned mine[kLocal ? kRounds : 1];
  const unsigned lane = threadIdx.x, in_first = first >> lane & 1, in_second = second >> lane & 1;
  const auto put = [&](int r, unsigned off, unsigned on, unsigned value) {
    if constexpr (kLocal) {
      const auto p = static_cast<unsigned>(__cvta_generic_to_local(mine + r)) + off;
      asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; @p st.local.u32 [%1], %2;}" ::"r"(on), "r"(p), "r"(value) : "memory");
    } else {
      unsigned* const p = memory + r * 32 + lane + off;
      asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; @p st.global.u32 [%1], %2;}" ::"r"(on), "l"(p), "r"(value) : "memory");
    }
  };
  const auto wait = [&](int cycles, unsigned x) {
    const unsigned t0 = clock();
    while (static_cast<unsigned>(clock()) - t0 < static_cast<unsigned>(cycles)) {
    }
    return x;
  };
  for (int r = 0; r < kRounds; ++r) put(r, zero, 1, lane);
  wait(3000, 0);
  unsigned sum = 0;
#pragma unroll 1
  for (int r = 0; r < kRounds; ++r) {
    put(r, zero, in_first, lane);
    unsigned x = lane & zero;
#pragma unroll
    for (int k = 0; k < kAdds; ++k) asm volatile("mad.lo.u32 %0, %0, %0, %1;" : "+r"(x) : "r"(zero));
    put(r, x, in_second, lane);
    wait(600, 0);
    unsigned v;
    if constexpr (kLocal) {
      asm volatile("ld.local.u32 %0, [%1];" : "=r"(v) : "r"(static_cast<unsigned>(__cvta_generic_to_local(mine + r))) : "memory");
    } else {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(memory + r * 32 + lane) : "memory");
    }
    sum += v;
    wait(600, 0);
  }
  if (sum == 0x12345) *sink = sum;
}

int launches = 0;

std::string lanes(unsigned mask) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", mask);
  return text;
}

template <int kAdds, bool kLocal>
void ask(unsigned first, unsigned second, unsigned* memory, unsigned* sink) {
  two_stores<kAdds, kLocal><<<1, 32>>>(memory, first, second, 0, sink);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  Answer("store_masks", "two stores of some lanes each to a line that is in L1, and a load of it")
      .add_text("memory", kLocal ? "local" : "global").add("adds", kAdds).add_text("first", lanes(first)).add_text("second", lanes(second)).add("launch", launches++).print(0, "none", 0);
}

int main() {
  Buffer<unsigned> memory(kRounds * 32), sink(1);
  const unsigned pairs[][2] = {
      {~0u, ~0u},               // all lanes twice
      {0x0000ffff, 0xffff0000}, // other sectors
      {0x55555555, 0xaaaaaaaa}, // other words of each sector
      {0x55555555, 0x55555555}, // the same words
      {0x55555555, ~0u},        // more words
      {~0u, 0x55555555},        // fewer
      {0x0f0f0f0f, 0x3c3c3c3c}, // some of them and others
      {0x55555555, 0x33333333}, // likewise
      {0x000000ff, 0x000000ff}, // one sector
      {0x00000055, 0x000000aa}, // likewise, other words
      {0x00000055, 0x00000055}, // the same
      {0x00000055, 0x000000ff}, // more
      {0x000000ff, 0x00000055}, // fewer
      {0x0000000f, 0x0000003c}, // some of them and others
      {0xffffff0f, 0xffffff3c}, // one sector some and others, three as a whole
      {0xffffff0f, 0xfffffff0}, // one sector others, three as a whole
      {0x555555ff, 0xaaaaaaff}, // one sector as a whole, three others
      {0x0f0f0fff, 0x3c3c3cff}, // one sector as a whole, three some and others
      {~0u, 0x000000ff},        // one of four sectors again
      {0x000000ff, ~0u},        // and three more
      {~0u, 0}, {0x55555555, 0}, {0x0f0f0f0f, 0}};  // one store
  for (const auto& pair : pairs) {
    ask<1, true>(pair[0], pair[1], memory.get(), sink.get());
    ask<4, true>(pair[0], pair[1], memory.get(), sink.get());
    ask<8, true>(pair[0], pair[1], memory.get(), sink.get());
    ask<20, true>(pair[0], pair[1], memory.get(), sink.get());
    ask<1, false>(pair[0], pair[1], memory.get(), sink.get());
    ask<4, false>(pair[0], pair[1], memory.get(), sink.get());
    ask<8, false>(pair[0], pair[1], memory.get(), sink.get());
    ask<20, false>(pair[0], pair[1], memory.get(), sink.get());
  }
  return 0;
}
