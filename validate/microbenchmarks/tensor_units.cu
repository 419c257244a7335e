// What do the units of tensor programs take alone? What `foretrace calibrate` makes its numbers of wgmma, copy engine and clusters of (sm_90a).
//
// wgmma_round: one or two warpgroups go round a loop of a fence, `products` products on one accumulator, a commit and a wait for all of
// them: cycles per round. A line through `products` has a product's interval as its slope, and as its start what fence and wait add.
//
// tensor_copy_rows: cycles from the issue of a copy of `rows` rows of 16 bytes that L2 holds until its mbarrier is seen.
//
// tensor_copy_rate: bytes per cycle of copies of 16 KB that L2 holds, row behind row in memory, `depth` of them under way.
//
// tensor_store: cycles of the issue of a bulk tensor store and its commit, and of both and the wait until its source has been read.
//
// remote_chain: cycles per load of a chain of loads from the next block's shared memory.
#include <cuda_fp16.h>

#include "tensor_map.cuh"
#include "wgmma_forms.cuh"

namespace {

using bench::Buffer;
constexpr int kShared = 200 * 1024, kRounds = 64, kTile = 16384;

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void init(uint32_t bar) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(bar)
               : "memory");
}
__device__ __forceinline__ void expect(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\nL%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra "
      "L%=;\n}" ::"r"(bar),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void copy(uint32_t to, const CUtensorMap* map, uint32_t bar, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
      "[%2];" ::"r"(to),
      "l"(map), "r"(bar), "r"(0), "r"(row)
      : "memory");
}

template <int kN, bool kRegisters, int kProducts>
__global__ void __launch_bounds__(256, 1) rounds(int count, unsigned long long* out, float* sink) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u;
  for (int i = threadIdx.x; i < 16384; i += blockDim.x)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 4 * i), "r"(0) : "memory");
  __syncthreads();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  float d[kN / 2];
  uint32_t a[4] = {0, 0, 0, 0};
  for (float& x : d) x = 0;
  const uint64_t da = wgmma_descriptor(base + threadIdx.x / 128 * 8192), db = wgmma_descriptor(base + 32768);
  unsigned long long start = 0;
  for (int repeat = 0; repeat < 2; ++repeat) {  // the first brings the code
    start = bench::clock_now();
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < kProducts; ++k) product<kN, kRegisters>(d, a, da + k % 4 * 2, db + k % 4 * 2);
      asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
  }
  const unsigned long long stopped = bench::clock_now();
  if (threadIdx.x == 0) out[0] = stopped - start;
  float sum = 0;
  for (const float x : d) sum += x;
  if (sum == 123) sink[threadIdx.x] = sum;
}

template <int kN, bool kRegisters, int kProducts>
void ask_products(Buffer<unsigned long long>& out) {
  const auto kernel = rounds<kN, kRegisters, kProducts>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  for (const int groups : {1, 2}) {
    std::vector<double> each;
    for (int repeat = 0; repeat < 5; ++repeat) {
      kernel<<<1, 128 * groups, kShared>>>(kRounds, out.get(), reinterpret_cast<float*>(out.get() + 16));
      CHECK(cudaDeviceSynchronize());
      each.push_back(static_cast<double>(out.download(1)[0]) / kRounds);
    }
    bench::Answer("wgmma_round", "cycles of a round of fence, products, commit and wait")
        .add("n", kN)
        .add_text("a", kRegisters ? "registers" : "shared")
        .add("products", kProducts)
        .add("warpgroups", groups)
        .print(bench::summarize(each), "cycle");
  }
}

template <int kN, bool kRegisters>
void ask_rounds(Buffer<unsigned long long>& out) {
  ask_products<kN, kRegisters, 1>(out);
  ask_products<kN, kRegisters, 4>(out);
  ask_products<kN, kRegisters, 8>(out);
}

/// Copies of `bytes` one after another: the first two bring code, map and data.
__global__ void one_copy(const __grid_constant__ CUtensorMap map, int bytes, unsigned long long* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ alignas(8) uint64_t full;
  if (threadIdx.x != 0) return;
  const uint32_t bar = shared_address(&full), to = (shared_address(memory) + 1023) & ~1023u;
  init(bar);
  for (int i = 0; i < 10; ++i) {
    const unsigned long long start = bench::clock_now();
    expect(bar, bytes);
    copy(to, &map, bar, 0);
    wait(bar, i & 1);
    out[i] = bench::clock_now() - start;
  }
}

template <int kDepth>
__global__ void many_copies(const __grid_constant__ CUtensorMap map, int tiles, int rows_in_all,
                            unsigned long long* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ alignas(8) uint64_t full[kDepth];
  if (threadIdx.x != 0) return;
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u;
  for (int i = 0; i < kDepth; ++i) init(shared_address(&full[i]));
  const int mask = rows_in_all / 128 - 1;  // tiles of the matrix less one
  for (int s = 0; s < kDepth; ++s) {
    expect(shared_address(&full[s]), kTile);
    copy(base + s * kTile, &map, shared_address(&full[s]), (s & mask) * 128);
  }
  unsigned long long start = 0;
  for (int s = 0, turn = 0; s < tiles; ++turn) {
#pragma unroll
    for (int place = 0; place < kDepth; ++place, ++s) {
      const uint32_t bar = shared_address(&full[place]);
      wait(bar, turn & 1);
      if (s == 2 * kDepth) start = bench::clock_now();
      expect(bar, kTile);
      copy(base + place * kTile, &map, bar, (s + kDepth & mask) * 128);
    }
  }
  out[0] = bench::clock_now() - start;
  for (int place = 0; place < kDepth; ++place) wait(shared_address(&full[place]), tiles / kDepth & 1);
}

