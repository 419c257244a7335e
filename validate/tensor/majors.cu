// C = A B' in bfloat16 with float results, operands of either major, sizes that no tile divides.
//   nn, tn, tt   A is n: rows of depth, or t: depth of rows; B is n: depth of columns, or t: columns of depth. Three groups multiply
//                tiles of 192 x 128; a transposed operand's descriptor and boxes of 64 x 64 do the transposing
//   ragged       both operands are rows of depth; 128 threads copy and multiply tiles of 64 x 128, several blocks an SM
// What sticks out of the operands comes as zeros from the bulk tensor copies; results are guarded one by one. ROWS, COLUMNS and DEPTH are
// multiples of 8.
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90a,code=sm_90a -o majors majors.cu
//   ./majors nn|tn|tt|ragged ROWS COLUMNS DEPTH
#include "warps.cuh"

namespace {

constexpr CUtensorMapDataType kType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;

/// Sums of 64 x 128 from a row and column on, those inside rows x columns.
__device__ __forceinline__ void store_inside(const float (&sums)[64], float* c, int row0, int column0,
                                             int rows, int columns) {
  const int lane = threadIdx.x % 32, row = row0 + threadIdx.x % 128 / 32 * 16 + lane / 4,
            column = column0 + lane % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (row + half * 8 >= rows) continue;
    float* to = c + static_cast<size_t>(row + half * 8) * columns + column;
#pragma unroll
    for (int j = 0; j < 16; ++j)
      if (column + 8 * j < columns)
        *reinterpret_cast<float2*>(to + 8 * j) =
            make_float2(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
  }
}

// --- either major --------------------------------------------------------------------------------------------------------------------
constexpr int kLeft = 3 * 8192, kDepth = 5;  // bytes of A a stage

/// Stresses transposed operands from shared memory, more boxes a stage (5 of 8 KiB), and four groups that share the registers evenly.
template <bool kTransposedA, bool kRowsOfDepthB>
__global__ void __launch_bounds__(512, 1)
    majors(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c,
           int rows, int columns, int steps) {
  constexpr int kBytes = kLeft + kTile;
  __shared__ Ring<kDepth> ring;
  unsigned char* memory = aligned_memory();
  ring.start(3);
  Turn<kDepth> turn;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1, row0 = blockIdx.y * 192,
            column0 = blockIdx.x * kSide;
  if (group < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
    if (threadIdx.x != 0) return;
    for (int step = 0; step < steps; ++step, turn.next()) {
      unsigned char* stage = memory + turn.place * kBytes;
      uint64_t* full = &ring.full[turn.place];
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(full, kBytes);
      for (int i = 0; i < 3; ++i)
        if (kTransposedA)
          copy2(stage + i * 8192, &map_a, full, row0 + i * 64, step * 64);
        else
          copy2(stage + i * 8192, &map_a, full, step * 64, row0 + i * 64);
      for (int i = 0; i < 2; ++i)
        if (kRowsOfDepthB)
          copy2(stage + kLeft + i * 8192, &map_b, full, step * 64, column0 + i * 64);
        else
          copy2(stage + kLeft + i * 8192, &map_b, full, column0 + i * 64, step * 64);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
  float sums[64];
  consume(ring, turn, steps, [&](int place, int step) {
    const unsigned char* stage = memory + place * kBytes;
    const uint64_t a = descriptor(stage + group * 8192), b = descriptor(stage + kLeft, 8192);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int add = step > 0 || k > 0;
      if (kTransposedA && kRowsOfDepthB)
        multiply128_tn(sums, a + 128 * k, b + 2 * k, add);
      else if (kTransposedA)
        multiply128_tt(sums, a + 128 * k, b + 128 * k, add);
      else
        multiply128_nt(sums, a + 2 * k, b + 128 * k, add);
    }
  });
  keep(sums);
  store_inside(sums, c, row0 + group * 64, column0, rows, columns);
}

// --- several blocks an SM ------------------------------------------------------------------------------------------------------------
/// Stresses blocks that overlap one another rather than roles: the thread that multiplies also asks for the copies three steps ahead.
__global__ void __launch_bounds__(128)
    ragged(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c,
           int rows, int columns, int steps) {
  constexpr int kAhead = 3, kBytes = 8192 + kTile;
  __shared__ uint64_t full[kAhead];
  unsigned char* memory = aligned_memory();
  const auto fetch = [&](int step) {
    unsigned char* stage = memory + step % kAhead * kBytes;
    expect(&full[step % kAhead], kBytes);
    copy2(stage, &map_a, &full[step % kAhead], step * 64, blockIdx.y * 64);
    copy2(stage + 8192, &map_b, &full[step % kAhead], step * 64, blockIdx.x * kSide);
  };
  if (threadIdx.x == 0) {
    for (uint64_t& barrier : full) init(&barrier, 1);
    fence_init();
    for (int step = 0; step < kAhead && step < steps; ++step) fetch(step);
  }
  __syncthreads();
  float sums[64];
  for (int step = 0; step < steps; ++step) {
    wait(&full[step % kAhead], step / kAhead % 2);
    const unsigned char* stage = memory + step % kAhead * kBytes;
    multiply_stage(sums, descriptor(stage), descriptor(stage + 8192),
                   [&](auto& d, uint64_t a, uint64_t b, int k) { multiply128(d, a, b, step > 0 || k > 0); });
    products_wait<0>();
    __syncthreads();
    if (threadIdx.x == 0 && step + kAhead < steps) fetch(step + kAhead);
  }
  keep(sums);
  store_inside(sums, c, blockIdx.y * 64, blockIdx.x * kSide, rows, columns);
}

// --- host ----------------------------------------------------------------------------------------------------------------------------
template <bool kTransposedA, bool kRowsOfDepthB>
void launch(const Data<bf16>& a, const Data<bf16>& b, float* c, int rows, int columns, int depth) {
  const auto kernel = majors<kTransposedA, kRowsOfDepthB>;
  constexpr int kMemory = 1024 + kDepth * (kLeft + kTile);
  allow(kernel, kMemory);
  kernel<<<dim3((columns + kSide - 1) / kSide, (rows + 191) / 192), 512, kMemory>>>(
      kTransposedA ? matrix_map(kType, 2, a.device, depth, rows, 64)
                   : matrix_map(kType, 2, a.device, rows, depth, 64),
      kRowsOfDepthB ? matrix_map(kType, 2, b.device, columns, depth, 64)
                    : matrix_map(kType, 2, b.device, depth, columns, 64),
      c, rows, columns, (depth + 63) / 64);
}

int run(const char* way, int rows, int columns, int depth) {
  Data<bf16> a(static_cast<size_t>(rows) * depth, 1), b(static_cast<size_t>(columns) * depth, 2);
  Results<float> c(static_cast<size_t>(rows) * columns);
  const bool simple = same(way, "ragged"), transposed_a = way[0] == 't',
             rows_of_depth_b = simple || same(way, "tn");
  if (simple) {
    constexpr int kMemory = 1024 + 3 * (8192 + kTile);
    allow(ragged, kMemory);
    ragged<<<dim3((columns + kSide - 1) / kSide, (rows + 63) / 64), 128, kMemory>>>(
        matrix_map(kType, 2, a.device, rows, depth, 64),
        matrix_map(kType, 2, b.device, columns, depth, kSide), c.device, rows, columns, (depth + 63) / 64);
  } else if (same(way, "nn")) {
    launch<false, false>(a, b, c.device, rows, columns, depth);
  } else if (same(way, "tn")) {
    launch<true, true>(a, b, c.device, rows, columns, depth);
  } else {
    launch<true, false>(a, b, c.device, rows, columns, depth);
  }
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return near(
      way, c.count, 8192, [&](size_t i) { return got[i]; },
      [&](size_t i) {
        const size_t row = i / columns, column = i % columns;
        return dot(&a.host[transposed_a ? row : row * depth], transposed_a ? rows : 1,
                   &b.host[rows_of_depth_b ? column * depth : column], rows_of_depth_b ? 1 : columns, depth);
      },
      0.0);
}

}  // namespace

int main(int count, char** words) {
  if (count != 5 ||
      !(same(words[1], "nn") || same(words[1], "tn") || same(words[1], "tt") || same(words[1], "ragged")))
    return std::fprintf(stderr, "expected nn|tn|tt|ragged ROWS COLUMNS DEPTH\n"), 2;
  return run(words[1], std::atoi(words[2]), std::atoi(words[3]), std::atoi(words[4]));
}
