// What do bulk tensor copies ask of L2 whose boxes' rows begin anywhere in a line?
//
// Models:  one thread of a block copies boxes of 64 rows, two under way, each row of `row` bytes beginning `phase` bytes behind a line's start: a
//          strip of its own, or strips that blocks share as those of a product do (12 columns of blocks).
// Ignores: DRAM (a launch before brings the data); what is done with the copies.
// Source:  counters of ncu.
#include "tensor_map.cuh"

using namespace bench;

namespace {

constexpr int kRows = 64, kPitch = 8192, kColumns = 12, kBoxes = 48;

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

/// `first`, `step`: bytes of a row before the first box, and from box to box.
__global__ void copies(const __grid_constant__ CUtensorMap map, int row_bytes, int first, int step, int shares) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ alignas(8) uint64_t bars[2];
  if (threadIdx.x) return;
  const uint32_t bar = shared_address(bars), to = (shared_address(memory) + 1023) & ~1023u;
  for (int b = 0; b < 2; ++b) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar + 8 * b) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  const auto copy = [&](int i) {
    const uint32_t at = bar + 8 * (i & 1), into = to + (i & 1) * kRows * 128;
    const int strip = !shares ? static_cast<int>(blockIdx.x) : i % 2 ? static_cast<int>(blockIdx.x) % kColumns : kColumns + static_cast<int>(blockIdx.x) / kColumns;
    const int column = (first + (shares ? i / 2 : i) * step) / 2;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(kRows * row_bytes) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(into), "l"(&map), "r"(at),
                 "r"(column), "r"(strip * kRows)
                 : "memory");
  };
  copy(0);
#pragma unroll 1
  for (int i = 0; i < kBoxes; ++i) {
    if (i + 1 < kBoxes) copy(i + 1);
    asm volatile("{\n.reg .pred done;\nL%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra L%=;\n}" ::"r"(bar + 8 * (i & 1)),
                 "r"(i >> 1 & 1)
                 : "memory");
  }
}

CUtensorMap map_of(char* base, int rows, int row_bytes, bool swizzled) {
  return bench::map_of_matrix(base, kPitch / 2, rows, kPitch, row_bytes / 2, kRows, swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                              CU_TENSOR_MAP_DATA_TYPE_UINT16);
}

}  // namespace

int main() {
  const int rows = 132 * kRows, shared = 3 * kRows * 128;
  Buffer<char> memory(std::size_t{static_cast<unsigned>(rows)} * kPitch);
  memory.zero();
  CHECK(cudaFuncSetAttribute(copies, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  int launch = 0;
  const auto ask = [&](unsigned blocks, int row, int phase, int step, bool swizzled, bool shares) {
    const CUtensorMap map = map_of(memory.get(), rows, row, swizzled);
    for (int i = 0; i < 2; ++i) copies<<<blocks, 32, shared>>>(map, row, phase, step, shares);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    ++launch;
    Answer("box_rows", "tensor copies of boxes whose rows begin anywhere")
        .add("launch", launch++).add("blocks", blocks).add("row", row).add("phase", phase).add("step", step).add("swizzled", swizzled).add("shares", shares)
        .print(kBoxes * kRows, "rows per block", 0);
  };
  for (const int phase : {0, 16, 32, 48, 64, 80, 96, 112}) ask(1, 128, phase, 128, true, false);
  for (const int phase : {0, 16, 32, 64, 96}) ask(1, 128, phase, 128, false, false);
  for (const int row : {32, 64})
    for (const int phase : {0, 16, 32, 48, 64, 112}) ask(1, row, phase, 128, false, false);
  for (const int phase : {0, 16, 64}) ask(132, 128, phase, 128, true, false);
  for (const int phase : {0, 16, 64}) ask(132, 128, phase, 128, true, true);
  return 0;
}
