// Kernels in which a product is one part of something larger, by wgmma; bfloat16.
//   linear   linear attention in chunks of 64: a block has a head and carries its state of 64 x 64 along: linear HEADS LENGTH
//   norm     rows of 512 are normalised by the threads that multiply them afterwards, while weights come: norm ROWS COLUMNS PARTS
//   cluster  clusters of four divide the depth and add their sums over distributed shared memory: cluster ROWS COLUMNS DEPTH
//   small    products of 64 x 64 x 64, one a warp group, found by pointers: small COUNT
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90a,code=sm_90a -o fused fused.cu
//   ./fused WAY SIZES
#include "warps.cuh"

namespace {

constexpr CUtensorMapDataType kType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
constexpr float kDecay = 0.75f;  // of a linear attention's state from chunk to chunk

// --- linear attention ----------------------------------------------------------------------------------------------------------------
/// Stresses a chain: scores and the state's share, then weights times values and the next state, which goes through shared memory to
/// the next chunk. Both operands of the state's product are transposed.
__global__ void __launch_bounds__(128)
    linear(const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_k,
           const __grid_constant__ CUtensorMap map_v, bf16* out, int length) {
  constexpr int kAhead = 3, kPart = 8192, kBytes = 3 * kPart;
  __shared__ uint64_t full[kAhead];
  unsigned char* memory = aligned_memory();
  unsigned char* carried = memory + kAhead * kBytes;
  const int chunks = length / 64, base = blockIdx.x * length, lane = threadIdx.x % 32,
            row = threadIdx.x / 32 * 16 + lane / 4;
  const auto fetch = [&](int chunk) {
    unsigned char* stage = memory + chunk % kAhead * kBytes;
    uint64_t* barrier = &full[chunk % kAhead];
    expect(barrier, kBytes);
    copy2(stage, &map_q, barrier, 0, base + chunk * 64);
    copy2(stage + kPart, &map_k, barrier, 0, base + chunk * 64);
    copy2(stage + 2 * kPart, &map_v, barrier, 0, base + chunk * 64);
  };
  if (threadIdx.x == 0) {
    for (uint64_t& barrier : full) init(&barrier, 1);
    fence_init();
    for (int chunk = 0; chunk < kAhead && chunk < chunks; ++chunk) fetch(chunk);
  }
  float state[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) state[i] = 0;
  put_boxes<32>(carried, [](int) { return 0u; });
  proxy_fence();
  __syncthreads();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const unsigned char* stage = memory + chunk % kAhead * kBytes;
    float scores[32], result[32];
    wait(&full[chunk % kAhead], chunk / kAhead % 2);
    products_begin();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      multiply64(scores, descriptor(stage) + 2 * k, descriptor(stage + kPart) + 2 * k, k > 0);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      multiply64_nt(result, descriptor(stage) + 2 * k, descriptor(carried) + 128 * k, k > 0);
    products_commit();
    products_wait<0>();
    hold(scores);
    hold(result);
    uint32_t weights[4][4];
#pragma unroll
    for (int i = 0; i < 32; i += 2) {
      const int query = row + i / 2 % 2 * 8, key = i / 4 * 8 + lane % 4 * 2;
      weights[i / 8][i / 2 % 4] =
          pair_of(key > query ? 0.0f : scores[i], key + 1 > query ? 0.0f : scores[i + 1]);
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) state[i] *= kDecay;
    hold(state);
    products_begin();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      multiply_fragment64_t(result, weights[k], descriptor(stage + 2 * kPart) + 128 * k);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      multiply64_tt(state, descriptor(stage + kPart) + 128 * k, descriptor(stage + 2 * kPart) + 128 * k);
    products_commit();
    products_wait<0>();
    hold(result);
    hold(state);
    __syncthreads();  // all have multiplied by the old state
    put_boxes<32>(carried, [&](int i) { return pair_of(state[i], state[i + 1]); });
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0 && chunk + kAhead < chunks) fetch(chunk + kAhead);
    bf16* to = out + static_cast<size_t>(base + chunk * 64 + row) * 64 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 32; i += 2)
      *reinterpret_cast<uint32_t*>(to + i / 2 % 2 * 512 + i / 4 * 8) =
          pair_of(result[i] * 0.125f, result[i + 1] * 0.125f);
  }
}

