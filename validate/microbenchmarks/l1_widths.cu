// How fast does L1 serve loads and stores by what a lane takes and how far lanes lie apart?
//
// Models:  one block on one SM; each round all warps load, or store, one, two, four, eight or 16 bytes per lane, lanes `stride` bytes apart, of lines
//          that L1 has, eight rounds' lines or two by turns; loads of global memory, also as read-only data and by generic addresses.
// Ignores: what misses; dependences.
// Source:  counters of ncu: SM active cycles and wavefronts of L1's data stage, a line per launch.
#include "bench.cuh"

using namespace bench;

namespace {

enum Kind : int { global_loads, read_only_loads, generic_loads, global_stores };
constexpr int kUnrolled = 8;  // rounds of an iteration

template <int kBytes, int kKind>
__device__ __forceinline__ unsigned access(char* at, unsigned value) {
  uint4 v = {value, 0, 0, 0};
  if constexpr (kKind == global_loads) {
    if constexpr (kBytes == 1) asm volatile("ld.global.u8 %0, [%1];" : "=r"(v.x) : "l"(at) : "memory");
    if constexpr (kBytes == 2) asm volatile("{.reg .u16 h; ld.global.u16 h, [%1]; cvt.u32.u16 %0, h;}" : "=r"(v.x) : "l"(at) : "memory");
    if constexpr (kBytes == 4) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v.x) : "l"(at) : "memory");
    if constexpr (kBytes == 8) asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(at) : "memory");
    if constexpr (kBytes == 16) asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at) : "memory");
  } else if constexpr (kKind == read_only_loads) {
    if constexpr (kBytes == 4) asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v.x) : "l"(at) : "memory");
    if constexpr (kBytes == 16) asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at) : "memory");
  } else if constexpr (kKind == generic_loads) {
    if constexpr (kBytes == 4) asm volatile("ld.u32 %0, [%1];" : "=r"(v.x) : "l"(at) : "memory");
    if constexpr (kBytes == 16) asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at) : "memory");
  } else {
    if constexpr (kBytes == 1) asm volatile("st.global.u8 [%0], %1;" ::"l"(at), "r"(value) : "memory");
    if constexpr (kBytes == 2) asm volatile("st.global.u16 [%0], %1;" ::"l"(at), "h"(static_cast<unsigned short>(value)) : "memory");
    if constexpr (kBytes == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
    if constexpr (kBytes == 8) asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(at), "r"(value) : "memory");
    if constexpr (kBytes == 16) asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(value) : "memory");
    return 0;
  }
  return v.x ^ v.y ^ v.z ^ v.w;
}

/// `kLines`: how many lines apart the rounds' places lie, before they come again. `move`: bytes from an iteration's lines to the next one's: 0, which the compiler does not know.
template <int kBytes, int kKind, int kLines>
__global__ void __launch_bounds__(512) rounds(char* memory, int stride, int iterations, int move, unsigned* sink) {
  char* at = memory + threadIdx.x / 32 * 8192 + threadIdx.x % 32 * stride;
  unsigned sum = 0;
#pragma unroll 1
  for (int iteration = 0; iteration < iterations; ++iteration) {
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) sum ^= access<kBytes, kKind>(at + i % kLines * 128, threadIdx.x);
    at += move;
  }
  if (sum == 123456) *sink = sum;
}

void tell(int& launch, const char* what, int bytes, int lines, int stride, unsigned warps, int iterations) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  Answer("l1_widths", "loads and stores of L1 by width and stride")
      .add("launch", launch++).add_text("what", what).add("bytes", bytes).add("lines", lines).add("stride", stride).add("warps", warps)
      .add("rounds", kUnrolled * iterations).print(kUnrolled * iterations, "rounds", 0);
}

template <int kBytes, int kKind, int kLines = 8>
void ask(int& launch, const char* what, char* memory, unsigned* sink) {
  for (const int stride : {0, 1, 2, 4, 8, 12, 16, 20, 32, 48, 64, 128, 132, 144, 160}) {
    if (stride % (kBytes > 4 ? kBytes : std::min(kBytes, 4)) != 0) continue;
    for (const int iterations : {16, 32}) {
      rounds<kBytes, kKind, kLines><<<1, 32 * 8>>>(memory, stride, iterations, 0, sink);
      tell(launch, what, kBytes, kLines, stride, 8, iterations);
    }
  }
}

}  // namespace

int main() {
  Buffer<char> memory(std::size_t{1} << 18);
  Buffer<unsigned> sink(1);
  memory.zero();
  int launch = 0;
  ask<1, global_loads>(launch, "loads", memory.get(), sink.get());
  ask<2, global_loads>(launch, "loads", memory.get(), sink.get());
  ask<4, global_loads>(launch, "loads", memory.get(), sink.get());
  ask<8, global_loads>(launch, "loads", memory.get(), sink.get());
  ask<16, global_loads>(launch, "loads", memory.get(), sink.get());
  ask<4, read_only_loads>(launch, "read-only loads", memory.get(), sink.get());
  ask<16, read_only_loads>(launch, "read-only loads", memory.get(), sink.get());
  ask<4, generic_loads>(launch, "generic loads", memory.get(), sink.get());
  ask<16, generic_loads>(launch, "generic loads", memory.get(), sink.get());
  ask<1, global_stores>(launch, "stores", memory.get(), sink.get());
  ask<2, global_stores>(launch, "stores", memory.get(), sink.get());
  ask<4, global_stores>(launch, "stores", memory.get(), sink.get());
  ask<8, global_stores>(launch, "stores", memory.get(), sink.get());
  ask<16, global_stores>(launch, "stores", memory.get(), sink.get());
  ask<1, global_stores, 2>(launch, "stores", memory.get(), sink.get());
  ask<4, global_stores, 2>(launch, "stores", memory.get(), sink.get());
  ask<16, global_stores, 2>(launch, "stores", memory.get(), sink.get());
  return 0;
}
