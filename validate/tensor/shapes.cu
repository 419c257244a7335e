// Products whose first operand is no plain matrix, by the bulk tensor copies that make one of it; bfloat16, warp-specialised.
//   convolution  3 x 3 over IMAGES of SIZE x SIZE pixels and CHANNELS channels by im2col copies; as many channels come out
//   gather       rows picked by an index, each copied by itself: gather ROWS COLUMNS DEPTH
//   grouped      groups of unequal rows, each with columns of its own; a block edits a tensor map for its group: grouped GROUPS COLUMNS DEPTH
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90a,code=sm_90a -o shapes shapes.cu
//   ./shapes convolution IMAGES SIZE CHANNELS
#include "hopper.cuh"

namespace {

using bf16 = __nv_bfloat16;

/// Two groups multiply what `ring` holds, stage after stage, and store their sums.
__device__ __forceinline__ void multiply_all(Ring<kStages>& ring, unsigned char* memory, int group, int steps,
                                             float (&sums)[64]) {
  Turn<kStages> turn;
  for (int step = 0; step < steps; ++step, turn.next()) {
    wait(&ring.full[turn.place], turn.parity);
    unsigned char* stage = memory + turn.place * 2 * kTile;
    multiply_stage(sums, descriptor(stage + group * kTile / 2), descriptor(stage + kTile),
                   [&](auto& d, uint64_t a, uint64_t b, int k) { multiply128(d, a, b, step > 0 || k > 0); });
    products_wait<0>();
    if (threadIdx.x % 128 == 0) arrive(&ring.empty[turn.place]);
  }
  keep(sums);
}

/// A row of C is a pixel, a column a channel; the depth runs over the filter's places and 64 channels at a time.
__global__ void __launch_bounds__(384, 1)
    convolution(const __grid_constant__ CUtensorMap map_pixels,
                const __grid_constant__ CUtensorMap map_filter, float* c, int size, int channels) {
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  const int group = static_cast<int>(threadIdx.x) / 128 - 1, parts = channels / 64, steps = 9 * parts;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    const int pixel = blockIdx.y * kSide, w = pixel % size, h = pixel / size % size, n = pixel / size / size;
    Turn<kStages> turn;
    for (int step = 0; step < steps; ++step, turn.next()) {
      unsigned char* stage = memory + turn.place * 2 * kTile;
      const int place = step / parts, part = step % parts;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], 2 * kTile);
      copy_pixels(stage, &map_pixels, &ring.full[turn.place], part * 64, w - 1, h - 1, n,
                  static_cast<uint16_t>(place % 3), static_cast<uint16_t>(place / 3));
      copy2(stage + kTile, &map_filter, &ring.full[turn.place], place * channels + part * 64,
            blockIdx.x * kSide);
    }
    return;
  }
  many_registers();
  float sums[64];
  multiply_all(ring, memory, group, steps, sums);
  store_sums(sums, c, channels, blockIdx.y * kSide + group * 64, blockIdx.x * kSide);
}

/// The copying group's first warp brings four rows a lane.
__global__ void __launch_bounds__(384, 1)
    gather(const __grid_constant__ CUtensorMap map_row, const __grid_constant__ CUtensorMap map_b,
           const int* index, float* c, int columns, int steps) {
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  const int group = static_cast<int>(threadIdx.x) / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x >= 32) return;
    int rows[4];
    for (int i = 0; i < 4; ++i) rows[i] = index[blockIdx.y * kSide + threadIdx.x * 4 + i];
    Turn<kStages> turn;
    for (int step = 0; step < steps; ++step, turn.next()) {
      unsigned char* stage = memory + turn.place * 2 * kTile;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      if (threadIdx.x == 0) {
        expect(&ring.full[turn.place], 2 * kTile);
        copy2(stage + kTile, &map_b, &ring.full[turn.place], step * 64, blockIdx.x * kSide);
      }
      __syncwarp();
      for (int i = 0; i < 4; ++i)
        copy2(stage + (threadIdx.x * 4 + i) * 128, &map_row, &ring.full[turn.place], step * 64, rows[i]);
    }
    return;
  }
  many_registers();
  float sums[64];
  multiply_all(ring, memory, group, steps, sums);
  store_sums(sums, c, columns, blockIdx.y * kSide + group * 64, blockIdx.x * kSide);
}

