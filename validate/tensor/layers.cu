// Products as a network's layers use them, bfloat16, warp-specialised with a step of products always under way.
//   gelu     tiles of 128 x 256, bias and GELU on them, results by stmatrix and bulk tensor stores: gelu ROWS COLUMNS DEPTH
//   swiglu   a gate's and a value's product at once (two sums of 128 x 128 a block), silu(gate) * value: swiglu ROWS COLUMNS DEPTH
//   batched  tiles of 256 x 128, operands and results by maps of three dimensions: batched BATCHES ROWS COLUMNS DEPTH
//   mlp      128 rows, hidden columns 64 at a time only in shared memory, 256 columns in and out: mlp ROWS HIDDEN
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90a,code=sm_90a -o layers layers.cu
//   ./layers WAY SIZES
#include "warps.cuh"

namespace {

constexpr CUtensorMapDataType kType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;

// --- bias and GELU -------------------------------------------------------------------------------------------------------------------
/// Stresses 128 sums a thread, a long epilogue of special functions with nothing to overlap it, and bulk stores at the end.
__global__ void __launch_bounds__(384, 1)
    gelu(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         const __grid_constant__ CUtensorMap map_c, const float* bias, int steps) {
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
      copy2(stage, &map_a, &ring.full[turn.place], step * 64, blockIdx.y * kSide);
      copy2(stage + kTile, &map_b, &ring.full[turn.place], step * 64, blockIdx.x * 256);
    }
    return;
  }
  many_registers();
  float sums[128];
  consume(ring, turn, steps, [&](int place, int step) {
    const unsigned char* stage = memory + place * kBytes;
    const uint64_t a = descriptor(stage + group * kTile / 2), b = descriptor(stage + kTile);
#pragma unroll
    for (int k = 0; k < 4; ++k) multiply256(sums, a + 2 * k, b + 2 * k, step > 0 || k > 0);
  });
  keep(sums);
  const float* of_column = bias + blockIdx.x * 256 + threadIdx.x % 4 * 2;
#pragma unroll
  for (int j = 0; j < 32; ++j) {
    const float2 more = *reinterpret_cast<const float2*>(of_column + 8 * j);
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[4 * j + i] = gelu_of(sums[4 * j + i] + (i % 2 ? more.y : more.x));
  }
  unsigned char* results = memory + kDepth * kBytes + group * 2 * kTile;
  put_boxes<128>(results, [&](int i) { return pair_of(sums[i], sums[i + 1]); });
  proxy_fence();
  group_barrier(1 + group, 128);
  if (leads()) {
    for (int box = 0; box < 4; ++box)
      store2(&map_c, results + box * 8192, blockIdx.x * 256 + box * 64, blockIdx.y * kSide + group * 64);
    stores_commit();
    stores_done();
  }
}

int run_gelu(int rows, int columns, int depth) {
  Data<bf16> a(static_cast<size_t>(rows) * depth, 1), b(static_cast<size_t>(columns) * depth, 2);
  Data<float> bias(columns, 3);
  Results<bf16> c(static_cast<size_t>(rows) * columns);
  constexpr int kMemory = 1024 + 13 * kTile;
  allow(gelu, kMemory);
  gelu<<<dim3(columns / 256, rows / kSide), 384, kMemory>>>(
      matrix_map(kType, 2, a.device, rows, depth, kSide), matrix_map(kType, 2, b.device, columns, depth, 256),
      matrix_map(kType, 2, c.device, rows, columns, 64), bias.device, depth / 64);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return near(
      "gelu", c.count, 4096, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const size_t row = i / columns, column = i % columns;
        const double x = dot(&a.host[row * depth], 1, &b.host[column * depth], 1, depth) + bias.host[column];
        return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
      },
      0.005);
}

// --- gate and value ------------------------------------------------------------------------------------------------------------------
/// Stresses products that share their first operand, and results written by all threads in 4 bytes.
__global__ void __launch_bounds__(384, 1)
    swiglu(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_gate,
           const __grid_constant__ CUtensorMap map_value, bf16* c, int columns, int steps) {
  constexpr int kBytes = 3 * kTile;
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  Turn<kStages> turn;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    for (int step = 0; step < steps; ++step, turn.next()) {
      unsigned char* stage = memory + turn.place * kBytes;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], kBytes);
      copy2(stage, &map_a, &ring.full[turn.place], step * 64, blockIdx.x * kSide);
      copy2(stage + kTile, &map_gate, &ring.full[turn.place], step * 64, blockIdx.y * kSide);
      copy2(stage + 2 * kTile, &map_value, &ring.full[turn.place], step * 64, blockIdx.y * kSide);
    }
    return;
  }
  many_registers();
  float gates[64], values[64];
  consume(ring, turn, steps, [&](int place, int step) {
    const unsigned char* stage = memory + place * kBytes;
    const uint64_t a = descriptor(stage + group * kTile / 2), gate = descriptor(stage + kTile),
                   value = descriptor(stage + 2 * kTile);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      multiply128(gates, a + 2 * k, gate + 2 * k, step > 0 || k > 0);
      multiply128(values, a + 2 * k, value + 2 * k, step > 0 || k > 0);
    }
  });
  keep(gates);
  keep(values);
  const int lane = threadIdx.x % 32, row = group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
  bf16* to = c + static_cast<size_t>(blockIdx.x * kSide + row) * columns + blockIdx.y * kSide + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < 64; j += 2)
    *reinterpret_cast<uint32_t*>(to + static_cast<size_t>(j / 2 % 2 * 8) * columns + j / 4 * 8) =
        pair_of(gated(gates[j], gates[j]) * values[j], gated(gates[j + 1], gates[j + 1]) * values[j + 1]);
}

