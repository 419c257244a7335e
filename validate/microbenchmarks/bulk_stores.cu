// How long do blocks wait for what they store when all of a launch is more than L2 holds?
//
// Models:  many blocks of one warp, some on each SM at a time; each stores a tile of 128 rows of 256 bytes to global memory, by two bulk tensor
//          stores that it waits for, or by its lanes, or by its lanes and a fence of the device; the tiles' rows lie side by side (four
//          tiles make rows of 1 KiB) or each tile is one piece; before it may come a copy of 16 KiB that nobody has read, or that comes alone.
// Ignores: tiles that others write again.
// Source:  counters of ncu, a line per launch, caches flushed.
#include "tensor_map.cuh"

using namespace bench;

namespace {

constexpr int kRows = 128, kHalf = 16384, kRead = 16384;

enum Way { kBulk, kLanes, kLanesFenced, kNothing };

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

template <int kWay, bool kReads>
__global__ void tiles(const __grid_constant__ CUtensorMap map, char* out, const char* in, int across) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ alignas(8) uint64_t barrier;
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u, bar = shared_address(&barrier);
  const int column = blockIdx.x % across, row = blockIdx.x / across * kRows;
  if constexpr (kReads) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(bar) : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(kRead) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(base),
                   "l"(in + static_cast<long>(blockIdx.x) * kRead), "r"(kRead), "r"(bar)
                   : "memory");
      asm volatile("{\n.reg .pred done;\nL%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@!done bra L%=;\n}" ::"r"(bar) : "memory");
    }
    __syncwarp();
  }
  if constexpr (kWay == kBulk) {
    if (threadIdx.x == 0) {
      for (int half = 0; half < 2; ++half) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                     "r"(column * 128 + half * 64), "r"(row), "r"(base + half * kHalf)
                     : "memory");
      }
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
  } else if constexpr (kWay != kNothing) {
    for (int i = threadIdx.x; i < kRows * 16; i += 32) {
      char* const to = out + (static_cast<long>(row + i / 16) * across + column) * 256 + i % 16 * 16;
      asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(to), "r"(i) : "memory");
    }
    if constexpr (kWay == kLanesFenced) asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }
}

/// Rows of `columns` elements, boxes of 64 by kRows.
CUtensorMap map_of(void* data, cuuint64_t columns, cuuint64_t rows) {
  return bench::map_of_matrix(data, columns, rows, columns * 2, 64, kRows, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
}

template <int kWay, bool kReads>
void ask(int& launch, char* out, const char* in, int across) {
  for (const int count : {132, 528, 2112, 4752}) {
    for (const int an_sm : {1, 2, 4}) {
      const int shared = an_sm == 1 ? 200 * 1024 : an_sm == 2 ? 100 * 1024 : 50 * 1024;
      const CUtensorMap map = map_of(out, across * 128, static_cast<cuuint64_t>(count / across) * kRows);
      CHECK(cudaFuncSetAttribute(tiles<kWay, kReads>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
      tiles<kWay, kReads><<<count, 32, shared>>>(map, out, in, across);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      Answer("bulk_stores", "tiles that blocks store and wait for")
          .add("launch", launch++).add("way", kWay).add("reads", kReads).add("across", across).add("blocks_an_sm", an_sm)
          .print(count, "blocks", 0);
    }
  }
}

}  // namespace

int main() {
  Buffer<char> out(4752l * 32768), in(4752l * kRead);
  int launch = 0;
  for (const int across : {4, 1}) {
    ask<kBulk, false>(launch, out.get(), in.get(), across);
    ask<kBulk, true>(launch, out.get(), in.get(), across);
    ask<kLanes, false>(launch, out.get(), in.get(), across);
    ask<kLanesFenced, false>(launch, out.get(), in.get(), across);
    ask<kNothing, true>(launch, out.get(), in.get(), across);
  }
  return 0;
}
