// C = A B' in bfloat16 by warp-specialised kernels: a warp group copies tiles (128 x 128 bytes), two multiply. Ways of dividing the work.
//   persistent   as many blocks as SMs, tiles one after another, results by bulk tensor stores
//   pingpong     each multiplying group has tiles of its own (64 x 256); their main loops take turns
//   splitk       the depth divided among blocks, sums added by bulk tensor reductions
//   streamk      all steps of all tiles divided evenly among SMs, parts added by reductions
//   multicast    clusters of two, each block brings half of the columns' tile to both
//   cp_async     128 threads that copy by cp.async themselves, three stages
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90a,code=sm_90a -o products products.cu
//   ./products WAY ROWS COLUMNS DEPTH
#include "hopper.cuh"

namespace {

using bf16 = __nv_bfloat16;
// --- persistent ----------------------------------------------------------------------------------------------------------------------
__global__ void __launch_bounds__(384)
    persistent(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
               const __grid_constant__ CUtensorMap map_c, int tiles_n, int tiles, int steps) {
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  Turn<kStages> turn;
  const int group = threadIdx.x / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      for (int step = 0; step < steps; ++step, turn.next()) {
        wait(&ring.empty[turn.place], turn.parity ^ 1);
        expect(&ring.full[turn.place], 2 * kTile);
        copy2(memory + turn.place * 2 * kTile, &map_a, &ring.full[turn.place], step * 64,
              tile / tiles_n * kSide);
        copy2(memory + turn.place * 2 * kTile + kTile, &map_b, &ring.full[turn.place], step * 64,
              tile % tiles_n * kSide);
      }
    }
    return;
  }
  many_registers();
  unsigned char* results = memory + kStages * 2 * kTile + group * kTile;
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    float sums[64];
    for (int step = 0; step < steps; ++step, turn.next()) {
      wait(&ring.full[turn.place], turn.parity);
      unsigned char* stage = memory + turn.place * 2 * kTile;
      multiply_stage(
          sums, descriptor(stage + group * kTile / 2), descriptor(stage + kTile),
          [&](auto& d, uint64_t a, uint64_t b, int k) { multiply128(d, a, b, step > 0 || k > 0); });
      products_wait<0>();
      if (threadIdx.x % 128 == 0) arrive(&ring.empty[turn.place]);
    }
    keep(sums);
    if (threadIdx.x % 128 == 0) stores_read();
    group_barrier(1 + group, 128);
#pragma unroll
    for (int j = 0; j < 16; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = warp * 16 + lane / 4 + half * 8, chunk = j % 8 ^ row % 8;
        *reinterpret_cast<uint32_t*>(results + j / 8 * (kTile / 2) + row * 128 + chunk * 16 + lane % 4 * 4) =
            pair_of(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
      }
    }
    proxy_fence();
    group_barrier(1 + group, 128);
    if (threadIdx.x % 128 == 0) {
      for (int half = 0; half < 2; ++half)
        store2(&map_c, results + half * kTile / 2, tile % tiles_n * kSide + half * 64,
               tile / tiles_n * kSide + group * 64);
      stores_commit();
    }
  }
  if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// --- ping-pong -----------------------------------------------------------------------------------------------------------------------
