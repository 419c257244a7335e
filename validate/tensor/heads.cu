// Attention in other ways than attention.cu's; bfloat16, a key's head has QUERIES query heads.
//   gqa     wgmma: a block has 16 places of 8 query heads that share keys, causal; the next scores are made while values are multiplied
//   flash   mma.sync: 4 warps have 64 queries of a head of 128 columns; keys and values by cp.async, fragments by ldmatrix
//   window  the same with 8 warps, 128 queries and 64 columns; a query sees itself and the 255 keys before it
//   decode  mma.sync: one query of 8 heads, the keys divided among blocks; the block that ends last joins the parts
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90a,code=sm_90a -o heads heads.cu
//   ./heads gqa|flash|window|decode BATCHES KEY_HEADS LENGTH
#include "warps.cuh"

namespace {

constexpr float kLog2e = 1.4426950408889634f, kLowest = -1e30f;
constexpr int kShared = 8, kWindow = 256;  // query heads of a key head; keys that a query sees

__device__ __forceinline__ float largest_of_four(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ __forceinline__ float sum_of_four(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

/// Scores become weights to a new largest score; returns by what earlier sums shrink, of the upper and the lower row.
template <int kCount>
__device__ __forceinline__ float2 soften(float (&s)[kCount], float (&largest)[2], float (&sum)[2],
                                         float scale) {
  float shrink[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float top = largest[half];
#pragma unroll
    for (int j = 0; j < kCount / 2; ++j) top = fmaxf(top, s[j / 2 * 4 + half * 2 + j % 2]);
    top = largest_of_four(top);
    shrink[half] = exp2f((largest[half] - top) * scale);
    largest[half] = top;
    sum[half] *= shrink[half];
#pragma unroll
    for (int j = 0; j < kCount / 2; ++j) {
      float& x = s[j / 2 * 4 + half * 2 + j % 2];
      x = exp2f(x * scale - top * scale);
      sum[half] += x;
    }
  }
  return make_float2(shrink[0], shrink[1]);
}

// --- shared keys, wgmma --------------------------------------------------------------------------------------------------------------
/// Queries of a group times keys, both 128 columns in two boxes.
__device__ __forceinline__ void score(float (&scores)[64], const unsigned char* queries,
                                      const unsigned char* keys) {
  products_begin();
#pragma unroll
  for (int k = 0; k < 8; ++k)
    multiply128(scores, descriptor(queries + k / 4 * kTile) + 2 * (k % 4),
                descriptor(keys + k / 4 * kTile) + 2 * (k % 4), k > 0);
  products_commit();
}
__device__ __forceinline__ void add_values(float (&result)[64], const uint32_t (&weights)[8][4],
                                           const unsigned char* values) {
  products_begin();
#pragma unroll
  for (int k = 0; k < 8; ++k) multiply_fragment128_t(result, weights[k], descriptor(values, kTile) + 128 * k);
  products_commit();
}
__device__ __forceinline__ void pack(uint32_t (&weights)[8][4], const float (&scores)[64]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) weights[i / 4][i % 4] = pair_of(scores[2 * i], scores[2 * i + 1]);
}

/// Stresses two products under way at once with exponentials between them, and blocks of unequal length, the longest first.
/// A row of a block is a place and one of 8 heads: a box of the queries' map has both.
__global__ void __launch_bounds__(384, 1)
    gqa(const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_k,
        const __grid_constant__ CUtensorMap map_v, bf16* out, int length, float scale) {
  __shared__ Ring<2> keys, values;
  __shared__ uint64_t queries;
  unsigned char* memory = aligned_memory();
  if (threadIdx.x == 0) init(&queries, 1);
  keys.start(2);
  values.start(2);
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * 16, head = blockIdx.y,
            base = blockIdx.z * length, tiles = (first + 15) / kSide + 1;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1;
  Turn<2> turn;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    expect(&queries, 2 * kTile);
    for (int i = 0; i < 2; ++i)
      copy3(memory + i * kTile, &map_q, &queries, i * 64, head * kShared, base + first);
    const auto bring = [&](Ring<2>& ring, const CUtensorMap* map, unsigned char* stage, int tile) {
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], 2 * kTile);
      for (int i = 0; i < 2; ++i)
        copy3(stage + i * kTile, map, &ring.full[turn.place], i * 64, head, base + tile * kSide);
    };
    for (int tile = tiles - 1; tile >= 0; --tile, turn.next()) {
      bring(keys, &map_k, memory + (2 + 2 * turn.place) * kTile, tile);
      bring(values, &map_v, memory + (6 + 2 * turn.place) * kTile, tile);
    }
    return;
  }
  many_registers();
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, place = first + group * 8 + warp * 2;
  float scores[64], result[64], largest[2] = {kLowest, kLowest}, sum[2] = {0, 0};
  uint32_t weights[8][4];
  const unsigned char* own = memory + group * 8192;
