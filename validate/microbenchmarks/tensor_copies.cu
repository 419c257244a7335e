// How long do bulk tensor copies of a matrix's tiles take, one after another and several under way, and what do products beside them cost?
//
// tensor_copy_steps: one thread copies the tiles of a strip of a matrix (boxes of 64 halves by `rows`), as a product's main loop does:
// `depth` stages under way, the next copy issued when the oldest has been seen. The answer is a list: with one stage the cycles of each
// step from its first instruction until it was seen, else the cycles since the start. The matrix is in L2, or L2 was filled with
// something else before; `touched`: a tile of the same rows, and so of the same pages, was copied before the first step.
//
// tensor_copy_beside: warpgroups multiply while a warp copies tiles that are in L2: cycles a product, bytes copied a cycle.
//
// store_fragments: two warpgroups store sums of 128 x 128 as wgmma leaves them, tile after tile: cycles a tile.
#include <cuda_fp16.h>

#include "tensor_map.cuh"
#include "wgmma_forms.cuh"

namespace {

constexpr int kColumns = 64, kPitch = 8192;  // halves of a box's row; bytes of a matrix row

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void init(uint32_t bar) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory"); }
__device__ __forceinline__ void expect(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity) {
  asm volatile("{\n.reg .pred done;\nL%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra L%=;\n}" ::"r"(bar), "r"(parity)
               : "memory");
}
__device__ __forceinline__ void copy(uint32_t to, const CUtensorMap* map, uint32_t bar, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
               "l"(map), "r"(bar), "r"(column), "r"(row)
               : "memory");
}

struct Steps {
  int steps, depth, boxes, rows, touched, sharing;  // depth, boxes: those of the kernel
};

template <int kDepth, int kBoxes>
__global__ void copy_steps(const __grid_constant__ CUtensorMap map, Steps k, unsigned long long* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ alignas(8) uint64_t full[8];
  if (threadIdx.x != 0) return;
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u, bytes = k.rows * 128, stage = bytes * kBoxes;
  for (int i = 0; i < 8; ++i) init(shared_address(&full[i]));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  const int first = blockIdx.x / k.sharing * kBoxes * k.rows;
  const auto issue = [&](int place, int column) {
    expect(shared_address(&full[place]), stage);
#pragma unroll
    for (int i = 0; i < kBoxes; ++i)
      copy(base + place % kDepth * stage + i * bytes, &map, shared_address(&full[place]), column * kColumns, first + i * k.rows);
  };
  if (k.touched) {
    issue(7, 63);
    wait(shared_address(&full[7]), 0);
  }
  const unsigned long long start = bench::clock_now();
  unsigned long long began = start;
  int place = 0, turn = 0;
  for (int s = 0; s < kDepth; ++s) issue(s, s);
#pragma unroll 1
  for (int s = 0; s < k.steps; ++s) {
    wait(shared_address(&full[place]), turn & 1);
    const unsigned long long seen = bench::clock_now();
    if (blockIdx.x == 0) out[s] = seen - began;
    if (kDepth == 1) began = bench::clock_now();
    if (s + kDepth < k.steps) issue(place, s + kDepth);
    if (++place == kDepth) place = 0, ++turn;
  }
}

__global__ void fill_l2(uint4* at, size_t count) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * size_t{blockDim.x}) at[i] = make_uint4(1, 2, 3, 4);
}