__global__ void __launch_bounds__(384)
    pingpong(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, bf16* c,
             int columns, int tiles_n, int tiles, int steps) {
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  constexpr int kBytes = 64 * 128 + 256 * 128;
  ring.start(1);
  const int group = threadIdx.x / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    Turn<kStages> turn;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      for (int step = 0; step < steps; ++step, turn.next()) {
        wait(&ring.empty[turn.place], turn.parity ^ 1);
        expect(&ring.full[turn.place], kBytes);
        copy2(memory + turn.place * kBytes, &map_a, &ring.full[turn.place], step * 64, tile / tiles_n * 64);
        copy2(memory + turn.place * kBytes + 8192, &map_b, &ring.full[turn.place], step * 64,
              tile % tiles_n * 256);
      }
    }
    return;
  }
  many_registers();
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const int mine =
      (tiles - static_cast<int>(blockIdx.x) + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
  const int rounds = (mine + 1) / 2;
  if (group == 1) group_arrive(2, 256);
  for (int round = 0; round < rounds; ++round) {
    const int number = 2 * round + group, tile = blockIdx.x + number * gridDim.x;
    float sums[128];
    group_barrier(2 + group, 256);
    if (number < mine) {
      for (int step = 0; step < steps; ++step) {
        const int at = number * steps + step, place = at % kStages;
        wait(&ring.full[place], at / kStages % 2);
        unsigned char* stage = memory + place * kBytes;
        multiply_stage(
            sums, descriptor(stage), descriptor(stage + 8192),
            [&](auto& d, uint64_t a, uint64_t b, int k) { multiply256(d, a, b, step > 0 || k > 0); });
        products_wait<0>();
        if (threadIdx.x % 128 == 0) arrive(&ring.empty[place]);
      }
      keep(sums);
    }
    if (group == 0 || round + 1 < rounds) group_arrive(2 + (1 - group), 256);
    if (number >= mine) break;
    const int row = tile / tiles_n * 64 + warp * 16 + lane / 4;
    bf16* to = c + static_cast<size_t>(row) * columns + tile % tiles_n * 256 + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      *reinterpret_cast<uint32_t*>(to + 8 * j) = pair_of(sums[4 * j], sums[4 * j + 1]);
      *reinterpret_cast<uint32_t*>(to + 8 * static_cast<size_t>(columns) + 8 * j) =
          pair_of(sums[4 * j + 2], sums[4 * j + 3]);
    }
  }
}

// --- the depth divided ---------------------------------------------------------------------------------------------------------------
/// Block z takes `steps` steps from z * steps on. C has been set to zero.
__global__ void __launch_bounds__(384)
    splitk(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ CUtensorMap map_c, int steps) {
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  Turn<kStages> turn;
  const int group = threadIdx.x / 128 - 1, first = blockIdx.z * steps;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    for (int step = 0; step < steps; ++step, turn.next()) {
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], 2 * kTile);
      copy2(memory + turn.place * 2 * kTile, &map_a, &ring.full[turn.place], (first + step) * 64,
            blockIdx.y * kSide);
      copy2(memory + turn.place * 2 * kTile + kTile, &map_b, &ring.full[turn.place], (first + step) * 64,
            blockIdx.x * kSide);
    }
    return;
  }
  many_registers();
  float sums[64];
  for (int step = 0; step < steps; ++step, turn.next()) {
    wait(&ring.full[turn.place], turn.parity);
    unsigned char* stage = memory + turn.place * 2 * kTile;
    multiply_stage(sums, descriptor(stage + group * kTile / 2), descriptor(stage + kTile),
                   [&](auto& d, uint64_t a, uint64_t b, int k) { multiply128(d, a, b, step > 0 || k > 0); });
    products_wait<0>();
    if (threadIdx.x % 128 == 0) arrive(&ring.empty[turn.place]);
  }
  keep(sums);
  float* results =
      reinterpret_cast<float*>(memory + kStages * 2 * kTile + group * 2 * kTile);  // four boxes of 64 x 32
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
#pragma unroll
  for (int j = 0; j < 16; ++j) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp * 16 + lane / 4 + half * 8, column = 8 * j + lane % 4 * 2;
      const int chunk = column % 32 / 4 ^ row % 8;
      *reinterpret_cast<float2*>(results + column / 32 * 2048 + row * 32 + chunk * 4 + column % 4) =
          make_float2(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
    }
  }
  proxy_fence();
  group_barrier(1 + group, 128);
  if (threadIdx.x % 128 == 0) {
    for (int box = 0; box < 4; ++box)
      add2(&map_c, results + box * 2048, blockIdx.x * kSide + box * 32, blockIdx.y * kSide + group * 64);
    stores_commit();
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

__global__ void __launch_bounds__(384)
    streamk(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c,
            int columns, int tiles_n, int tiles, int steps) {
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  Turn<kStages> turn;
  const int group = threadIdx.x / 128 - 1, all = tiles * steps;
  const int begin = static_cast<int>(static_cast<long long>(all) * blockIdx.x / gridDim.x);
  const int end = static_cast<int>(static_cast<long long>(all) * (blockIdx.x + 1) / gridDim.x);
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    for (int unit = begin; unit < end; ++unit, turn.next()) {
      const int tile = unit / steps, step = unit % steps;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], 2 * kTile);
      copy2(memory + turn.place * 2 * kTile, &map_a, &ring.full[turn.place], step * 64,
            tile / tiles_n * kSide);
      copy2(memory + turn.place * 2 * kTile + kTile, &map_b, &ring.full[turn.place], step * 64,
            tile % tiles_n * kSide);
    }
    return;
  }
  many_registers();
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  for (int unit = begin; unit < end;) {
    const int tile = unit / steps, last = min(end, (tile + 1) * steps);
    float sums[64];
    for (bool first = true; unit < last; ++unit, turn.next(), first = false) {
      wait(&ring.full[turn.place], turn.parity);
      unsigned char* stage = memory + turn.place * 2 * kTile;
      multiply_stage(sums, descriptor(stage + group * kTile / 2), descriptor(stage + kTile),
                     [&](auto& d, uint64_t a, uint64_t b, int k) { multiply128(d, a, b, !first || k > 0); });
      products_wait<0>();
      if (threadIdx.x % 128 == 0) arrive(&ring.empty[turn.place]);
    }
    keep(sums);
    float* to = c +
                static_cast<size_t>(tile / tiles_n * kSide + group * 64 + warp * 16 + lane / 4) * columns +
                tile % tiles_n * kSide + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 16; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        atomicAdd(to + (i / 2 ? 8 * static_cast<size_t>(columns) : 0) + 8 * j + i % 2, sums[4 * j + i]);
    }
  }
}