struct Group {
  const bf16* rows;  // of A
  int count, first;  // rows; the first of C
};

/// tiles: of a block of the grid's second dimension, its group and the row in it. maps: 128 bytes a block.
__global__ void __launch_bounds__(384, 1)
    grouped(const __grid_constant__ CUtensorMap map_any, const __grid_constant__ CUtensorMap map_b,
            const Group* groups, const int2* tiles, CUtensorMap* maps, float* c, int columns, int steps) {
  __shared__ Ring<kStages> ring;
  __shared__ alignas(128) CUtensorMap edited;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  const int2 tile = tiles[blockIdx.y];
  const Group of = groups[tile.x];
  const int group = static_cast<int>(threadIdx.x) / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x >= 32) return;
    CUtensorMap* map = maps + blockIdx.y * gridDim.x + blockIdx.x;
    reinterpret_cast<uint32_t*>(&edited)[threadIdx.x] =
        reinterpret_cast<const uint32_t*>(&map_any)[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) {
      asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(
                       shared_place(&edited)),
                   "l"(of.rows)
                   : "memory");
      asm volatile(
          "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(shared_place(&edited)),
          "r"(of.count)
          : "memory");
    }
    __syncwarp();
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], "
        "128;" ::"l"(map),
        "r"(shared_place(&edited))
        : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
    if (threadIdx.x != 0) return;
    Turn<kStages> turn;
    for (int step = 0; step < steps; ++step, turn.next()) {
      unsigned char* stage = memory + turn.place * 2 * kTile;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], 2 * kTile);
      copy2(stage, map, &ring.full[turn.place], step * 64, tile.y);
      copy2(stage + kTile, &map_b, &ring.full[turn.place], step * 64, tile.x * columns + blockIdx.x * kSide);
    }
    return;
  }
  many_registers();
  float sums[64];
  multiply_all(ring, memory, group, steps, sums);
  const int lane = threadIdx.x % 32, row = tile.y + group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    const int at = row + i / 2 % 2 * 8;
    if (at < of.count)
      c[static_cast<size_t>(of.first + at) * columns + blockIdx.x * kSide + i / 4 * 8 + lane % 4 * 2 +
        i % 2] = sums[i];
  }
}

// --- host ----------------------------------------------------------------------------------------------------------------------------
constexpr int kMemory = 1024 + kStages * 2 * kTile;
constexpr CUtensorMapDataType kType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;

double product_of(const std::vector<float>& a, size_t row, const std::vector<float>& b, size_t column,
                  int depth) {
  double sum = 0;
  for (int k = 0; k < depth; ++k) sum += static_cast<double>(a[row * depth + k]) * b[column * depth + k];
  return sum;
}

