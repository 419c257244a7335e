// What do branches cost by which a warp's lanes part, and how many warps can branch at once?
//
// Models:  one block on one SM; each round all warps go through a branch: uniform and taken, an if of two sides, a switch of `ways` cases of
//          which the lanes take all, a loop that lanes leave after one to `ways` turns, one in which groups of lanes leave, a call, a call by
//          pointers of which a warp has `ways`, and a synchronisation, a shuffle and a ballot of the warp or of each half.
// Ignores: code that the instruction caches have not.
// Source:  counters of ncu: SM active cycles, executed instructions and the states of the warps, a line per launch.
#include "bench.cuh"

using namespace bench;

namespace {

enum Kind : int { uniform_jumps, two_sides, cases, turns, tile_turns, calls, calls_by_pointer, warp_syncs, shuffles_of_a_mask, votes };

/// Some instructions that the compiler neither joins nor predicates.
template <int kSalt>
__device__ __forceinline__ unsigned work(unsigned x) {
  asm volatile("xor.b32 %0, %0, %1;\n\tadd.u32 %0, %0, %2;\n\txor.b32 %0, %0, %2;\n\tadd.u32 %0, %0, %1;\n\t"
               "xor.b32 %0, %0, %1;\n\tadd.u32 %0, %0, %2;\n\txor.b32 %0, %0, %2;\n\tadd.u32 %0, %0, %1;"
               : "+r"(x) : "n"(kSalt + 17), "n"(kSalt + 1000));
  return x;
}

/// All lanes, with 2 ways those of the lane's half of the warp.
__device__ __forceinline__ unsigned mask_of(unsigned lane, unsigned ways) {
  return ways == 1 ? ~0u : lane < 16 ? 0xffffu : 0xffff0000u;
}

template <int kSalt>
__device__ __noinline__ unsigned called(unsigned x) {
  return work<kSalt>(x);
}
using Function = unsigned (*)(unsigned);
__device__ Function functions[] = {called<0>, called<1>, called<2>, called<3>};

/// `sub_cores`: of which the warps take part.
template <int kKind>
__global__ void __launch_bounds__(1024) rounds(int count, unsigned ways, unsigned sub_cores, unsigned* sink) {
  if (threadIdx.x / 32 % 4 >= sub_cores) return;
  const unsigned lane = threadIdx.x % 32;
  unsigned x = lane;
#pragma unroll 1
  for (int round = 0; round < count; ++round) {
    const unsigned way = (lane + static_cast<unsigned>(round)) % ways;
    if constexpr (kKind == uniform_jumps) {
      if (ways & 1) x = work<0>(x);
      if (ways & 2) x = work<1>(x);
      if (ways & 4) x = work<2>(x);
      if (ways & 8) x = work<3>(x);
    } else if constexpr (kKind == two_sides) {
      if (way != 0) x = work<0>(x);
      else x = work<1>(x);
    } else if constexpr (kKind == cases) {
      switch (way) {
        case 0: x = work<0>(x); break;
        case 1: x = work<1>(x); break;
        case 2: x = work<2>(x); break;
        case 3: x = work<3>(x); break;
        case 4: x = work<4>(x); break;
        case 5: x = work<5>(x); break;
        case 6: x = work<6>(x); break;
        case 7: x = work<7>(x); break;
        case 8: x = work<8>(x); break;
        case 9: x = work<9>(x); break;
        case 10: x = work<10>(x); break;
        case 11: x = work<11>(x); break;
        case 12: x = work<12>(x); break;
        case 13: x = work<13>(x); break;
        case 14: x = work<14>(x); break;
        default: x = work<15>(x); break;
      }
    } else if constexpr (kKind == warp_syncs) {
      __syncwarp(mask_of(lane, ways));
      x = work<0>(x);
    } else if constexpr (kKind == shuffles_of_a_mask) {
      x = work<0>(__shfl_xor_sync(mask_of(lane, ways), x, 1));
    } else if constexpr (kKind == votes) {
      x = work<0>(x + __ballot_sync(mask_of(lane, ways), x & 1));
    } else if constexpr (kKind == calls) {
      x = called<0>(x);
    } else if constexpr (kKind == calls_by_pointer) {
      x = functions[way % 4](x);
    } else {
      const unsigned own = kKind == turns ? way : (lane / 8 + static_cast<unsigned>(round)) % ways;
#pragma unroll 1
      for (unsigned turn = 0; turn <= own; ++turn) x = work<0>(x);
    }
  }
  if (x == 123456) *sink = x;
}

template <int kKind>
void ask(int& launch, const char* what, std::initializer_list<unsigned> all_ways, unsigned* sink, unsigned sub_cores = 4) {
  for (const unsigned ways : all_ways) {
    for (const unsigned warps : {1u, 4u, 8u, 16u, 32u}) {
      for (const int count : {64, 128}) {
        rounds<kKind><<<1, 32 * warps>>>(count, ways, sub_cores, sink);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        Answer("divergent", "branches by which lanes part")
            .add("launch", launch++).add_text("what", what).add("ways", ways).add("warps", warps).add("sub_cores", sub_cores).add("rounds", count)
            .print(count, "rounds", 0);
      }
    }
  }
}

}  // namespace

int main() {
  Buffer<unsigned> sink(1);
  int launch = 0;
  ask<uniform_jumps>(launch, "uniform jumps over work", {15u, 0u}, sink.get());
  ask<two_sides>(launch, "two sides", {1u, 2u}, sink.get());
  ask<cases>(launch, "a switch of 16", {1u, 2u, 4u, 16u}, sink.get());
  ask<turns>(launch, "a loop that lanes leave", {1u, 2u, 8u}, sink.get());
  ask<tile_turns>(launch, "a loop that groups of eight lanes leave", {2u, 4u}, sink.get());
  ask<cases>(launch, "a switch of 16", {1u, 4u, 16u}, sink.get(), 1);
  ask<calls>(launch, "a call", {1u}, sink.get());
  ask<calls_by_pointer>(launch, "a call by a pointer", {1u, 2u, 4u}, sink.get());
  ask<warp_syncs>(launch, "a warp's synchronisation, by a mask with 2 ways", {1u, 2u}, sink.get());
  ask<shuffles_of_a_mask>(launch, "a shuffle, by a mask with 2 ways", {1u, 2u}, sink.get());
  ask<votes>(launch, "a ballot, by a mask with 2 ways", {1u, 2u}, sink.get());
  return 0;
}