// --- clusters ------------------------------------------------------------------------------------------------------------------------
__global__ void __cluster_dims__(1, 2, 1) __launch_bounds__(384, 1)
    multicast(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_half_b,
              float* c, int columns, int steps) {
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  const uint32_t rank = blockIdx.y % 2;
  ring.start(4);
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  Turn<kStages> turn;
  const int group = threadIdx.x / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x == 0) {
      for (int step = 0; step < steps; ++step, turn.next()) {
        unsigned char* stage = memory + turn.place * 2 * kTile;
        wait(&ring.empty[turn.place], turn.parity ^ 1);
        expect(&ring.full[turn.place], 2 * kTile);
        copy2(stage, &map_a, &ring.full[turn.place], step * 64, blockIdx.y * kSide);
        copy2_to(stage + kTile + rank * kTile / 2, &map_half_b, &ring.full[turn.place], step * 64,
                 blockIdx.x * kSide + rank * 64, 3);
      }
    }
  } else {
    many_registers();
    float sums[64];
    for (int step = 0; step < steps; ++step, turn.next()) {
      wait(&ring.full[turn.place], turn.parity);
      unsigned char* stage = memory + turn.place * 2 * kTile;
      multiply_stage(
          sums, descriptor(stage + group * kTile / 2), descriptor(stage + kTile),
          [&](auto& d, uint64_t a, uint64_t b, int k) { multiply128(d, a, b, step > 0 || k > 0); });
      products_wait<0>();
      if (threadIdx.x % 128 < 2) arrive_at(&ring.empty[turn.place], threadIdx.x % 128);
    }
    keep(sums);
    store_sums(sums, c, columns, blockIdx.y * kSide + group * 64, blockIdx.x * kSide);
  }
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

// --- copies by all threads -----------------------------------------------------------------------------------------------------------
__global__ void __launch_bounds__(128)
    cp_async(const bf16* a, const bf16* b, float* c, int columns, int depth) {
  constexpr int kBytes = 64 * 128 + kTile, kDepth = 3;
  unsigned char* memory = aligned_memory();
  const int thread = threadIdx.x, steps = depth / 64;
  const auto fetch = [&](int step) {
    if (step < steps) {
      const uint32_t to = shared_place(memory + step % kDepth * kBytes);
#pragma unroll
      for (int i = 0; i < 12; ++i) {
        const int row = thread / 8 + i * 16, chunk = thread % 8;
        const bf16* from = row < 64 ? a + static_cast<size_t>(blockIdx.y * 64 + row) * depth
                                    : b + static_cast<size_t>(blockIdx.x * kSide + row - 64) * depth;
        asm volatile(
            "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + row * 128 + (chunk ^ row % 8) * 16),
            "l"(from + step * 64 + chunk * 8)
            : "memory");
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int s = 0; s < kDepth - 1; ++s) fetch(s);
  float sums[64];
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kDepth - 2) : "memory");
    proxy_fence();
    __syncthreads();
    unsigned char* stage = memory + step % kDepth * kBytes;
    multiply_stage(sums, descriptor(stage), descriptor(stage + 8192),
                   [&](auto& d, uint64_t x, uint64_t y, int k) { multiply128(d, x, y, step > 0 || k > 0); });
    products_wait<0>();
    __syncthreads();
    fetch(step + kDepth - 1);
  }
  keep(sums);
  store_sums(sums, c, columns, blockIdx.y * 64, blockIdx.x * kSide);
}

