// What leaves an SM when warps write records field by field?
//
// Models:  thread t writes some words of record t, one store a field; records follow each other. `fields` of `words` words are written,
//          in order or backwards, with so many dependent additions between two stores, or with a load before each (a structure of arrays
//          becomes an array of structures), or after one load of each field of the record itself (an update in place). One warp, a block,
//          all SMs. Counters tell what comes to L2.
// Ignores: reads beside them.
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

enum Between : int { kNothing, kBackwards, kWork8, kWork32, kWork64, kLoadEach, kUpdate };

template <int kFields, int kWords, int kBetween>
__global__ void __launch_bounds__(256) write(unsigned* records, const unsigned* in, int count, int rounds) {
  unsigned x = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const int t = (r * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x)) * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
    unsigned* const p = records + static_cast<std::size_t>(t) * kWords;
    unsigned old[kFields];
    if (kBetween == kUpdate) {
#pragma unroll
      for (int f = 0; f < kFields; ++f) asm volatile("ld.global.u32 %0, [%1];" : "=r"(old[f]) : "l"(p + f) : "memory");
    }
#pragma unroll
    for (int f = 0; f < kFields; ++f) {
      unsigned v = x + static_cast<unsigned>(f);
      if (kBetween == kUpdate) v += old[f];
      if (kBetween == kLoadEach) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(in + static_cast<std::size_t>(f) * static_cast<unsigned>(count) + static_cast<unsigned>(t)) : "memory");
      constexpr int kAdds = kBetween == kWork8 ? 8 : kBetween == kWork32 ? 32 : kBetween == kWork64 ? 64 : 0;
#pragma unroll
      for (int k = 0; k < kAdds; ++k) asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(v));
      const int at = kBetween == kBackwards ? kFields - 1 - f : f;
      asm volatile("st.global.u32 [%0], %1;" ::"l"(p + at), "r"(kAdds ? x : v) : "memory");
    }
  }
}

struct Runner {
  Buffer<unsigned> records{std::size_t{64} << 20}, in{std::size_t{64} << 20};
  int launch = 0;
  template <int kFields, int kWords, int kBetween>
  void run(unsigned blocks, unsigned threads, int offset = 0) {
    const int rounds = 8, count = static_cast<int>(blocks * threads) * rounds;
    write<kFields, kWords, kBetween><<<blocks, threads>>>(records.get() + offset, in.get(), count, rounds);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    static const char* const names[] = {"nothing", "nothing, backwards", "8 additions", "32 additions", "64 additions", "a load each", "loads of all before"};
    Answer("record_stores", "records written field by field: what comes to L2")
        .add("launch", launch++)
        .add("fields", kFields)
        .add("words", kWords)
        .add_text("between", names[kBetween])
        .add("blocks", blocks)
        .add("threads", threads)
        .add("offset_words", offset)
        .print(count, "record", 0);
  }
  template <int kFields, int kWords>
  void grids() {
    run<kFields, kWords, kNothing>(1, 32);
    run<kFields, kWords, kNothing>(1, 128);
    run<kFields, kWords, kNothing>(1, 256);
    run<kFields, kWords, kNothing>(528, 256);
  }
  template <int kFields, int kWords>
  void between() {
    for (unsigned blocks : {1u, 528u}) {
      const unsigned threads = blocks == 1 ? 32 : 256;
      run<kFields, kWords, kBackwards>(blocks, threads);
      run<kFields, kWords, kWork8>(blocks, threads);
      run<kFields, kWords, kWork32>(blocks, threads);
      run<kFields, kWords, kWork64>(blocks, threads);
      run<kFields, kWords, kLoadEach>(blocks, threads);
      run<kFields, kWords, kUpdate>(blocks, threads);
      run<kFields, kWords, kNothing>(blocks, threads, 2);
    }
  }
};

int main() {
  Runner r;
  r.grids<1, 1>();
  r.grids<2, 2>();
  r.grids<3, 3>();
  r.grids<4, 4>();
  r.grids<5, 5>();
  r.grids<6, 6>();
  r.grids<7, 7>();
  r.grids<8, 8>();
  r.grids<3, 4>();
  r.grids<2, 3>();
  r.grids<2, 4>();
  r.grids<3, 8>();
  r.grids<5, 8>();
  r.grids<2, 16>();
  r.grids<12, 12>();
  r.grids<16, 16>();
  r.between<3, 3>();
  r.between<4, 4>();
  r.between<5, 5>();
  r.between<8, 8>();
  return 0;
}
