// Attention of one new token over a long cache of keys and values in half precision, heads of 128. The cache of a
// head is split into parts, a block of four warps a part (decode_part): half a warp takes a key, each lane eight of
// its numbers, with a running maximum and sum; the eight halves are put together through shared memory.
// decode_combine puts the parts together, a block a head.
#include <cuda_fp16.h>

#define HEAD 128

__device__ void widen(const uint4& packed, float (&wide)[8]) {
  const __half2* pairs = reinterpret_cast<const __half2*>(&packed);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 two = __half22float2(pairs[i]);
    wide[2 * i] = two.x;
    wide[2 * i + 1] = two.y;
  }
}

__global__ void __launch_bounds__(128)
    decode_part(const float* __restrict__ query, const uint4* __restrict__ keys,
                const uint4* __restrict__ values, float* __restrict__ partial, float2* __restrict__ scale_of,
                int length, int part_length, float scale) {
  __shared__ float sums[8][HEAD];
  __shared__ float2 scales[8];
  const int head = blockIdx.y, part = blockIdx.x;
  const int team = threadIdx.x / 16, member = threadIdx.x % 16;
  float q[8], sum[8] = {};
#pragma unroll
  for (int i = 0; i < 8; ++i) q[i] = query[head * HEAD + member * 8 + i] * scale;
  float largest = -1e30f, total = 0.0f;
  const int first = part * part_length;
  const int end = min(first + part_length, length);
  // All lanes of a warp go round equally often: the shuffles need them.
  for (int base = first; base < end; base += 8) {
    const int key = min(base + team, end - 1);
    const size_t at = (static_cast<size_t>(head) * length + key) * (HEAD / 8) + member;
    float k[8], v[8];
    widen(keys[at], k);
    widen(values[at], v);
    float score = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) score = fmaf(q[i], k[i], score);
#pragma unroll
    for (int offset = 8; offset > 0; offset /= 2) score += __shfl_xor_sync(0xffffffffu, score, offset);
    if (base + team >= end) score = -1e30f;
    const float higher = fmaxf(largest, score);
    const float keep = __expf(largest - higher);
    const float weight = base + team < end ? __expf(score - higher) : 0.0f;
    largest = higher;
    total = total * keep + weight;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum[i] = sum[i] * keep + weight * v[i];
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) sums[team][member * 8 + i] = sum[i];
  if (member == 0) scales[team] = make_float2(largest, total);
  __syncthreads();
  float most = -1e30f;
  for (int t = 0; t < 8; ++t) most = fmaxf(most, scales[t].x);
  float value = 0.0f, all = 0.0f;
  for (int t = 0; t < 8; ++t) {
    const float factor = __expf(scales[t].x - most);
    all += scales[t].y * factor;
    value += sums[t][threadIdx.x] * factor;
  }
  const int place = head * gridDim.x + part;
  partial[place * HEAD + threadIdx.x] = value;
  if (threadIdx.x == 0) scale_of[place] = make_float2(most, all);
}

__global__ void decode_combine(const float* __restrict__ partial, const float2* __restrict__ scale_of,
                               float* __restrict__ out, int parts) {
  const int head = blockIdx.x;
  float most = -1e30f;
  for (int p = 0; p < parts; ++p) most = fmaxf(most, scale_of[head * parts + p].x);
  float value = 0.0f, all = 0.0f;
  for (int p = 0; p < parts; ++p) {
    const float2 s = scale_of[head * parts + p];
    const float factor = __expf(s.x - most);
    all += s.y * factor;
    value += partial[(head * parts + p) * HEAD + threadIdx.x] * factor;
  }
  out[head * HEAD + threadIdx.x] = value / all;
}