int run_linear(int heads, int length) {
  const size_t count = static_cast<size_t>(heads) * length * 64;
  Data<bf16> q(count, 1), k(count, 2), v(count, 3);
  Results<bf16> out(count);
  constexpr int kMemory = 1024 + 10 * 8192;
  const auto map = [&](Data<bf16>& data) {
    return matrix_map(kType, 2, data.device, heads * length, 64, 64);
  };
  allow(linear, kMemory);
  linear<<<heads, 128, kMemory>>>(map(q), map(k), map(v), out.device, length);
  CHECK(cudaDeviceSynchronize());
  const auto got = out.back();
  return near(
      "linear", count, 1024, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const size_t query = i / 64, base = query / length * length;
        double sum = 0;
        for (size_t key = base; key <= query; ++key) {
          const int apart = static_cast<int>((query - base) / 64 - (key - base) / 64);
          sum += (apart ? std::pow(kDecay, apart - 1) : 1.0) *
                 dot(&q.host[query * 64], 1, &k.host[key * 64], 1, 64) * v.host[key * 64 + i % 64];
        }
        return sum * 0.125;
      },
      0.03);
}

// --- a normalised operand ------------------------------------------------------------------------------------------------------------
constexpr int kWide = 512;

/// Stresses a long start in which only copies of weights run ahead, and an operand that stays in shared memory for all columns.
__global__ void __launch_bounds__(384, 1)
    norm(const bf16* x, const float* gain, const float* shift,
         const __grid_constant__ CUtensorMap map_weights, bf16* out, int columns) {
  constexpr int kSteps = kWide / 64;
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  unsigned char* weights = memory + kSteps * kTile;
  ring.start(2);
  Turn<kStages> turn;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    for (int tile = blockIdx.x; tile < columns / kSide; tile += gridDim.x)
      for (int step = 0; step < kSteps; ++step, turn.next()) {
        wait(&ring.empty[turn.place], turn.parity ^ 1);
        expect(&ring.full[turn.place], kTile);
        copy2(weights + turn.place * kTile, &map_weights, &ring.full[turn.place], step * 64, tile * kSide);
      }
    return;
  }
  many_registers();
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, row0 = group * 64 + warp * 16;
  // A lane has columns 8 lane to 8 lane + 7, and those 256 further on.
  for (int row = row0; row < row0 + 16; ++row) {
    const uint4* from =
        reinterpret_cast<const uint4*>(x + static_cast<size_t>(blockIdx.y * kSide + row) * kWide);
    float values[16], sum = 0, squares = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const uint4 four = from[lane + i * 32];
      const uint32_t pairs[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 two = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(pairs[j]));
        values[i * 8 + j * 2] = two.x, values[i * 8 + j * 2 + 1] = two.y;
      }
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += values[i], squares += values[i] * values[i];
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2)
      sum += __shfl_xor_sync(~0u, sum, apart), squares += __shfl_xor_sync(~0u, squares, apart);
    const float mean = sum / kWide, over = rsqrtf(squares / kWide - mean * mean + 1e-5f);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int chunk = lane + i * 32;
      const float4* gains = reinterpret_cast<const float4*>(gain) + chunk * 2;
      const float4* shifts = reinterpret_cast<const float4*>(shift) + chunk * 2;
      uint32_t pairs[4];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float4 g = gains[j], s = shifts[j];
        const float* at = values + i * 8 + j * 4;
        pairs[2 * j] = pair_of((at[0] - mean) * over * g.x + s.x, (at[1] - mean) * over * g.y + s.y);
        pairs[2 * j + 1] = pair_of((at[2] - mean) * over * g.z + s.z, (at[3] - mean) * over * g.w + s.w);
      }
      *reinterpret_cast<uint4*>(memory + chunk / 8 * kTile + swizzled(row, chunk % 8)) =
          make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    }
  }
  proxy_fence();
  group_barrier(1 + group, 128);
  for (int tile = blockIdx.x; tile < columns / kSide; tile += gridDim.x) {
    float sums[64];
    consume(ring, turn, kSteps, [&](int place, int step) {
      const uint64_t a = descriptor(memory + step * kTile + group * 8192),
                     b = descriptor(weights + place * kTile);
#pragma unroll
      for (int k = 0; k < 4; ++k) multiply128(sums, a + 2 * k, b + 2 * k, step > 0 || k > 0);
    });
    keep(sums);
    bf16* to = out + static_cast<size_t>(blockIdx.y * kSide + row0 + lane / 4) * columns + tile * kSide +
               lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 64; j += 2)
      *reinterpret_cast<uint32_t*>(to + static_cast<size_t>(j / 2 % 2 * 8) * columns + j / 4 * 8) =
          pair_of(sums[j], sums[j + 1]);
  }
}

