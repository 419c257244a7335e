// Attention by warp-specialised kernels: heads of 64 or 128 columns, all of LENGTH queries and keys, bfloat16.
//   forward, causal     a block has 128 queries of a head; keys and values come in tiles of 128 behind mbarriers; scores stay in registers
//   backward            a block has 128 keys of a head (64 columns) and adds up the gradients of its keys and values over all queries
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90a,code=sm_90a -o attention attention.cu
//   ./attention forward|causal|backward HEADS LENGTH WIDTH
#include "hopper.cuh"

namespace {

using bf16 = __nv_bfloat16;
constexpr float kLog2e = 1.4426950408889634f;

template <int kWidth>
__device__ __forceinline__ void multiply_values(float (&d)[kWidth / 2], const uint32_t (&a)[4], uint64_t b) {
  if constexpr (kWidth == 64) {
    multiply_fragment64_t(d, a, b);
  } else {
    multiply_fragment128_t(d, a, b);
  }
}

/// Probabilities as the first operand's fragment for columns 16 k to 16 k + 15.
template <int kCount>
__device__ __forceinline__ void fragment_of(const float (&p)[kCount], int k, uint32_t (&a)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = pair_of(p[8 * k + 2 * i], p[8 * k + 2 * i + 1]);
}

template <int kWidth, bool kCausal>
__global__ void __launch_bounds__(384, 1)
    forward(const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_k,
            const __grid_constant__ CUtensorMap map_v, bf16* out, int length, float scale) {
  constexpr int kBoxes = kWidth / 64, kPart = kBoxes * kTile, kDepth = 2;
  __shared__ Ring<kDepth> ring;
  __shared__ uint64_t queries;
  unsigned char* memory = aligned_memory();
  if (threadIdx.x == 0) init(&queries, 1);
  ring.start(2);
  const int first = blockIdx.x * kSide, head = blockIdx.y * length;
  const int tiles = kCausal ? blockIdx.x + 1 : length / kSide;
  Turn<kDepth> turn;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    expect(&queries, kPart);
    for (int i = 0; i < kBoxes; ++i) copy2(memory + i * kTile, &map_q, &queries, i * 64, head + first);
    for (int tile = 0; tile < tiles; ++tile, turn.next()) {
      unsigned char* stage = memory + kPart + turn.place * 2 * kPart;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], 2 * kPart);
      for (int i = 0; i < kBoxes; ++i) {
        copy2(stage + i * kTile, &map_k, &ring.full[turn.place], i * 64, head + tile * kSide);
        copy2(stage + kPart + i * kTile, &map_v, &ring.full[turn.place], i * 64, head + tile * kSide);
      }
    }
    return;
  }
  many_registers();
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, row = group * 64 + warp * 16 + lane / 4;
  float result[kWidth / 2], largest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
  for (float& x : result) x = 0;
  wait(&queries, 0);
  for (int tile = 0; tile < tiles; ++tile, turn.next()) {
    unsigned char* stage = memory + kPart + turn.place * 2 * kPart;
    wait(&ring.full[turn.place], turn.parity);
    float scores[64];
    products_begin();
#pragma unroll
    for (int k = 0; k < kWidth / 16; ++k)
      multiply128(scores, descriptor(memory + k / 4 * kTile + group * 8192) + 2 * (k % 4),
                  descriptor(stage + k / 4 * kTile) + 2 * (k % 4), k > 0);
    products_commit();
    products_wait<0>();
    keep(scores);
    if (kCausal && tile + 1 == tiles) {
#pragma unroll
      for (int i = 0; i < 64; ++i)
        if (i / 4 * 8 + lane % 4 * 2 + i % 2 > row + i / 2 % 2 * 8) scores[i] = -INFINITY;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float top = largest[half];
#pragma unroll
      for (int j = 0; j < 32; ++j) top = fmaxf(top, scores[j / 2 * 4 + half * 2 + j % 2]);
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
      const float shrink = exp2f((largest[half] - top) * scale);
      largest[half] = top;
      sum[half] *= shrink;
#pragma unroll
      for (int j = 0; j < 32; ++j) {
        float& x = scores[j / 2 * 4 + half * 2 + j % 2];
        x = exp2f(x * scale - top * scale);
        sum[half] += x;
      }
#pragma unroll
      for (int j = 0; j < kWidth / 4; ++j) result[j / 2 * 4 + half * 2 + j % 2] *= shrink;
    }
    uint32_t fragment[8][4];
#pragma unroll
    for (int k = 0; k < 8; ++k) fragment_of(scores, k, fragment[k]);
    keep(result);
    products_begin();
#pragma unroll
    for (int k = 0; k < 8; ++k)
      multiply_values<kWidth>(result, fragment[k], descriptor(stage + kPart, kTile) + 128 * k);
    products_commit();
    products_wait<0>();
    keep(result);
    if (threadIdx.x % 128 == 0) arrive(&ring.empty[turn.place]);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float all = sum[half] + __shfl_xor_sync(~0u, sum[half], 1);
    all += __shfl_xor_sync(~0u, all, 2);
    bf16* to = out + static_cast<size_t>(head + first + row + half * 8) * kWidth + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < kWidth / 8; ++j)
      *reinterpret_cast<uint32_t*>(to + 8 * j) =
          pair_of(result[4 * j + 2 * half] / all, result[4 * j + 2 * half + 1] / all);
  }
}