#pragma unroll
  for (float& x : result) x = 0;
  wait(&queries, 0);
  wait(&keys.full[0], 0);
  score(scores, own, memory + 2 * kTile);
  products_wait<0>();
  hold(scores);
  if (leads()) arrive(&keys.empty[0]);
#pragma unroll
  for (int i = 0; i < 64; ++i)
    if ((tiles - 1) * kSide + i / 4 * 8 + lane % 4 * 2 + i % 2 > place + i / 2 % 2) scores[i] = -INFINITY;
  soften(scores, largest, sum, scale);
  pack(weights, scores);
  hold(result);
  for (int tile = 1; tile < tiles; ++tile) {
    const Turn<2> before = turn;
    turn.next();
    wait(&keys.full[turn.place], turn.parity);
    score(scores, own, memory + (2 + 2 * turn.place) * kTile);
    wait(&values.full[before.place], before.parity);
    add_values(result, weights, memory + (6 + 2 * before.place) * kTile);
    products_wait<1>();
    hold(scores);
    if (leads()) arrive(&keys.empty[turn.place]);
    const float2 shrink = soften(scores, largest, sum, scale);
    products_wait<0>();
    hold(result);
    if (leads()) arrive(&values.empty[before.place]);
#pragma unroll
    for (int i = 0; i < 64; ++i) result[i] *= i / 2 % 2 ? shrink.y : shrink.x;
    pack(weights, scores);
    hold(result);
  }
  wait(&values.full[turn.place], turn.parity);
  add_values(result, weights, memory + (6 + 2 * turn.place) * kTile);
  products_wait<0>();
  hold(result);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float over = 1.0f / sum_of_four(sum[half]);
    bf16* to = out +
               ((static_cast<size_t>(base + place + half) * gridDim.y + head) * kShared + lane / 4) * 128 +
               lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 16; ++j)
      *reinterpret_cast<uint32_t*>(to + 8 * j) =
          pair_of(result[4 * j + 2 * half] * over, result[4 * j + 2 * half + 1] * over);
  }
}