int run_swiglu(int rows, int columns, int depth) {
  Data<bf16> a(static_cast<size_t>(rows) * depth, 1), gate(static_cast<size_t>(columns) * depth, 2),
      value(static_cast<size_t>(columns) * depth, 3);
  Results<bf16> c(static_cast<size_t>(rows) * columns);
  constexpr int kMemory = 1024 + kStages * 3 * kTile;
  allow(swiglu, kMemory);
  swiglu<<<dim3(rows / kSide, columns / kSide), 384, kMemory>>>(
      matrix_map(kType, 2, a.device, rows, depth, kSide),
      matrix_map(kType, 2, gate.device, columns, depth, kSide),
      matrix_map(kType, 2, value.device, columns, depth, kSide), c.device, columns, depth / 64);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return near(
      "swiglu", c.count, 4096, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const float* row = &a.host[i / columns * depth];
        const double x = dot(row, 1, &gate.host[i % columns * depth], 1, depth);
        return x / (1 + std::exp(-x)) * dot(row, 1, &value.host[i % columns * depth], 1, depth);
      },
      0.005);
}

// --- batches -------------------------------------------------------------------------------------------------------------------------
/// Stresses many short blocks, one an SM: filling and emptying the stages weighs more than the steps; a group has two rows of products.
__global__ void __launch_bounds__(384, 1)
    batched(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
            const __grid_constant__ CUtensorMap map_c, int steps) {
  constexpr int kBytes = 3 * kTile;
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  Turn<kStages> turn;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1, batch = blockIdx.z;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    for (int step = 0; step < steps; ++step, turn.next()) {
      unsigned char* stage = memory + turn.place * kBytes;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], kBytes);
      copy3(stage, &map_a, &ring.full[turn.place], step * 64, blockIdx.y * 256, batch);
      copy3(stage + 2 * kTile, &map_b, &ring.full[turn.place], step * 64, blockIdx.x * kSide, batch);
    }
    return;
  }
  many_registers();
  float upper[64], lower[64];
  consume(ring, turn, steps, [&](int place, int step) {
    const unsigned char* stage = memory + place * kBytes;
    const uint64_t a = descriptor(stage + group * kTile), b = descriptor(stage + 2 * kTile);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      multiply128(upper, a + 2 * k, b + 2 * k, step > 0 || k > 0);
      multiply128(lower, a + 2 * k + 512, b + 2 * k, step > 0 || k > 0);
    }
  });
  keep(upper);
  keep(lower);
  // The other group's products may still read the stages, so results go over rows of A that only this group reads, of two stages.
  unsigned char* results[2] = {memory + group * kTile, memory + kBytes + group * kTile};
  put_boxes<64>(results[0], [&](int i) { return pair_of(upper[i], upper[i + 1]); });
  put_boxes<64>(results[1], [&](int i) { return pair_of(lower[i], lower[i + 1]); });
  proxy_fence();
  group_barrier(1 + group, 128);
  if (leads()) {
    for (int box = 0; box < 4; ++box)
      store3(&map_c, results[box / 2] + box % 2 * 8192, blockIdx.x * kSide + box % 2 * 64,
             blockIdx.y * 256 + group * kSide + box / 2 * 64, batch);
    stores_commit();
    stores_done();
  }
}

int run_batched(int batches, int rows, int columns, int depth) {
  Data<bf16> a(static_cast<size_t>(batches) * rows * depth, 1),
      b(static_cast<size_t>(batches) * columns * depth, 2);
  Results<bf16> c(static_cast<size_t>(batches) * rows * columns);
  constexpr int kMemory = 1024 + kStages * 3 * kTile;
  allow(batched, kMemory);
  batched<<<dim3(columns / kSide, rows / 256, batches), 384, kMemory>>>(
      volume_map(kType, 2, a.device, depth, rows, batches, 256, 1),
      volume_map(kType, 2, b.device, depth, columns, batches, kSide, 1),
      volume_map(kType, 2, c.device, columns, rows, batches, 64, 1), depth / 64);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return near(
      "batched", c.count, 8192, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const size_t row = i / columns, column = row / rows * columns + i % columns;
        return dot(&a.host[row * depth], 1, &b.host[column * depth], 1, depth);
      },
      0.004);
}