/// logsum: of a query, to base 2; delta: of a query, the sum of its result times its gradient.
__global__ void __launch_bounds__(384, 1)
    backward(const __grid_constant__ CUtensorMap map_q, const __grid_constant__ CUtensorMap map_k,
             const __grid_constant__ CUtensorMap map_v, const __grid_constant__ CUtensorMap map_o,
             const float* logsum, const float* delta, float* gradient_k, float* gradient_v, int length,
             float scale) {
  constexpr int kHalf = kTile / 2;
  __shared__ Ring<kStages> ring;
  __shared__ uint64_t keys;
  unsigned char* memory = aligned_memory();
  if (threadIdx.x == 0) init(&keys, 1);
  ring.start(2);
  const int first = blockIdx.x * kSide, head = blockIdx.y * length, steps = length / 64;
  Turn<kStages> turn;
  const int group = static_cast<int>(threadIdx.x) / 128 - 1;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    expect(&keys, 2 * kTile);
    copy2(memory, &map_k, &keys, 0, head + first);
    copy2(memory + kTile, &map_v, &keys, 0, head + first);
    for (int step = 0; step < steps; ++step, turn.next()) {
      unsigned char* stage = memory + 2 * kTile + turn.place * kTile;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], kTile);
      copy2(stage, &map_q, &ring.full[turn.place], 0, head + step * 64);
      copy2(stage + kHalf, &map_o, &ring.full[turn.place], 0, head + step * 64);
    }
    return;
  }
  many_registers();
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  float of_k[32], of_v[32];
  for (float& x : of_k) x = 0;
  for (float& x : of_v) x = 0;
  wait(&keys, 0);
  for (int step = 0; step < steps; ++step, turn.next()) {
    unsigned char* stage = memory + 2 * kTile + turn.place * kTile;
    wait(&ring.full[turn.place], turn.parity);
    float scores[32], gradients[32];
    products_begin();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      multiply64(scores, descriptor(memory + group * kHalf) + 2 * k, descriptor(stage) + 2 * k, k > 0);
    products_commit();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      multiply64(gradients, descriptor(memory + kTile + group * kHalf) + 2 * k,
                 descriptor(stage + kHalf) + 2 * k, k > 0);
    products_commit();
    products_wait<0>();
    keep(scores);
    keep(gradients);
    const float2* sums = reinterpret_cast<const float2*>(logsum + head + step * 64 + lane % 4 * 2);
    const float2* deltas = reinterpret_cast<const float2*>(delta + head + step * 64 + lane % 4 * 2);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float2 l = sums[4 * j], d = deltas[4 * j];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& p = scores[4 * j + i];
        p = exp2f(p * scale * kLog2e - (i % 2 ? l.y : l.x));
        gradients[4 * j + i] = p * (gradients[4 * j + i] - (i % 2 ? d.y : d.x)) * scale;
      }
    }
    uint32_t of_scores[4][4], of_gradients[4][4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      fragment_of(scores, k, of_scores[k]), fragment_of(gradients, k, of_gradients[k]);
    products_begin();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      multiply_fragment64_t(of_v, of_scores[k], descriptor(stage + kHalf, kHalf) + 128 * k);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      multiply_fragment64_t(of_k, of_gradients[k], descriptor(stage, kHalf) + 128 * k);
    products_commit();
    products_wait<0>();
    keep(of_v);
    keep(of_k);
    if (threadIdx.x % 128 == 0) arrive(&ring.empty[turn.place]);
  }
  const size_t at = static_cast<size_t>(head + first + group * 64 + warp * 16 + lane / 4) * 64 + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const size_t place = at + i / 4 * 8 + i / 2 % 2 * 512 + i % 2;
    gradient_k[place] = of_k[i];
    gradient_v[place] = of_v[i];
  }
}

// --- host ----------------------------------------------------------------------------------------------------------------------------
struct Head {
  const std::vector<float>&q, &k, &v;
  int length, width;
  bool causal;
  /// The probabilities of a query over the keys of its head, and the logarithm of their sum to base 2.
  std::vector<double> probabilities(int query, double* logsum = nullptr) const {
    const int base = query / length * length, last = causal ? query - base + 1 : length;
    std::vector<double> p(static_cast<size_t>(last));
    double top = -1e30, sum = 0;
    for (int j = 0; j < last; ++j) {
      double x = 0;
      for (int i = 0; i < width; ++i)
        x += static_cast<double>(q[static_cast<size_t>(query) * width + i]) *
             k[static_cast<size_t>(base + j) * width + i];
      p[j] = x / std::sqrt(width), top = std::fmax(top, p[j]);
    }
    for (double& x : p) x = std::exp(x - top), sum += x;
    for (double& x : p) x /= sum;
    if (logsum) *logsum = (top + std::log(sum)) * kLog2e;
    return p;
  }
};