// --- mma.sync ------------------------------------------------------------------------------------------------------------------------
/// Stresses ldmatrix, plain and transposed, with products of single warps; registers hold queries, scores and results.
template <int kWidth, int kWarps, bool kSees>
__global__ void __launch_bounds__(kWarps * 32)
    flash(const bf16* q, const bf16* k, const bf16* v, bf16* out, int length, float scale) {
  constexpr int kRows = kWarps * 16, kBoxes = kWidth / 64, kPart = kBoxes * 8192, kThreads = kWarps * 32;
  unsigned char* memory = aligned_memory();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = blockIdx.x * kRows;
  const size_t head = static_cast<size_t>(blockIdx.y) * length;
  const int begin = kSees ? max(0, first - kWindow + 1) / 64 : 0,
            end = kSees ? (first + kRows) / 64 : length / 64;
  const auto bring = [&](uint32_t to, const bf16* from, int rows) {
    for (int i = threadIdx.x; i < rows * kWidth / 8; i += kThreads) {
      const int row = i / (kWidth / 8), chunk = i % (kWidth / 8);
      copy16(to + chunk / 8 * rows * 128 + swizzled(row, chunk % 8), from + row * kWidth + chunk * 8);
    }
  };
  const auto fetch = [&](int tile) {
    if (tile < end) {
      const uint32_t to = shared_place(memory + kRows * kWidth * 2 + tile % 2 * 2 * kPart);
      bring(to, k + (head + tile * 64) * kWidth, 64);
      bring(to + kPart, v + (head + tile * 64) * kWidth, 64);
    }
    copies_commit();
  };
  bring(shared_place(memory), q + (head + first) * kWidth, kRows);
  copies_commit();
  fetch(begin);
  copies_wait<1>();
  __syncthreads();
  uint32_t queries[kWidth / 16][4];
#pragma unroll
  for (int i = 0; i < kWidth / 16; ++i)
    fragment_a(queries[i], shared_place(memory) + i / 4 * kRows * 128, warp * 16, i % 4 * 2);
  float result[kWidth / 8][4] = {}, largest[2] = {kLowest, kLowest}, sum[2] = {0, 0};
  for (int tile = begin; tile < end; ++tile) {
    fetch(tile + 1);
    copies_wait<1>();
    __syncthreads();
    const uint32_t stage = shared_place(memory + kRows * kWidth * 2 + tile % 2 * 2 * kPart);
    float scores[8][4] = {};
#pragma unroll
    for (int i = 0; i < kWidth / 16; ++i)
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        uint32_t keys[4];
        fragment_b(keys, stage + i / 4 * 8192, n * 16, i % 4 * 2);
        mma_bf16(scores[2 * n], queries[i], keys[0], keys[1]);
        mma_bf16(scores[2 * n + 1], queries[i], keys[2], keys[3]);
      }
    float(&flat)[32] = reinterpret_cast<float(&)[32]>(scores);
    if (kSees && (tile == begin || tile * 64 + 63 > first + warp * 16 ||
                  tile * 64 <= first + warp * 16 + 15 - kWindow)) {
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        const int query = first + warp * 16 + lane / 4 + i / 2 % 2 * 8,
                  key = tile * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (key > query || key <= query - kWindow) flat[i] = -INFINITY;
      }
    }
    const float2 shrink = soften(flat, largest, sum, scale);
#pragma unroll
    for (auto& four : result)
      four[0] *= shrink.x, four[1] *= shrink.x, four[2] *= shrink.y, four[3] *= shrink.y;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      uint32_t weights[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) weights[j] = pair_of(flat[8 * i + 2 * j], flat[8 * i + 2 * j + 1]);
#pragma unroll
      for (int n = 0; n < kWidth / 16; ++n) {
        uint32_t values[4];
        fragment_b_transposed(values, stage + kPart + n / 4 * 8192, i * 16, n % 4 * 2);
        mma_bf16(result[2 * n], weights, values[0], values[1]);
        mma_bf16(result[2 * n + 1], weights, values[2], values[3]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float over = 1.0f / sum_of_four(sum[half]);
    bf16* to = out + (head + first + warp * 16 + lane / 4 + half * 8) * kWidth + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < kWidth / 8; ++j)
      *reinterpret_cast<uint32_t*>(to + 8 * j) =
          pair_of(result[j][2 * half] * over, result[j][2 * half + 1] * over);
  }
}

// --- one query -----------------------------------------------------------------------------------------------------------------------
struct Part {
  float result[kShared][128], largest[kShared], sum[kShared];
};

/// Stresses latency: each warp copies, waits for and multiplies keys of its own, 16 at a time, without a barrier of the block; half of
/// a product's rows are zero. At the end parts go through shared memory, global memory and a counter.
__global__ void __launch_bounds__(128) decode(const bf16* q, const bf16* k, const bf16* v, bf16* out,
                                              Part* parts, unsigned* counters, int length, float scale) {
  constexpr int kAhead = 3, kBytes = 16 * 256 * 2;  // of a warp's stage: 16 keys and 16 values
  __shared__ bool last;
  unsigned char* memory = aligned_memory();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, head = blockIdx.z * gridDim.y + blockIdx.y;
  const int all = length / 16, begin = all * blockIdx.x / gridDim.x, end = all * (blockIdx.x + 1) / gridDim.x;
  const auto fetch = [&](int number) {
    const int tile = begin + number * 4 + warp;
    if (tile < end) {
      const uint32_t to = shared_place(memory + (warp * kAhead + number % kAhead) * kBytes);
      const size_t from = (static_cast<size_t>(head) * length + tile * 16) * 128;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int row = lane / 16 + i * 2, chunk = lane % 16;
        const uint32_t at = to + chunk / 8 * 2048 + swizzled(row, chunk % 8);
        copy16(at, k + from + row * 128 + chunk * 8);
        copy16(at + 4096, v + from + row * 128 + chunk * 8);
      }
    }
    copies_commit();
  };
  for (int number = 0; number < kAhead - 1; ++number) fetch(number);
  uint32_t queries[8][4];
