// What limits bulk copies that L2 serves to many SMs at once?
//
// Models:  `warps` warps of a block, each with one lane that keeps two copies of `bytes` under way, go over `kib` KiB: each block from a place
//          of its own or all from the same, blocks over data of their own, or, as in a matrix product, half of the copies from a strip that
//          a row of 12 blocks shares and half from one that a column shares.
// Ignores: tensor maps; stores; DRAM (caches are kept between the launches, the first of each pair brings the data).
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

namespace {

enum Order : int { kFromOwnPlace, kFromSamePlace, kOwnData, kProduct };
constexpr int kWarps = 8, kRoom = 16384, kColumns = 12;

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

struct Walk {
  const char* base;
  unsigned kib, bytes;
  int order, rounds;
};

/// Where the block's copy number `i` begins.
__device__ __forceinline__ const char* place(const Walk& w, unsigned i) {
  const unsigned region = w.kib * 1024, mask = region / w.bytes - 1;
  if (w.order == kProduct) {
    const unsigned strip = i % 2 ? blockIdx.x % kColumns : kColumns + blockIdx.x / kColumns;
    return w.base + std::size_t{strip} * region + std::size_t{i / 2 & mask} * w.bytes;
  }
  if (w.order == kOwnData) return w.base + std::size_t{blockIdx.x} * region + std::size_t{i & mask} * w.bytes;
  const unsigned first = w.order == kFromOwnPlace ? (mask + 1) / gridDim.x * blockIdx.x : 0;
  return w.base + std::size_t{(first + i) & mask} * w.bytes;
}

__global__ void __launch_bounds__(32 * kWarps, 1) copies(Walk w) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ alignas(8) uint64_t bars[kWarps][2];
  if (threadIdx.x % 32) return;
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const uint32_t bar = shared_address(bars[warp]), to = shared_address(memory) + warp * kRoom;
  for (int b = 0; b < 2; ++b) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar + 8 * b) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  const auto copy = [&](int i) {
    const uint32_t at = bar + 8 * (i & 1), into = to + (i & 1) * w.bytes;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(w.bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(into),
                 "l"(place(w, static_cast<unsigned>(i) * warps + warp)), "r"(w.bytes), "r"(at)
                 : "memory");
  };
  copy(0);
#pragma unroll 1
  for (int i = 0; i < w.rounds; ++i) {
    if (i + 1 < w.rounds) copy(i + 1);
    asm volatile("{\n.reg .pred done;\nL%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra L%=;\n}" ::"r"(bar + 8 * (i & 1)),
                 "r"(i >> 1 & 1)
                 : "memory");
  }
}

}  // namespace

int main() {
  Buffer<char> memory(std::size_t{64} << 20);
  memory.zero();
  CHECK(cudaFuncSetAttribute(copies, cudaFuncAttributeMaxDynamicSharedMemorySize, kWarps * kRoom));
  int launch = 0;
  const auto ask = [&](unsigned blocks, unsigned warps, unsigned bytes, unsigned kib, int order) {
    const int rounds = static_cast<int>((std::size_t{512} << 10) / bytes / warps);  // 512 KiB per block
    for (int i = 0; i < 2; ++i) copies<<<blocks, 32 * warps, kWarps * kRoom>>>({memory.get(), kib, bytes, order, rounds});
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    ++launch;
    static const char* const names[] = {"all, from places of their own", "all, from the same place", "data of their own", "strips of a product"};
    Answer("copy_width", "bulk copies that L2 serves: cycles for so many bytes")
        .add("launch", launch++).add_text("order", names[order]).add("blocks", blocks).add("warps", warps).add("bytes", bytes).add("kib", kib)
        .print(static_cast<double>(rounds) * bytes * warps * blocks, "byte", 0);
  };
  for (const unsigned blocks : {1u, 8u, 16u, 33u, 66u, 132u}) ask(blocks, 8, 8192, 128, kOwnData);
  for (const unsigned warps : {1u, 2u, 4u}) ask(132, warps, 8192, 128, kOwnData);
  for (const unsigned bytes : {512u, 1024u, 2048u}) ask(132, 8, bytes, 128, kOwnData);
  for (const unsigned kib : {16u, 64u, 256u}) ask(132, 8, 8192, kib, kOwnData);
  for (const unsigned kib : {256u, 1024u, 4096u, 16384u, 32768u}) {
    ask(132, 8, 8192, kib, kFromOwnPlace);
    ask(132, 8, 8192, kib, kFromSamePlace);
  }
  for (const unsigned warps : {1u, 2u, 4u, 8u}) ask(132, warps, 8192, 256, kProduct);
  for (const unsigned blocks : {24u, 72u}) ask(blocks, 8, 8192, 256, kProduct);
  return 0;
}