/// Two warpgroups: groups < 2 multiply; the warp behind them copies `boxes` of 16 KiB over and over until they have ended.
template <int kN, bool kRegisters>
__global__ void __launch_bounds__(288, 1)
    beside(const __grid_constant__ CUtensorMap map, int groups, int rounds, int depth, unsigned long long* out, float* sink) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ alignas(8) uint64_t full[8];
  __shared__ volatile int ended;
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u, to = base + 65536;
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 8; ++i) init(shared_address(&full[i]));
    ended = 0;
  }
  for (int i = threadIdx.x; i < 16384; i += blockDim.x) asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 4 * i), "r"(0) : "memory");
  __syncthreads();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (group < 2) {
    if (group >= groups) return;
    float d[kN / 2];
    uint32_t a[4] = {0, 0, 0, 0};
    for (float& x : d) x = 0;
    const uint64_t da = wgmma_descriptor(base + group * 8192), db = wgmma_descriptor(base + 32768);
    const unsigned long long start = bench::clock_now();
    for (int i = 0; i < rounds; ++i) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < 4; ++k) product<kN, kRegisters>(d, a, da + 2 * k, db + 2 * k);
      asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (threadIdx.x == 0) out[0] = bench::clock_now() - start, ended = 1;
    float sum = 0;
    for (const float x : d) sum += x;
    if (sum == 123) sink[threadIdx.x] = sum;
    return;
  }
  if (threadIdx.x % 32 || depth == 0) return;
  const unsigned long long start = bench::clock_now();
  unsigned long long copied = 0;
  for (int s = 0; s < depth; ++s) {
    expect(shared_address(&full[s]), 16384);
    copy(to + s * 16384, &map, shared_address(&full[s]), s * kColumns, 0);
  }
  int place = 0, turn = 0;
  for (int s = 0; !ended; ++s) {
    const uint32_t bar = shared_address(&full[place]);
    wait(bar, turn & 1);
    expect(bar, 16384);
    copy(to + place * 16384, &map, bar, s % 32 * kColumns, 0);
    copied += 16384;
    if (++place == depth) place = 0, ++turn;
  }
  out[1] = copied;
  out[2] = bench::clock_now() - start;
  for (int s = 0; s < depth; ++s) {  // what is under way must not outlive the block
    const int number = static_cast<int>(copied / 16384) + s;
    wait(shared_address(&full[number % depth]), number / depth & 1);
  }
}

/// 256 threads store tiles of 128 x 128 sums as two warpgroups hold them, 8 bytes a thread and instruction.
__global__ void __launch_bounds__(256) store_fragments(float* c, int columns, int tiles, unsigned long long* out) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __syncthreads();
  const unsigned long long start = bench::clock_now();
  for (int t = 0; t < tiles; ++t) {
    float* to = c + static_cast<size_t>(blockIdx.x * 128 + warp * 16 + lane / 4) * columns + t * 128 + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      *reinterpret_cast<float2*>(to + 8 * j) = make_float2(j, t);
      *reinterpret_cast<float2*>(to + 8 * static_cast<size_t>(columns) + 8 * j) = make_float2(t, j);
    }
  }
  __syncthreads();
  const unsigned long long stopped = bench::clock_now();
  if (threadIdx.x == 0) out[blockIdx.x] = stopped - start;
}