#pragma unroll
  for (int i = 0; i < 32; ++i)
    queries[i / 4][i % 4] =
        i % 2
            ? 0u
            : *reinterpret_cast<const uint32_t*>(q + (static_cast<size_t>(head) * kShared + lane / 4) * 128 +
                                                 i / 4 * 16 + i / 2 % 2 * 8 + lane % 4 * 2);
  float result[16][4] = {}, largest[2] = {kLowest, kLowest}, sum[2] = {0, 0};
  for (int number = 0; begin + number * 4 + warp < end; ++number) {
    fetch(number + kAhead - 1);
    copies_wait<kAhead - 1>();
    __syncwarp();
    const uint32_t stage = shared_place(memory + (warp * kAhead + number % kAhead) * kBytes);
    float scores[8] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      uint32_t keys[4];
      fragment_b(keys, stage + i / 4 * 2048, 0, i % 4 * 2);
      mma_bf16(reinterpret_cast<float(&)[4]>(scores[0]), queries[i], keys[0], keys[1]);
      mma_bf16(reinterpret_cast<float(&)[4]>(scores[4]), queries[i], keys[2], keys[3]);
    }
    const float shrink = soften(scores, largest, sum, scale).x;
#pragma unroll
    for (auto& four : result) four[0] *= shrink, four[1] *= shrink;
    const uint32_t weights[4] = {pair_of(scores[0], scores[1]), 0, pair_of(scores[4], scores[5]), 0};
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      uint32_t values[4];
      fragment_b_transposed(values, stage + 4096 + n / 4 * 2048, 0, n % 4 * 2);
      mma_bf16(result[2 * n], weights, values[0], values[1]);
      mma_bf16(result[2 * n + 1], weights, values[2], values[3]);
    }
    __syncwarp();
  }
  copies_wait<0>();
  __syncthreads();
  Part* of_warps = reinterpret_cast<Part*>(memory);
  const float whole = sum_of_four(sum[0]);
#pragma unroll
  for (int i = 0; i < 32; ++i)
    of_warps[warp].result[lane / 4][i / 2 * 8 + lane % 4 * 2 + i % 2] = result[i / 2][i % 2];
  if (lane % 4 == 0) of_warps[warp].largest[lane / 4] = largest[0], of_warps[warp].sum[lane / 4] = whole;
  __syncthreads();
  // A thread has a column of all eight heads.
  const auto join = [&](const Part* some, int count, int h, float& top, float& total) {
    top = kLowest, total = 0;
    for (int i = 0; i < count; ++i) top = fmaxf(top, __ldcg(&some[i].largest[h]));
    float x = 0;
    for (int i = 0; i < count; ++i) {
      const float weight = exp2f((__ldcg(&some[i].largest[h]) - top) * scale);
      total += weight * __ldcg(&some[i].sum[h]), x += weight * __ldcg(&some[i].result[h][threadIdx.x]);
    }
    return x;
  };
  Part* own = parts + static_cast<size_t>(head) * gridDim.x + blockIdx.x;
  for (int h = 0; h < kShared; ++h) {
    float top = kLowest, total = 0, x = 0;
    for (int i = 0; i < 4; ++i) top = fmaxf(top, of_warps[i].largest[h]);
    for (int i = 0; i < 4; ++i) {
      const float weight = exp2f((of_warps[i].largest[h] - top) * scale);
      total += weight * of_warps[i].sum[h], x += weight * of_warps[i].result[h][threadIdx.x];
    }
    own->result[h][threadIdx.x] = x;
    if (threadIdx.x == 0) own->largest[h] = top, own->sum[h] = total;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&counters[head], 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int h = 0; h < kShared; ++h) {
    float top, total;
    const float x = join(parts + static_cast<size_t>(head) * gridDim.x, gridDim.x, h, top, total);
    out[(static_cast<size_t>(head) * kShared + h) * 128 + threadIdx.x] = __float2bfloat16(x / total);
  }
}