int run_norm(int rows, int columns, int parts) {
  Data<bf16> x(static_cast<size_t>(rows) * kWide, 1), weights(static_cast<size_t>(columns) * kWide, 2);
  Data<float> gain(kWide, 3), shift(kWide, 4);
  Results<bf16> out(static_cast<size_t>(rows) * columns);
  constexpr int kMemory = 1024 + (kWide / 64 + kStages) * kTile;
  allow(norm, kMemory);
  norm<<<dim3(parts, rows / kSide), 384, kMemory>>>(
      x.device, gain.device, shift.device, matrix_map(kType, 2, weights.device, columns, kWide, kSide),
      out.device, columns);
  CHECK(cudaDeviceSynchronize());
  const auto got = out.back();
  return near(
      "norm", out.count, 2048, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const float* row = &x.host[i / columns * kWide];
        double mean = 0, squares = 0, sum = 0;
        for (int k = 0; k < kWide; ++k) mean += row[k], squares += static_cast<double>(row[k]) * row[k];
        mean /= kWide;
        const double over = 1 / std::sqrt(squares / kWide - mean * mean + 1e-5);
        for (int k = 0; k < kWide; ++k)
          sum += static_cast<double>(static_cast<float>(static_cast<bf16>(
                     static_cast<float>((row[k] - mean) * over * gain.host[k] + shift.host[k])))) *
                 weights.host[i % columns * kWide + k];
        return sum;
      },
      0.02);
}

// --- a divided depth -----------------------------------------------------------------------------------------------------------------
constexpr int kPitch = 132;  // numbers from row to row of a block's sums

__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
__device__ __forceinline__ float4 load_from(const float* p, uint32_t rank) {
  float4 x;
  asm volatile(
      "{\n.reg .b32 at;\nmapa.shared::cluster.u32 at, %4, %5;\nld.shared::cluster.v4.f32 {%0, %1, %2, %3}, "
      "[at];\n}"
      : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
      : "r"(shared_place(p)), "r"(rank)
      : "memory");
  return x;
}

/// Stresses reads of other blocks' shared memory and barriers of a cluster. Block r of four adds and writes rows 32 r to 32 r + 31.
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(384, 1)
    cluster(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c,
            int columns, int steps) {
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  Turn<kStages> turn;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1, rank = blockIdx.x % 4,
            column0 = blockIdx.x / 4 * kSide;
  float* partial = reinterpret_cast<float*>(memory);
  if (group < 0) {
    few_registers();
    if (threadIdx.x == 0)
      for (int step = 0; step < steps; ++step, turn.next()) {
        unsigned char* stage = memory + turn.place * 2 * kTile;
        wait(&ring.empty[turn.place], turn.parity ^ 1);
        expect(&ring.full[turn.place], 2 * kTile);
        copy2(stage, &map_a, &ring.full[turn.place], (rank * steps + step) * 64, blockIdx.y * kSide);
        copy2(stage + kTile, &map_b, &ring.full[turn.place], (rank * steps + step) * 64, column0);
      }
  } else {
    many_registers();
    float sums[64];
    consume(ring, turn, steps, [&](int place, int step) {
      const unsigned char* stage = memory + place * 2 * kTile;
      const uint64_t a = descriptor(stage + group * 8192), b = descriptor(stage + kTile);
#pragma unroll
      for (int k = 0; k < 4; ++k) multiply128(sums, a + 2 * k, b + 2 * k, step > 0 || k > 0);
    });
    keep(sums);
    group_barrier(1, 256);  // nobody multiplies from the stages any more
    store_sums(sums, partial, kPitch, group * 64, 0);
  }
  cluster_barrier();
  if (group >= 0)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int place = static_cast<int>(threadIdx.x) - 128 + i * 256, row = rank * 32 + place / 32,
                column = place % 32 * 4;
      float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
      for (uint32_t from = 0; from < 4; ++from) {
        const float4 x = load_from(partial + row * kPitch + column, from);
        sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
      }
      *reinterpret_cast<float4*>(c + static_cast<size_t>(blockIdx.y * kSide + row) * columns + column0 +
                                 column) = sum;
    }
  cluster_barrier();
}

