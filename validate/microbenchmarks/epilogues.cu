// When do blocks end whose warps store a tile of a product at their end?
//
// Models:  a block's warps multiply for a while and then store their sums as a product's epilogue does: fragments of 8 rows by 32 or 16 bytes (a
//          warp's lanes hold two or one words of a row's sector), rows of 128 bytes one word per lane, or 512 bytes in a row.
// Ignores: what a product loads. L2 takes what is stored: DRAM sees no more than it does of a product's result.
// Source:  counters of ncu: SM active cycles, which end with the SM's last block, and elapsed cycles.
#include "bench.cuh"

using namespace bench;

enum Way : int { kFragments32, kFragments16, kLines, kWide };
const char* const kWays[] = {"8 rows by 32 bytes", "8 rows by 16 bytes", "lines, 4 bytes per lane", "512 bytes in a row"};

/// `pitch`: bytes of a row of the result. The block's tile is 16 rows per warp; each warp stores `count` times.
template <int kWay>
__global__ void __launch_bounds__(256) tile(char* result, unsigned pitch, unsigned count, unsigned steps, float seed) {
  float a = seed + static_cast<float>(threadIdx.x), b = a;
  for (unsigned i = 0; i < steps; ++i) a = a * seed + b;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  char* const mine = result + std::size_t{blockIdx.x} * 16 * (blockDim.x / 32) * pitch + std::size_t{warp} * 16 * pitch;
#pragma unroll 4
  for (unsigned n = 0; n < count; ++n) {
    if constexpr (kWay == kFragments32) {
      *reinterpret_cast<float2*>(mine + (n % 2 * 8 + lane / 4) * pitch + n / 2 * 32 + lane % 4 * 8) = {a, b};
    } else if constexpr (kWay == kFragments16) {
      *reinterpret_cast<float*>(mine + (n % 2 * 8 + lane / 4) * pitch + n / 2 * 16 + lane % 4 * 4) = a;
    } else if constexpr (kWay == kLines) {
      *reinterpret_cast<float*>(mine + n % 16 * pitch + n / 16 * 128 + lane * 4) = a;
    } else {
      *reinterpret_cast<float4*>(mine + n % 16 * pitch + n / 16 * 512 + lane * 16) = {a, b, a, b};
    }
  }
}

int main() {
  const int shared = 200 * 1024;  // one block per SM
  const unsigned pitch = 8192;
  Buffer<char> result(std::size_t{528} * 16 * 8 * pitch);
  result.zero();
  int launch = 0;
  const auto ask = [&](auto kernel, int way, unsigned blocks, unsigned warps, unsigned count) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    kernel<<<blocks, 32 * warps, shared>>>(result.get(), pitch, count, 500, 0.5f);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("epilogues", "blocks that store a tile at their end")
        .add("launch", launch++).add_text("way", kWays[way]).add("blocks", blocks).add("warps", warps)
        .print(count, "stores per warp", 0);
  };
  for (const unsigned blocks : {1u, 132u, 264u, 528u}) {
    for (const unsigned warps : {4u, 8u}) {
      for (const unsigned count : {4u, 16u, 64u, 128u}) {
        if ((blocks == 1 || blocks == 528) && (warps == 4 || count == 4)) continue;
        ask(tile<kFragments32>, kFragments32, blocks, warps, count);
        ask(tile<kFragments16>, kFragments16, blocks, warps, count);
        ask(tile<kLines>, kLines, blocks, warps, count);
        ask(tile<kWide>, kWide, blocks, warps, count);
      }
    }
  }
  return 0;
}
