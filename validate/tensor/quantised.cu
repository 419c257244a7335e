// Products of small types whose scales are applied in the kernel.
//   int8   int8 times int8, a scale of each row and of each column in the epilogue, half results by bulk tensor stores
//   fp8    e4m3, a scale of a row and 128 of depth for A, of 128 x 128 for B; as many blocks as SMs, tiles in columns of eight
//   int4   A bfloat16, B 4 bits with a scale of a column and 128 of depth, made bfloat16 in shared memory, then mma.sync
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90a,code=sm_90a -o quantised quantised.cu
//   ./quantised int8|fp8|int4 ROWS COLUMNS DEPTH
#include "warps.cuh"

namespace {

// --- int8 ----------------------------------------------------------------------------------------------------------------------------
/// Stresses integer products of 64 x 256 and an epilogue of conversions and loads of scales.
__global__ void __launch_bounds__(384, 1)
    eight_bits(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
               const __grid_constant__ CUtensorMap map_c, const float* of_rows, const float* of_columns,
               int steps) {
  constexpr int kDepth = 3, kBytes = 3 * kTile;
  __shared__ Ring<kDepth> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  Turn<kDepth> turn;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    for (int step = 0; step < steps; ++step, turn.next()) {
      unsigned char* stage = memory + turn.place * kBytes;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], kBytes);
      copy2(stage, &map_a, &ring.full[turn.place], step * 128, blockIdx.x * kSide);
      copy2(stage + kTile, &map_b, &ring.full[turn.place], step * 128, blockIdx.y * 256);
    }
    return;
  }
  many_registers();
  int sums[128];
  consume(ring, turn, steps, [&](int place, int step) {
    const unsigned char* stage = memory + place * kBytes;
    const uint64_t a = descriptor(stage + group * kTile / 2), b = descriptor(stage + kTile);
#pragma unroll
    for (int k = 0; k < 4; ++k) multiply256_int8(sums, a + 2 * k, b + 2 * k, step > 0 || k > 0);
  });
  keep(sums);
  const int lane = threadIdx.x % 32, row = group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
  const float upper = of_rows[blockIdx.x * kSide + row], lower = of_rows[blockIdx.x * kSide + row + 8];
  const float* scales = of_columns + blockIdx.y * 256 + lane % 4 * 2;
  unsigned char* results = memory + kDepth * kBytes + group * 2 * kTile;
  put_boxes<128>(results, [&](int i) {
    const float2 two = *reinterpret_cast<const float2*>(scales + i / 4 * 8);
    const float of_row = i / 2 % 2 ? lower : upper;
    const __half2 pair = __floats2half2_rn(static_cast<float>(sums[i]) * (of_row * two.x),
                                           static_cast<float>(sums[i + 1]) * (of_row * two.y));
    return reinterpret_cast<const uint32_t&>(pair);
  });
  proxy_fence();
  group_barrier(1 + group, 128);
  if (leads()) {
    for (int box = 0; box < 4; ++box)
      store2(&map_c, results + box * 8192, blockIdx.y * 256 + box * 64, blockIdx.x * kSide + group * 64);
    stores_commit();
    stores_done();
  }
}

int run_int8(int rows, int columns, int depth) {
  Data<signed char> a(static_cast<size_t>(rows) * depth, 1), b(static_cast<size_t>(columns) * depth, 2);
  Data<float> of_rows(rows, 3), of_columns(columns, 4);
  Results<__half> c(static_cast<size_t>(rows) * columns);
  const CUtensorMapDataType byte = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr int kMemory = 1024 + 13 * kTile;
  allow(eight_bits, kMemory);
  eight_bits<<<dim3(rows / kSide, columns / 256), 384, kMemory>>>(
      matrix_map(byte, 1, a.device, rows, depth, kSide), matrix_map(byte, 1, b.device, columns, depth, 256),
      matrix_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, c.device, rows, columns, 64), of_rows.device,
      of_columns.device, depth / 128);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return near(
      "int8", c.count, 4096, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const size_t row = i / columns, column = i % columns;
        return 64 * dot(&a.host[row * depth], 1, &b.host[column * depth], 1, depth) * of_rows.host[row] *
               of_columns.host[column];
      },
      0.0006);
}

// --- fp8 -----------------------------------------------------------------------------------------------------------------------------
constexpr int kScaled = 2 * kTile + 1024;  // bytes of a stage: two tiles and the scales of 128 rows

__device__ __forceinline__ void copy_line(void* to, const void* from, uint64_t* barrier, uint32_t bytes) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_place(to)),
      "l"(from), "r"(bytes), "r"(shared_place(barrier))
      : "memory");
}