int run_cluster(int rows, int columns, int depth) {
  Data<bf16> a(static_cast<size_t>(rows) * depth, 1), b(static_cast<size_t>(columns) * depth, 2);
  Results<float> c(static_cast<size_t>(rows) * columns);
  constexpr int kMemory = 1024 + kStages * 2 * kTile;
  allow(cluster, kMemory);
  cluster<<<dim3(columns / kSide * 4, rows / kSide), 384, kMemory>>>(
      matrix_map(kType, 2, a.device, rows, depth, kSide),
      matrix_map(kType, 2, b.device, columns, depth, kSide), c.device, columns, depth / 256);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return near(
      "cluster", c.count, 4096, [&](size_t i) { return got[i]; },
      [&](size_t i) { return dot(&a.host[i / columns * depth], 1, &b.host[i % columns * depth], 1, depth); },
      0.0);
}

// --- many small products -------------------------------------------------------------------------------------------------------------
struct Small {
  const bf16 *a, *b;
  bf16* c;
};

/// Stresses short blocks without a loop: a warp group brings two operands, has four products, and writes 8 KiB through shared memory.
__global__ void __launch_bounds__(256) small(const Small* products) {
  const int group = threadIdx.x / 128, thread = threadIdx.x % 128;
  unsigned char* own = aligned_memory() + group * kTile;
  const Small of = products[blockIdx.x * 2 + group];
  const uint32_t to = shared_place(own) + swizzled(thread / 8, thread % 8);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    copy16(to + i * 2048, of.a + (thread + i * 128) * 8);
    copy16(to + 8192 + i * 2048, of.b + (thread + i * 128) * 8);
  }
  copies_commit();
  copies_wait<0>();
  proxy_fence();
  group_barrier(1 + group, 128);
  float sums[32];
  multiply_stage(sums, descriptor(own), descriptor(own + 8192),
                 [](auto& d, uint64_t a, uint64_t b, int k) { multiply64(d, a, b, k > 0); });
  products_wait<0>();
  hold(sums);
  group_barrier(1 + group, 128);
  put_boxes<32>(own, [&](int i) { return pair_of(sums[i], sums[i + 1]); });
  group_barrier(1 + group, 128);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    reinterpret_cast<uint4*>(of.c)[thread + i * 128] =
        *reinterpret_cast<const uint4*>(own + swizzled(thread / 8 + i * 16, thread % 8));
}

int run_small(int count) {
  const size_t numbers = static_cast<size_t>(count) * 4096;
  Data<bf16> a(numbers, 1), b(numbers, 2);
  Results<bf16> c(numbers);
  std::vector<Small> products;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)  // B's come in another order
    products.push_back({a.device + i * 4096, b.device + (i * 7 + 3) % count * 4096, c.device + i * 4096});
  Small* device;
  CHECK(cudaMalloc(&device, products.size() * sizeof(Small)));
  CHECK(cudaMemcpy(device, products.data(), products.size() * sizeof(Small), cudaMemcpyHostToDevice));
  constexpr int kMemory = 1024 + 2 * kTile;
  allow(small, kMemory);
  small<<<count / 2, 256, kMemory>>>(device);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return near(
      "small", numbers, 16384, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        return dot(&a.host[i / 64 * 64], 1, &b.host[(i / 4096 * 7 + 3) % count * 4096 + i % 64 * 64], 1, 64);
      },
      0.004);
}

}  // namespace

int main(int count, char** words) {
  int sizes[3] = {};
  for (int i = 2; i < count && i < 5; ++i) sizes[i - 2] = std::atoi(words[i]);
  if (count == 4 && same(words[1], "linear")) return run_linear(sizes[0], sizes[1]);
  if (count == 5 && same(words[1], "norm")) return run_norm(sizes[0], sizes[1], sizes[2]);
  if (count == 5 && same(words[1], "cluster")) return run_cluster(sizes[0], sizes[1], sizes[2]);
  if (count == 3 && same(words[1], "small")) return run_small(sizes[0]);
  return std::fprintf(stderr, "expected norm|cluster and three sizes, linear HEADS LENGTH or small COUNT\n"),
         2;
}