// --- host ----------------------------------------------------------------------------------------------------------------------------
/// A column of a query's result over keys `begin` to `end`, whose rows lie `pitch` numbers apart.
double attend(const float* query, const float* keys, const float* values, size_t pitch, int width, int begin,
              int end, int column) {
  std::vector<double> x;
  double top = -1e300, sum = 0, result = 0;
  for (int j = begin; j < end; ++j)
    x.push_back(dot(query, 1, keys + j * pitch, 1, width) / std::sqrt(width)), top = std::fmax(top, x.back());
  for (int j = begin; j < end; ++j) {
    const double weight = std::exp(x[static_cast<size_t>(j - begin)] - top);
    sum += weight, result += weight * values[j * pitch + column];
  }
  return result / sum;
}

int run(const char* way, int batches, int heads, int length) {
  const bool is_gqa = same(way, "gqa"), is_decode = same(way, "decode"), is_window = same(way, "window");
  const int width = is_window ? 64 : 128;
  const size_t count = static_cast<size_t>(batches) * heads * length * width,
               results = is_gqa      ? count * kShared
                         : is_decode ? count / length * kShared
                                     : count;
  Data<bf16> q(results, 1), k(count, 2), v(count, 3);
  Results<bf16> out(results);
  const float scale = kLog2e / std::sqrt(static_cast<float>(width));
  if (is_gqa) {
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const int all = batches * length, memory = 1024 + 10 * kTile;
    allow(gqa, memory);
    gqa<<<dim3(length / 16, heads, batches), 384, memory>>>(
        volume_map(type, 2, q.device, 128, heads * kShared, all, kShared, 16),
        volume_map(type, 2, k.device, 128, heads, all, 1, kSide),
        volume_map(type, 2, v.device, 128, heads, all, 1, kSide), out.device, length, scale);
  } else if (is_decode) {
    const int divided = 8, memory = 1024 + 12 * 8192;
    Results<Part> parts(static_cast<size_t>(batches) * heads * divided);
    Results<unsigned> counters(static_cast<size_t>(batches) * heads);
    allow(decode, memory);
    decode<<<dim3(divided, heads, batches), 128, memory>>>(q.device, k.device, v.device, out.device,
                                                           parts.device, counters.device, length, scale);
  } else if (is_window) {
    const int memory = 1024 + 128 * 128 + 4 * 8192;
    allow(flash<64, 8, true>, memory);
    flash<64, 8, true><<<dim3(length / 128, heads * batches), 256, memory>>>(q.device, k.device, v.device,
                                                                             out.device, length, scale);
  } else {
    const int memory = 1024 + 64 * 256 + 4 * 16384;
    allow(flash<128, 4, false>, memory);
    flash<128, 4, false><<<dim3(length / 64, heads * batches), 128, memory>>>(q.device, k.device, v.device,
                                                                              out.device, length, scale);
  }
  CHECK(cudaDeviceSynchronize());
  const auto got = out.back();
  return near(
      way, results, 1024, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const size_t row = i / width;  // gqa: batch, place, head; else: batch, head, place
        const int place = static_cast<int>(is_gqa ? row / (heads * kShared) % length : row % length);
        const size_t from =
            is_gqa ? row / heads / kShared / length * length * heads * width + row / kShared % heads * width
            : is_decode ? row / kShared * length * width
                        : row / length * length * width;
        return attend(&q.host[row * width], &k.host[from], &v.host[from], is_gqa ? heads * width : width,
                      width, is_window ? std::max(0, place - kWindow + 1) : 0,
                      is_gqa || is_window ? place + 1 : length, static_cast<int>(i % width));
      },
      0.01);
}

}  // namespace

int main(int count, char** words) {
  if (count != 5 || !(same(words[1], "gqa") || same(words[1], "flash") || same(words[1], "window") ||
                      same(words[1], "decode")))
    return std::fprintf(stderr, "expected gqa|flash|window|decode BATCHES KEY_HEADS LENGTH\n"), 2;
  return run(words[1], std::atoi(words[2]), std::atoi(words[3]), std::atoi(words[4]));
}