/// Stresses sums that are scaled and added after each step by ordinary instructions, and a bulk copy of 512 bytes a stage.
/// of_a: of a step and row; of_b: of 128 columns and a step.
__global__ void __launch_bounds__(384, 1)
    fp8(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
        const float* of_a, const float* of_b, bf16* c, int rows, int columns, int steps) {
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  Turn<kStages> turn;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1, tiles_m = rows / kSide,
            tiles = tiles_m * (columns / kSide), band = 8 * tiles_m;
  // Eight columns of tiles make a band; in it the tiles of a row come one after another.
  const auto place_of = [&](int tile) {
    const int first = tile / band * 8, wide = min(8, columns / kSide - first), at = tile % band;
    return make_int2(first + at % wide, at / wide);
  };
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int2 at = place_of(tile);
      for (int step = 0; step < steps; ++step, turn.next()) {
        unsigned char* stage = memory + turn.place * kScaled;
        uint64_t* full = &ring.full[turn.place];
        wait(&ring.empty[turn.place], turn.parity ^ 1);
        expect(full, 2 * kTile + 512);
        copy2(stage, &map_a, full, step * 128, at.y * kSide);
        copy2(stage + kTile, &map_b, full, step * 128, at.x * kSide);
        copy_line(stage + 2 * kTile, of_a + static_cast<size_t>(step) * rows + at.y * kSide, full, 512);
      }
    }
    return;
  }
  many_registers();
  const int lane = threadIdx.x % 32, row = group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int2 at = place_of(tile);
    float sums[64], part[64];
    for (float& x : sums) x = 0;
    for (int step = 0; step < steps; ++step, turn.next()) {
      const float of_block = of_b[at.x * steps + step];
      wait(&ring.full[turn.place], turn.parity);
      const unsigned char* stage = memory + turn.place * kScaled;
      multiply_stage(part, descriptor(stage + group * kTile / 2), descriptor(stage + kTile),
                     [&](auto& d, uint64_t x, uint64_t y, int k) { multiply_fp8(d, x, y, k > 0); });
      const float* scales = reinterpret_cast<const float*>(stage + 2 * kTile);
      const float upper = scales[row] * of_block, lower = scales[row + 8] * of_block;
      products_wait<0>();
      keep(part);
      group_barrier(1 + group, 128);  // all have read the scales
      if (leads()) arrive(&ring.empty[turn.place]);
#pragma unroll
      for (int i = 0; i < 64; ++i) sums[i] += part[i] * (i / 2 % 2 ? lower : upper);
    }
    bf16* to = c + static_cast<size_t>(at.y * kSide + row) * columns + at.x * kSide + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 64; j += 2)
      *reinterpret_cast<uint32_t*>(to + static_cast<size_t>(j / 2 % 2 * 8) * columns + j / 4 * 8) =
          pair_of(sums[j], sums[j + 1]);
  }
}

int run_fp8(int rows, int columns, int depth) {
  const int steps = depth / 128;
  Data<__nv_fp8_e4m3> a(static_cast<size_t>(rows) * depth, 1), b(static_cast<size_t>(columns) * depth, 2);
  Data<float> of_a(static_cast<size_t>(steps) * rows, 3), of_b(static_cast<size_t>(columns / 128) * steps, 4);
  Results<bf16> c(static_cast<size_t>(rows) * columns);
  const CUtensorMapDataType byte = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  constexpr int kMemory = 1024 + kStages * kScaled;
  allow(fp8, kMemory);
  fp8<<<min(rows / kSide * (columns / kSide), sm_count()), 384, kMemory>>>(
      matrix_map(byte, 1, a.device, rows, depth, kSide), matrix_map(byte, 1, b.device, columns, depth, kSide),
      of_a.device, of_b.device, c.device, rows, columns, steps);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return near(
      "fp8", c.count, 4096, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const size_t row = i / columns, column = i % columns;
        double sum = 0;
        for (int step = 0; step < steps; ++step)
          sum += dot(&a.host[row * depth + step * 128], 1, &b.host[column * depth + step * 128], 1, 128) *
                 of_a.host[static_cast<size_t>(step) * rows + row] * of_b.host[column / 128 * steps + step];
        return sum;
      },
      0.01);  // the products of e4m3 are added with fewer bits than float has
}

// --- int4 ----------------------------------------------------------------------------------------------------------------------------
constexpr int kPacked = 8192 + 4096,
              kAhead = 4;  // bytes of a stage: 64 rows of A, 128 columns of 64 numbers of 4 bits