// --- a fused MLP ---------------------------------------------------------------------------------------------------------------------
/// Stresses two products that wait for each other through shared memory, with 160 sums a thread; w1 and w2 have 64 KiB a stage.
__global__ void __launch_bounds__(384, 1)
    mlp(const __grid_constant__ CUtensorMap map_x, const __grid_constant__ CUtensorMap map_w1,
        const __grid_constant__ CUtensorMap map_w2, bf16* out, int parts, float scale) {
  constexpr int kDepth = 2, kX = 4 * kTile, kBytes = 4 * kTile;
  __shared__ Ring<kDepth> ring;
  __shared__ uint64_t inputs;
  unsigned char* memory = aligned_memory();
  if (threadIdx.x == 0) init(&inputs, 1);
  ring.start(2);
  Turn<kDepth> turn;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    expect(&inputs, kX);
    for (int i = 0; i < 4; ++i) copy2(memory + i * kTile, &map_x, &inputs, i * 64, blockIdx.x * kSide);
    for (int part = 0; part < parts; ++part, turn.next()) {
      unsigned char* stage = memory + kX + turn.place * kBytes;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], kBytes);
      for (int i = 0; i < 4; ++i) copy2(stage + i * 8192, &map_w1, &ring.full[turn.place], i * 64, part * 64);
      copy2(stage + 2 * kTile, &map_w2, &ring.full[turn.place], part * 64, 0);
    }
    return;
  }
  many_registers();
  unsigned char* own = memory + kX + kDepth * kBytes + group * 8192;
  float sums[128];
  wait(&inputs, 0);
  for (int part = 0; part < parts; ++part, turn.next()) {
    const unsigned char* stage = memory + kX + turn.place * kBytes;
    float hidden[32];
    wait(&ring.full[turn.place], turn.parity);
    products_begin();
#pragma unroll
    for (int k = 0; k < 16; ++k)
      multiply64(hidden, descriptor(memory + k / 4 * kTile + group * 8192) + 2 * (k % 4),
                 descriptor(stage + k / 4 * 8192) + 2 * (k % 4), k > 0);
    products_commit();
    products_wait<0>();
    keep(hidden);
    put_boxes<32>(own,
                  [&](int i) { return pair_of(gelu_of(hidden[i] * scale), gelu_of(hidden[i + 1] * scale)); });
    proxy_fence();
    group_barrier(1 + group, 128);
    products_begin();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      multiply256(sums, descriptor(own) + 2 * k, descriptor(stage + 2 * kTile) + 2 * k, part > 0 || k > 0);
    products_commit();
    products_wait<0>();
    group_barrier(1 + group, 128);
    if (leads()) arrive(&ring.empty[turn.place]);
  }
  keep(sums);
  const int lane = threadIdx.x % 32, row = group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
  bf16* to = out + static_cast<size_t>(blockIdx.x * kSide + row) * 256 + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < 128; j += 2)
    *reinterpret_cast<uint32_t*>(to + j / 2 % 2 * 8 * 256 + j / 4 * 8) = pair_of(sums[j], sums[j + 1]);
}

int run_mlp(int rows, int hidden) {
  const float scale = 0.125f;
  Data<bf16> x(static_cast<size_t>(rows) * 256, 1), w1(static_cast<size_t>(hidden) * 256, 2),
      w2(static_cast<size_t>(hidden) * 256, 3);
  Results<bf16> out(static_cast<size_t>(rows) * 256);
  constexpr int kMemory = 1024 + 13 * kTile;
  allow(mlp, kMemory);
  mlp<<<rows / kSide, 384, kMemory>>>(
      matrix_map(kType, 2, x.device, rows, 256, kSide), matrix_map(kType, 2, w1.device, hidden, 256, 64),
      matrix_map(kType, 2, w2.device, 256, hidden, 256), out.device, hidden / 64, scale);
  CHECK(cudaDeviceSynchronize());
  const auto got = out.back();
  return near(
      "mlp", out.count, 512, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        double sum = 0;
        for (int h = 0; h < hidden; ++h) {
          const double y =
              scale * dot(&x.host[i / 256 * 256], 1, &w1.host[static_cast<size_t>(h) * 256], 1, 256);
          const double gelu_of_y = 0.5 * y * (1 + std::tanh(0.7978845608 * (y + 0.044715 * y * y * y)));
          sum += static_cast<double>(static_cast<float>(static_cast<bf16>(static_cast<float>(gelu_of_y)))) *
                 w2.host[i % 256 * hidden + h];
        }
        return sum;
      },
      0.008);
}

}  // namespace

int main(int count, char** words) {
  int sizes[4] = {};
  for (int i = 2; i < count && i < 6; ++i) sizes[i - 2] = std::atoi(words[i]);
  if (count == 5 && same(words[1], "gelu")) return run_gelu(sizes[0], sizes[1], sizes[2]);
  if (count == 5 && same(words[1], "swiglu")) return run_swiglu(sizes[0], sizes[1], sizes[2]);
  if (count == 6 && same(words[1], "batched")) return run_batched(sizes[0], sizes[1], sizes[2], sizes[3]);
  if (count == 4 && same(words[1], "mlp")) return run_mlp(sizes[0], sizes[1]);
  return std::fprintf(stderr,
                      "expected gelu|swiglu ROWS COLUMNS DEPTH, batched and four sizes, mlp and two\n"),
         2;
}