CUtensorMap map_of(void* data, int rows, int box_rows) {
  return bench::map_of_matrix(data, kPitch / 2, rows, kPitch, kColumns, box_rows, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
}

constexpr int kRows = 132 * 256, kShared = 200 * 1024;
constexpr size_t kFlush = 256u << 20;
using bench::Buffer;

template <int kDepth, int kBoxes>
void ask_steps(Buffer<unsigned char>& matrix, Buffer<uint4>& other, Buffer<unsigned long long>& out, Steps k, int blocks, bool hit) {
  CHECK(cudaFuncSetAttribute(copy_steps<kDepth, kBoxes>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  const CUtensorMap map = map_of(matrix.get(), kRows, k.rows);
  std::vector<double> cycles;
  for (int repeat = 0; repeat < 3; ++repeat) {
    if (!hit) fill_l2<<<264, 512>>>(other.get(), other.size());
    if (hit && repeat == 0) copy_steps<kDepth, kBoxes><<<blocks, 32, kShared>>>(map, k, out.get());
    copy_steps<kDepth, kBoxes><<<blocks, 32, kShared>>>(map, k, out.get());
    CHECK(cudaDeviceSynchronize());
    const auto all = out.download(static_cast<size_t>(k.steps));
    cycles.assign(all.begin(), all.end());
    if (hit && repeat == 0) continue;
    bench::Answer("tensor_copy_steps", "cycles of each copy of a stage of tiles (one stage), or since the start when each was seen")
        .add("rows", k.rows).add("boxes", k.boxes).add("depth", k.depth).add("blocks", blocks).add("sharing", k.sharing)
        .add_text("l2", hit ? "hit" : "miss").add("touched", k.touched).add("repeat", repeat).add("cycles", cycles)
        .print(cycles.back(), "cycle", 0);
    if (hit) break;
  }
}

template <int kDepth, int kBoxes>
void ask_ways(Buffer<unsigned char>& matrix, Buffer<uint4>& other, Buffer<unsigned long long>& out, int steps, int blocks, bool hit) {
  ask_steps<kDepth, kBoxes>(matrix, other, out, {steps, kDepth, kBoxes, 128, 0, 1}, blocks, hit);
  if (!hit) ask_steps<kDepth, kBoxes>(matrix, other, out, {steps, kDepth, kBoxes, 128, 1, 1}, blocks, hit);
  if (blocks > 1) ask_steps<kDepth, kBoxes>(matrix, other, out, {steps, kDepth, kBoxes, 128, 0, 4}, blocks, hit);
}

template <int kN, bool kRegisters>
void ask_beside(Buffer<unsigned char>& matrix, Buffer<unsigned long long>& out) {
  const auto kernel = beside<kN, kRegisters>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  const CUtensorMap map = map_of(matrix.get(), kRows, 128);
  for (const int depth : {0, 1, 2, 4}) {
    for (const int groups : {1, 2}) {
      for (const int rounds : {64, 512}) {
        out.zero();
        kernel<<<1, 288, kShared>>>(map, groups, rounds, depth, out.get(), reinterpret_cast<float*>(out.get() + 16));
        kernel<<<1, 288, kShared>>>(map, groups, rounds, depth, out.get(), reinterpret_cast<float*>(out.get() + 16));
        CHECK(cudaDeviceSynchronize());
        const auto all = out.download(3);
        bench::Answer("tensor_copy_beside", "cycles of a warpgroup product while tiles are copied, and bytes copied per cycle")
            .add("n", kN).add_text("a", kRegisters ? "registers" : "shared").add("warpgroups", groups).add("depth", depth)
            .add("rounds", rounds).add("copied", all[2] ? static_cast<double>(all[1]) / static_cast<double>(all[2]) : 0)
            .print(static_cast<double>(all[0]) / (rounds * 4.0), "cycle", 0);
      }
    }
  }
}

}  // namespace

int main(int argc, char**) {
  const bool small = argc > 1;  // a few launches, for a model
  Buffer<unsigned char> matrix(size_t{kRows} * kPitch);
  Buffer<uint4> other(small ? 1024 : kFlush / 16);
  Buffer<unsigned long long> out(4096);
  if (!small) matrix.zero();
  for (const bool hit : {true, false}) {
    for (const int blocks : {1, 16, 64, 132}) {
      if (small && blocks > 16) break;
      const int steps = blocks > 16 ? 8 : 24;  // all of it fits L2
      ask_ways<1, 1>(matrix, other, out, steps, blocks, hit);
      ask_ways<1, 2>(matrix, other, out, steps, blocks, hit);
      ask_ways<3, 1>(matrix, other, out, steps, blocks, hit);
      ask_ways<3, 2>(matrix, other, out, steps, blocks, hit);
    }
    for (const int rows : {1, 8, 32, 64, 256}) {
      ask_steps<1, 1>(matrix, other, out, {24, 1, 1, rows, 0, 1}, 1, hit);
      ask_steps<1, 1>(matrix, other, out, {24, 1, 1, rows, 1, 1}, 1, hit);
    }
  }
  if (small) return 0;
  ask_beside<64, false>(matrix, out);
  ask_beside<128, false>(matrix, out);
  ask_beside<256, false>(matrix, out);
  ask_beside<128, true>(matrix, out);
  Buffer<float> c(size_t{132} * 128 * 4096);
  for (const int blocks : {1, 16, 132}) {
    for (const int tiles : {1, 2, 4, 8, 32}) {
      for (int repeat = 0; repeat < 2; ++repeat) store_fragments<<<blocks, 256>>>(c.get(), 4096, tiles, out.get());
      CHECK(cudaDeviceSynchronize());
      bench::Answer("store_fragments", "cycles until all warps have issued their stores of tiles of 128 x 128 sums")
          .add("blocks", blocks).add("tiles", tiles)
          .print(static_cast<double>(out.download(1)[0]), "cycle", 0);
    }
  }
}