/// out: cycles of issue and commit, and of both with the wait.
__global__ void one_store(const __grid_constant__ CUtensorMap map, unsigned long long* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  if (threadIdx.x != 0) return;
  const uint32_t from = (shared_address(memory) + 1023) & ~1023u;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  for (int i = 0; i < 10; ++i) {
    const unsigned long long start = bench::clock_now();
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], "
        "[%3];\ncp.async.bulk.commit_group;" ::"l"(&map),
        "r"(0), "r"(0), "r"(from)
        : "memory");
    const unsigned long long issued = bench::clock_now();
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    out[2 * i] = issued - start, out[2 * i + 1] = bench::clock_now() - start;
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

__global__ void remote_chain(int count, unsigned long long* out) {
  __shared__ uint32_t word[2];
  uint32_t mine = shared_address(&word[0]), rank, size, at;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(mine), "r"((rank + 1) % size));
  // Each block's word is its own address as the block before it writes it: each load gives the address of the next.
  if (threadIdx.x == 0) asm volatile("st.shared::cluster.u32 [%0], %0;" ::"r"(at) : "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0 && rank == 0) {
    unsigned long long start = 0;
    for (int repeat = 0; repeat < 2; ++repeat) {
      start = bench::clock_now();
#pragma unroll 8
      for (int i = 0; i < count; ++i) asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at)::"memory");
    }
    out[0] = bench::clock_now() - start;
    if (at == 1) out[1] = at;
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

/// A matrix of rows of 128 bytes; boxes of `bytes` of `rows` of them.
CUtensorMap map_of(void* data, int all_rows, int bytes, int rows) {
  return bench::map_of_matrix(data, 64, all_rows, 128, bytes / 2, rows, bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE);
}

constexpr int kRows = 8192;  // 1 MB

std::vector<double> odd_of(const std::vector<unsigned long long>& all, std::size_t first, std::size_t step) {
  std::vector<double> chosen;
  for (std::size_t i = first; i < all.size(); i += step) chosen.push_back(static_cast<double>(all[i]));
  return chosen;
}

void ask_copies(Buffer<unsigned char>& matrix, Buffer<unsigned long long>& out) {
  CHECK(cudaFuncSetAttribute(one_copy, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  for (const int rows : {1, 32, 64, 128, 256}) {
    one_copy<<<1, 32, kShared>>>(map_of(matrix.get(), kRows, 16, rows), 16 * rows, out.get());
    CHECK(cudaDeviceSynchronize());
    bench::Answer(
        "tensor_copy_rows",
        "cycles from the issue of a copy of rows of 16 bytes that L2 holds until its mbarrier is seen")
        .add("rows", rows)
        .print(bench::summarize(odd_of(out.download(10), 2, 1)), "cycle");
  }
}

template <int kDepth>
void ask_rate(Buffer<unsigned char>& matrix, Buffer<unsigned long long>& out) {
  constexpr int kTiles = 256;
  CHECK(cudaFuncSetAttribute(many_copies<kDepth>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  std::vector<double> each;
  for (int repeat = 0; repeat < 6; ++repeat) {
    many_copies<kDepth><<<1, 32, kShared>>>(map_of(matrix.get(), kRows, 128, 128), kTiles, kRows, out.get());
    CHECK(cudaDeviceSynchronize());
    if (repeat)
      each.push_back((kTiles - 1 - 2 * kDepth) * double{kTile} / static_cast<double>(out.download(1)[0]));
  }
  bench::Answer("tensor_copy_rate", "bytes per cycle of copies of 16 KB that L2 holds")
      .add("depth", kDepth)
      .print(bench::summarize(each), "B/cycle");
}

void ask_stores(Buffer<unsigned char>& matrix, Buffer<unsigned long long>& out) {
  CHECK(cudaFuncSetAttribute(one_store, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  for (const int rows : {8, 16, 32, 64, 128}) {
    one_store<<<1, 32, kShared>>>(map_of(matrix.get(), kRows, 128, rows), out.get());
    CHECK(cudaDeviceSynchronize());
    const auto all = out.download(20);
    bench::Answer("tensor_store",
                  "cycles of a bulk tensor store, its commit and the wait until its source has been read")
        .add("bytes", 128 * rows)
        .add("issue", bench::summarize(odd_of(all, 4, 2)).median)
        .print(bench::summarize(odd_of(all, 5, 2)), "cycle");
  }
}

void ask_chain(Buffer<unsigned long long>& out) {
  constexpr int kLoads = 512;
  for (const unsigned size : {2u, 4u, 8u}) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {size, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(size), config.blockDim = dim3(32), config.attrs = &attribute, config.numAttrs = 1;
    std::vector<double> each;
    for (int repeat = 0; repeat < 5; ++repeat) {
      CHECK(cudaLaunchKernelEx(&config, remote_chain, kLoads, out.get()));
      CHECK(cudaDeviceSynchronize());
      each.push_back(static_cast<double>(out.download(1)[0]) / kLoads);
    }
    bench::Answer("remote_chain", "cycles per load of a chain of loads from the next block's shared memory")
        .add("cluster", size)
        .print(bench::summarize(each), "cycle");
  }
}

}  // namespace

int main() {
  Buffer<unsigned char> matrix(size_t{kRows} * 128);
  Buffer<unsigned long long> out(4096);
  matrix.zero();
  ask_rounds<8, false>(out);
  ask_rounds<64, false>(out);
  ask_rounds<128, false>(out);
  ask_rounds<256, false>(out);
  ask_rounds<8, true>(out);
  ask_rounds<64, true>(out);
  ask_copies(matrix, out);
  ask_rate<1>(matrix, out);
  ask_rate<2>(matrix, out);
  ask_rate<4>(matrix, out);
  ask_rate<8>(matrix, out);
  ask_stores(matrix, out);
  ask_chain(out);
}
