// One new token of a batch of sequences against a paged cache of keys and values, with fewer key heads than query
// heads: GROUP query heads share a key head. A block takes PART tokens of one sequence and key head. Scores of all
// its query heads first (eight lanes a token), a softmax over the part in shared memory, then the weighted values
// (half a block the even tokens, half the odd ones, two numbers of the head a thread). A second kernel puts the parts
// of a head together.
#include <cuda_fp16.h>

constexpr int kHeadDim = 128;
constexpr int kPageTokens = 16;
constexpr int kThreads = 128;
constexpr float kNone = -1e30f;

__device__ __forceinline__ float dot8(const uint4& packed, const float* q, float sum) {
  const __half2* pairs = reinterpret_cast<const __half2*>(&packed);
  const float4 low = *reinterpret_cast<const float4*>(q);
  const float4 high = *reinterpret_cast<const float4*>(q + 4);
  float2 k = __half22float2(pairs[0]);
  sum += k.x * low.x + k.y * low.y;
  k = __half22float2(pairs[1]);
  sum += k.x * low.z + k.y * low.w;
  k = __half22float2(pairs[2]);
  sum += k.x * high.x + k.y * high.y;
  k = __half22float2(pairs[3]);
  return sum + k.x * high.z + k.y * high.w;
}

// keys and values: [page][token of the page][key head][kHeadDim]; pages_of: [sequence][most_pages]
template <int GROUP, int PART>
__global__ void __launch_bounds__(kThreads)
    grouped_decode_split(const __half* __restrict__ query, const __half* __restrict__ keys,
                         const __half* __restrict__ values, const int* __restrict__ pages_of,
                         const int* __restrict__ length_of, float* __restrict__ partial,
                         float2* __restrict__ statistics, int most_pages, float scale) {
  __shared__ __align__(16) float q[GROUP][kHeadDim];
  __shared__ float score[GROUP][PART];
  __shared__ int pages[PART / kPageTokens];
  __shared__ float2 odd_sums[GROUP][kHeadDim / 2];

  const int part = blockIdx.x, key_head = blockIdx.y, sequence = blockIdx.z;
  const int key_heads = gridDim.y, parts = gridDim.x;
  const int first = part * PART;
  const int count = min(length_of[sequence] - first, PART);
  const int first_head = (sequence * key_heads + key_head) * GROUP;

  if (count <= 0) {
    if (threadIdx.x < GROUP) {
      statistics[(first_head + threadIdx.x) * parts + part] = make_float2(kNone, 0.0f);
    }
    return;
  }

  for (int i = threadIdx.x; i < GROUP * kHeadDim; i += kThreads) {
    q[i / kHeadDim][i % kHeadDim] = __half2float(query[first_head * kHeadDim + i]) * scale;
  }
  for (int i = threadIdx.x; i < (count + kPageTokens - 1) / kPageTokens; i += kThreads) {
    pages[i] = pages_of[sequence * most_pages + first / kPageTokens + i];
  }
  __syncthreads();

  auto place = [&](int token) {
    const size_t row = static_cast<size_t>(pages[token / kPageTokens]) * kPageTokens + token % kPageTokens;
    return (row * key_heads + key_head) * kHeadDim;
  };

  const int lane8 = threadIdx.x % 8;
  for (int base = 0; base < count; base += kThreads / 8) {
    const int token = base + threadIdx.x / 8;
    const uint4* row = reinterpret_cast<const uint4*>(keys + place(min(token, count - 1)));
    const uint4 near = __ldg(row + lane8);
    const uint4 far = __ldg(row + 8 + lane8);
#pragma unroll
    for (int g = 0; g < GROUP; ++g) {
      float sum = dot8(near, &q[g][lane8 * 8], 0.0f);
      sum = dot8(far, &q[g][64 + lane8 * 8], sum);
      sum += __shfl_xor_sync(0xffffffffu, sum, 4);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      if (lane8 == 0 && token < count) score[g][token] = sum;
    }
  }
  __syncthreads();

  const int lane = threadIdx.x % 32;
  for (int g = threadIdx.x / 32; g < GROUP; g += kThreads / 32) {
    float most = kNone;
    for (int t = lane; t < count; t += 32) most = fmaxf(most, score[g][t]);
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, mask));
    float total = 0.0f;
    for (int t = lane; t < count; t += 32) {
      const float weight = __expf(score[g][t] - most);
      score[g][t] = weight;
      total += weight;
    }
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) total += __shfl_xor_sync(0xffffffffu, total, mask);
    if (lane == 0) statistics[(first_head + g) * parts + part] = make_float2(most, total);
  }
  __syncthreads();

  const int pair = threadIdx.x % 64;
  const int is_odd = threadIdx.x / 64;
  float2 sum[GROUP];
#pragma unroll
  for (int g = 0; g < GROUP; ++g) sum[g] = make_float2(0.0f, 0.0f);
#pragma unroll 4
  for (int t = is_odd; t < count; t += 2) {
    const float2 v = __half22float2(reinterpret_cast<const __half2*>(values + place(t))[pair]);
#pragma unroll
    for (int g = 0; g < GROUP; ++g) {
      sum[g].x += score[g][t] * v.x;
      sum[g].y += score[g][t] * v.y;
    }
  }
  if (is_odd) {
#pragma unroll
    for (int g = 0; g < GROUP; ++g) odd_sums[g][pair] = sum[g];
  }
  __syncthreads();
  if (is_odd) return;
#pragma unroll
  for (int g = 0; g < GROUP; ++g) {
    const float2 other = odd_sums[g][pair];
    float2* to = reinterpret_cast<float2*>(partial + ((first_head + g) * parts + part) * kHeadDim);
    to[pair] = make_float2(sum[g].x + other.x, sum[g].y + other.y);
  }
}

__global__ void grouped_decode_combine(const float* __restrict__ partial,
                                       const float2* __restrict__ statistics, __half* __restrict__ out,
                                       int parts) {
  const int head = blockIdx.x;
  float most = kNone;
  for (int p = 0; p < parts; ++p) most = fmaxf(most, statistics[head * parts + p].x);
  float total = 0.0f, value = 0.0f;
  for (int p = 0; p < parts; ++p) {
    const float2 one = statistics[head * parts + p];
    if (one.y == 0.0f) break;
    const float factor = __expf(one.x - most);
    total += factor * one.y;
    value += factor * partial[(head * parts + p) * kHeadDim + threadIdx.x];
  }
  out[head * kHeadDim + threadIdx.x] = __float2half(value / total);
}

template __global__ void grouped_decode_split<4, 128>(const __half*, const __half*, const __half*, const int*,
                                                      const int*, float*, float2*, int, float);