template <int kWidth, bool kCausal>
int run_forward(const char* name, int heads, int length) {
  const size_t count = static_cast<size_t>(heads) * length * kWidth;
  Data<bf16> q(count, 1), k(count, 2), v(count, 3), out(count, 0, true);
  const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  const auto map = [&](Data<bf16>& data) {
    return matrix_map(type, 2, data.device, heads * length, kWidth, kSide);
  };
  const int memory = 1024 + kWidth / 64 * kTile * 5;
  allow(forward<kWidth, kCausal>, memory);
  forward<kWidth, kCausal><<<dim3(length / kSide, heads), 384, memory>>>(
      map(q), map(k), map(v), out.device, length, kLog2e / std::sqrt(static_cast<float>(kWidth)));
  CHECK(cudaDeviceSynchronize());
  const auto got = out.back();
  const Head head{q.host, k.host, v.host, length, kWidth, kCausal};
  const size_t stride = 1 + count / 512;
  return compare(
      name, count, stride, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const int query = static_cast<int>(i / kWidth), base = query / length * length;
        const auto p = head.probabilities(query);
        double sum = 0;
        for (size_t j = 0; j < p.size(); ++j) sum += p[j] * v.host[(base + j) * kWidth + i % kWidth];
        return sum;
      },
      0.01);
}

int run_backward(const char* name, int heads, int length) {
  const size_t rows = static_cast<size_t>(heads) * length, count = rows * 64;
  Data<bf16> q(count, 1), k(count, 2), v(count, 3), o(count, 4);
  Data<float> logsum(rows, 0, true), delta(rows, 0, true), gradient_k(count, 0, true),
      gradient_v(count, 0, true);
  const Head head{q.host, k.host, v.host, length, 64, false};
  std::vector<std::vector<double>> p(rows);
  for (size_t r = 0; r < rows; ++r) {
    double l = 0, d = 0;
    p[r] = head.probabilities(static_cast<int>(r), &l);
    for (int j = 0; j < length; ++j) {
      double of = 0;
      for (int i = 0; i < 64; ++i)
        of += static_cast<double>(o.host[r * 64 + i]) * v.host[(r / length * length + j) * 64 + i];
      d += of * p[r][j];
    }
    logsum.host[r] = static_cast<float>(l), delta.host[r] = static_cast<float>(d);
  }
  CHECK(cudaMemcpy(logsum.device, logsum.host.data(), rows * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(delta.device, delta.host.data(), rows * 4, cudaMemcpyHostToDevice));
  const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  const auto map = [&](Data<bf16>& data, int box) {
    return matrix_map(type, 2, data.device, static_cast<int>(rows), 64, box);
  };
  const int memory = 1024 + (2 + kStages) * kTile;
  allow(backward, memory);
  backward<<<dim3(length / kSide, heads), 384, memory>>>(map(q, 64), map(k, kSide), map(v, kSide), map(o, 64),
                                                         logsum.device, delta.device, gradient_k.device,
                                                         gradient_v.device, length, 0.125f);
  CHECK(cudaDeviceSynchronize());
  const auto got_k = gradient_k.back(), got_v = gradient_v.back();
  const auto gradient = [&](size_t i, bool of_values) {
    const size_t key = i / 64, base = key / length * length, column = i % 64;
    double sum = 0;
    for (size_t r = base; r < base + length; ++r) {
      const double weight = p[r][key - base];
      double of = 0;
      if (!of_values)
        for (int j = 0; j < 64; ++j) of += static_cast<double>(o.host[r * 64 + j]) * v.host[key * 64 + j];
      sum += of_values ? weight * o.host[r * 64 + column]
                       : weight * (of - delta.host[r]) * 0.125 * q.host[r * 64 + column];
    }
    return sum;
  };
  const size_t stride = 1 + count / 512;
  return compare(
             name, count, stride, [&](size_t i) { return got_k[i]; },
             [&](size_t i) { return gradient(i, false); }, 0.02) |
         compare(
             name, count, stride, [&](size_t i) { return got_v[i]; },
             [&](size_t i) { return gradient(i, true); }, 0.02);
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return std::fprintf(stderr, "expected forward|causal|backward HEADS LENGTH WIDTH\n"), 2;
  const int heads = std::atoi(words[2]), length = std::atoi(words[3]), width = std::atoi(words[4]);
  const bool causal = std::strcmp(words[1], "causal") == 0;
  if (std::strcmp(words[1], "backward") == 0) return run_backward(words[1], heads, length);
  if (width == 64)
    return causal ? run_forward<64, true>(words[1], heads, length)
                  : run_forward<64, false>(words[1], heads, length);
  return causal ? run_forward<128, true>(words[1], heads, length)
                : run_forward<128, false>(words[1], heads, length);
}