// --- host ----------------------------------------------------------------------------------------------------------------------------
int run_bf16(const char* way, int rows, int columns, int depth) {
  Data<bf16> a(static_cast<size_t>(rows) * depth, 1), b(static_cast<size_t>(columns) * depth, 2),
      c16(static_cast<size_t>(rows) * columns, 0, true);
  Data<float> c(static_cast<size_t>(rows) * columns, 0, true);
  const auto is = [&](const char* name) { return std::strcmp(way, name) == 0; };
  const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  const CUtensorMap map_a = matrix_map(type, 2, a.device, rows, depth, is("pingpong") ? 64 : kSide);
  const CUtensorMap map_b = matrix_map(type, 2, b.device, columns, depth,
                                       is("pingpong")    ? 256
                                       : is("multicast") ? 64
                                                         : kSide);
  const int tiles_n = columns / kSide, tiles = tiles_n * rows / kSide, steps = depth / 64,
            memory = 1024 + kStages * 2 * kTile;
  bool wide = true;
  if (is("persistent")) {
    const CUtensorMap map_c = matrix_map(type, 2, c16.device, rows, columns, 64);
    allow(persistent, memory + 2 * kTile);
    persistent<<<min(tiles, sm_count()), 384, memory + 2 * kTile>>>(map_a, map_b, map_c, tiles_n, tiles,
                                                                    steps);
    wide = false;
  } else if (is("pingpong")) {
    allow(pingpong, 1024 + kStages * 40960);
    const int count = tiles;  // of 64 x 256, as many as of 128 x 128
    pingpong<<<min(count, sm_count()), 384, 1024 + kStages * 40960>>>(map_a, map_b, c16.device, columns,
                                                                      columns / 256, count, steps);
    wide = false;
  } else if (is("splitk")) {
    const CUtensorMap map_c = matrix_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, c.device, rows, columns, 64);
    const int parts = steps >= 32 ? 8 : 4;
    allow(splitk, memory + 4 * kTile);
    splitk<<<dim3(tiles_n, rows / kSide, parts), 384, memory + 4 * kTile>>>(map_a, map_b, map_c,
                                                                            steps / parts);
  } else if (is("streamk")) {
    allow(streamk, memory);
    streamk<<<sm_count(), 384, memory>>>(map_a, map_b, c.device, columns, tiles_n, tiles, steps);
  } else if (is("multicast")) {
    allow(multicast, memory);
    multicast<<<dim3(tiles_n, rows / kSide), 384, memory>>>(map_a, map_b, c.device, columns, steps);
  } else {
    allow(cp_async, 1024 + 3 * 24576);
    cp_async<<<dim3(tiles_n, rows / 64), 128, 1024 + 3 * 24576>>>(a.device, b.device, c.device, columns,
                                                                  depth);
  }
  CHECK(cudaDeviceSynchronize());
  const auto got16 = c16.back();
  const auto got = c.back();
  return compare(
      way, got.size(), 1 + got.size() / 4096,
      [&](size_t i) { return wide ? got[i] : static_cast<float>(got16[i]); },
      [&](size_t i) {
        double sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += static_cast<double>(a.host[i / columns * depth + k]) * b.host[i % columns * depth + k];
        return wide ? sum
                    : static_cast<double>(static_cast<float>(static_cast<bf16>(static_cast<float>(sum))));
      },
      0.0);
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return std::fprintf(stderr, "expected WAY ROWS COLUMNS DEPTH\n"), 2;
  return run_bf16(words[1], std::atoi(words[2]), std::atoi(words[3]), std::atoi(words[4]));
}