int run_convolution(int images, int size, int channels) {
  const int pixels = images * size * size;
  Data<bf16> image(static_cast<size_t>(pixels) * channels, 1),
      filter(static_cast<size_t>(channels) * 9 * channels, 2);
  Data<float> c(static_cast<size_t>(pixels) * channels, 0, true);
  CUtensorMap map;
  const cuuint64_t line = static_cast<cuuint64_t>(channels) * 2, side = static_cast<cuuint64_t>(size);
  const cuuint64_t sizes[4] = {static_cast<cuuint64_t>(channels), side, side,
                               static_cast<cuuint64_t>(images)};
  const cuuint64_t pitch[3] = {line, line * side, line * side * side};
  const int lower[2] = {-1, -1}, upper[2] = {-1, -1};
  const cuuint32_t step[4] = {1, 1, 1, 1};
  const auto encode = driver_function<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  if (encode(&map, kType, 4, image.device, sizes, pitch, lower, upper, 64, kSide, step,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    return std::fprintf(stderr, "cuTensorMapEncodeIm2col failed\n"), 1;
  const CUtensorMap map_filter = matrix_map(kType, 2, filter.device, channels, 9 * channels, kSide);
  allow(convolution, kMemory);
  convolution<<<dim3(channels / kSide, pixels / kSide), 384, kMemory>>>(map, map_filter, c.device, size,
                                                                        channels);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return compare(
      "convolution", got.size(), 1 + got.size() / 2048, [&](size_t i) { return got[i]; },
      [&](size_t i) {
        const int pixel = static_cast<int>(i / channels), out = static_cast<int>(i % channels);
        const int x = pixel % size, y = pixel / size % size, n = pixel / size / size;
        double sum = 0;
        for (int place = 0; place < 9; ++place) {
          const int at_x = x + place % 3 - 1, at_y = y + place / 3 - 1;
          if (at_x < 0 || at_y < 0 || at_x >= size || at_y >= size) continue;
          for (int k = 0; k < channels; ++k)
            sum += static_cast<double>(
                       image.host[(static_cast<size_t>(n * size + at_y) * size + at_x) * channels + k]) *
                   filter.host[(static_cast<size_t>(out) * 9 + place) * channels + k];
        }
        return sum;
      },
      0.0);
}

int run_gather(int rows, int columns, int depth) {
  const int all = 2 * rows + 37;
  Data<bf16> a(static_cast<size_t>(all) * depth, 1), b(static_cast<size_t>(columns) * depth, 2);
  Data<float> c(static_cast<size_t>(rows) * columns, 0, true);
  std::vector<int> index(rows);
  for (int i = 0; i < rows; ++i) index[i] = static_cast<int>(static_cast<unsigned>(i) * 2654435761u % all);
  int* index_device;
  CHECK(cudaMalloc(&index_device, rows * 4));
  CHECK(cudaMemcpy(index_device, index.data(), rows * 4, cudaMemcpyHostToDevice));
  allow(gather, kMemory);
  gather<<<dim3(columns / kSide, rows / kSide), 384, kMemory>>>(
      matrix_map(kType, 2, a.device, all, depth, 1), matrix_map(kType, 2, b.device, columns, depth, kSide),
      index_device, c.device, columns, depth / 64);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return compare(
      "gather", got.size(), 1 + got.size() / 4096, [&](size_t i) { return got[i]; },
      [&](size_t i) { return product_of(a.host, index[i / columns], b.host, i % columns, depth); }, 0.0);
}

int run_grouped(int count, int columns, int depth) {
  std::vector<Group> groups;
  std::vector<int2> tiles;
  std::vector<int> group_of_row;
  int rows = 0;
  for (int g = 0; g < count; ++g) {
    const int some = 40 + g * 97 % 300;
    groups.push_back({nullptr, some, rows});
    for (int at = 0; at < some; at += kSide) tiles.push_back({g, at});
    group_of_row.insert(group_of_row.end(), static_cast<size_t>(some), g);
    rows += some;
  }
  Data<bf16> a(static_cast<size_t>(rows) * depth, 1), b(static_cast<size_t>(count) * columns * depth, 2);
  Data<float> c(static_cast<size_t>(rows) * columns, 0, true);
  for (Group& group : groups) group.rows = a.device + static_cast<size_t>(group.first) * depth;
  Group* groups_device;
  int2* tiles_device;
  CUtensorMap* maps;
  const dim3 grid(columns / kSide, static_cast<unsigned>(tiles.size()));
  CHECK(cudaMalloc(&groups_device, groups.size() * sizeof(Group)));
  CHECK(cudaMemcpy(groups_device, groups.data(), groups.size() * sizeof(Group), cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&tiles_device, tiles.size() * sizeof(int2)));
  CHECK(cudaMemcpy(tiles_device, tiles.data(), tiles.size() * sizeof(int2), cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&maps, sizeof(CUtensorMap) * grid.x * grid.y));
  allow(grouped, kMemory);
  grouped<<<grid, 384, kMemory>>>(matrix_map(kType, 2, a.device, rows, depth, kSide),
                                  matrix_map(kType, 2, b.device, count * columns, depth, kSide),
                                  groups_device, tiles_device, maps, c.device, columns, depth / 64);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return compare(
      "grouped", got.size(), 1 + got.size() / 4096, [&](size_t i) { return got[i]; },
      [&](size_t i) {
        return product_of(a.host, i / columns, b.host,
                          static_cast<size_t>(group_of_row[i / columns]) * columns + i % columns, depth);
      },
      0.0);
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return std::fprintf(stderr, "expected convolution|gather|grouped and three sizes\n"), 2;
  const int x = std::atoi(words[2]), y = std::atoi(words[3]), z = std::atoi(words[4]);
  if (std::strcmp(words[1], "convolution") == 0) return run_convolution(x, y, z);
  return std::strcmp(words[1], "gather") == 0 ? run_gather(x, y, z) : run_grouped(x, y, z);
}