/// Stresses the making of operands: logic and packed arithmetic, stores to swizzled shared memory, two barriers a step, then ldmatrix.
__global__ void __launch_bounds__(128)
    four_bits(const bf16* a, const unsigned char* b, const bf16* scales, bf16* c, int columns, int depth) {
  unsigned char* memory = aligned_memory();
  unsigned char* made = memory + kAhead * kPacked;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, steps = depth / 64,
            row0 = blockIdx.y * 64, column0 = blockIdx.x * kSide;
  const auto fetch = [&](int step) {
    if (step < steps) {
      const uint32_t to = shared_place(memory + step % kAhead * kPacked);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = thread / 8 + i * 16, chunk = thread % 8;
        copy16(to + swizzled(row, chunk),
               a + static_cast<size_t>(row0 + row) * depth + step * 64 + chunk * 8);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row = thread / 2 + i * 64, half = thread % 2;
        copy16(to + 8192 + row * 32 + half * 16,
               b + static_cast<size_t>(column0 + row) * (depth / 2) + step * 32 + half * 16);
      }
    }
    copies_commit();
  };
  for (int step = 0; step < kAhead - 1; ++step) fetch(step);
  float sums[4][4][4] = {};
  const bf16* own = scales + static_cast<size_t>(column0 + thread) * (depth / 128);
  for (int step = 0; step < steps; ++step) {
    const __nv_bfloat162 scale = __bfloat162bfloat162(own[step / 2]);
    copies_wait<kAhead - 2>();
    __syncthreads();
    const unsigned char* stage = memory + step % kAhead * kPacked;
    // A thread makes a column: 64 numbers of 4 bits, 8 chunks of 16 bytes.
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint4 four = *reinterpret_cast<const uint4*>(stage + 8192 + thread * 32 + half * 16);
      const uint32_t packed[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        uint32_t pair[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint32_t biased = (packed[w] >> 4 * i & 0x000f000fu) | 0x43004300u;  // 128 + number
          const __nv_bfloat162 number = __hmul2(
              __hsub2(reinterpret_cast<const __nv_bfloat162&>(biased), __float2bfloat162_rn(136.0f)), scale);
          pair[i] = reinterpret_cast<const uint32_t&>(number);
        }
        *reinterpret_cast<uint4*>(made + swizzled(thread, half * 4 + w)) =
            make_uint4(pair[0], pair[1], pair[2], pair[3]);
      }
    }
    __syncthreads();
    fetch(step + kAhead - 1);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      uint32_t left[4][4], right[2][4];
#pragma unroll
      for (int m = 0; m < 4; ++m) fragment_a(left[m], shared_place(stage), m * 16, 2 * k);
#pragma unroll
      for (int n = 0; n < 2; ++n) fragment_b(right[n], shared_place(made), warp * 32 + n * 16, 2 * k);
#pragma unroll
      for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n)
          mma_bf16(sums[m][n], left[m], right[n / 2][n % 2 * 2], right[n / 2][n % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int m = i / 8, n = i / 2 % 4, half = i % 2;
    *reinterpret_cast<uint32_t*>(c + static_cast<size_t>(row0 + m * 16 + lane / 4 + half * 8) * columns +
                                 column0 + warp * 32 + n * 8 + lane % 4 * 2) =
        pair_of(sums[m][n][2 * half], sums[m][n][2 * half + 1]);
  }
}

int run_int4(int rows, int columns, int depth) {
  const size_t count = static_cast<size_t>(columns) * depth;
  Data<bf16> a(static_cast<size_t>(rows) * depth, 1), scales(count / 128, 3);
  Results<bf16> c(static_cast<size_t>(rows) * columns);
  // Of eight numbers, the first is bits 0 to 3, the second bits 16 to 19, the third bits 4 to 7.
  std::vector<unsigned> packed(count / 8);
  const auto number = [](size_t i) { return static_cast<int>(value_of(i, 2) * 8) + 8; };
  for (size_t i = 0; i < count; ++i)
    packed[i / 8] |= static_cast<unsigned>(number(i)) << (i % 2 * 16 + i % 8 / 2 * 4);
  unsigned char* b;
  CHECK(cudaMalloc(&b, count / 2));
  CHECK(cudaMemcpy(b, packed.data(), count / 2, cudaMemcpyHostToDevice));
  constexpr int kMemory = 1024 + kAhead * kPacked + kTile;
  allow(four_bits, kMemory);
  four_bits<<<dim3(columns / kSide, rows / 64), 128, kMemory>>>(a.device, b, scales.device, c.device, columns,
                                                                depth);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return near(
      "int4", c.count, 4096, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const size_t row = i / columns, column = i % columns;
        double sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += static_cast<double>(a.host[row * depth + k]) * (number(column * depth + k) - 8) *
                 scales.host[(column * depth + k) / 128];
        return sum;
      },
      0.004);
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return std::fprintf(stderr, "expected int8|fp8|int4 ROWS COLUMNS DEPTH\n"), 2;
  const int rows = std::atoi(words[2]), columns = std::atoi(words[3]), depth = std::atoi(words[4]);
  if (same(words[1], "int8")) return run_int8(rows, columns, depth);
  if (same(words[1], "fp8")) return run_fp8(rows, columns, depth);
  if (same(words[1], "int4")) return run_int4(rows, columns, depth);
  return std::fprintf(stderr, "%s: unknown way\n", words[1]), 2;
}
