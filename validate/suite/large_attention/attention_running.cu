// Attention with a running softmax, a thread a query with its sums in registers, keys and values 16 at a time through shared
// memory, read by all lanes together four numbers at once. Heads (blockIdx.y) are WIDTH wide; CAUSAL stops at the query's own
// place. Lengths are multiples of the block.

#ifndef CAUSAL
#define CAUSAL 0
#endif
#define WIDTH 64
#define TILE 16

__global__ void __launch_bounds__(128)
    attention_running(const float4* __restrict__ queries, const float4* __restrict__ keys,
                      const float4* __restrict__ values, float4* __restrict__ out, int length, float scale) {
  __shared__ float4 k[TILE][WIDTH / 4], v[TILE][WIDTH / 4];
  const size_t head = static_cast<size_t>(blockIdx.y) * length;
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  float4 q[WIDTH / 4], sum[WIDTH / 4];
#pragma unroll
  for (int i = 0; i < WIDTH / 4; ++i) {
    q[i] = queries[(head + query) * (WIDTH / 4) + i];
    sum[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  float most = -1e30f, total = 0.0f;
  const int end = CAUSAL ? (blockIdx.x + 1) * blockDim.x : length;
  for (int first = 0; first < end; first += TILE) {
    __syncthreads();
    for (int at = threadIdx.x; at < TILE * WIDTH / 4; at += blockDim.x) {
      k[at / (WIDTH / 4)][at % (WIDTH / 4)] = keys[(head + first) * (WIDTH / 4) + at];
      v[at / (WIDTH / 4)][at % (WIDTH / 4)] = values[(head + first) * (WIDTH / 4) + at];
    }
    __syncthreads();
    float score[TILE], higher = most;
#pragma unroll
    for (int j = 0; j < TILE; ++j) {
      float4 part = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
      for (int i = 0; i < WIDTH / 4; ++i) {
        const float4 key = k[j][i];
        part.x += q[i].x * key.x, part.y += q[i].y * key.y, part.z += q[i].z * key.z, part.w += q[i].w * key.w;
      }
      score[j] = ((part.x + part.y) + (part.z + part.w)) * scale;
      if (CAUSAL && first + j > query) score[j] = -1e30f;
      higher = fmaxf(higher, score[j]);
    }
    const float shrink = expf(most - higher);
    most = higher;
    total *= shrink;
#pragma unroll
    for (int i = 0; i < WIDTH / 4; ++i) sum[i].x *= shrink, sum[i].y *= shrink, sum[i].z *= shrink, sum[i].w *= shrink;
#pragma unroll
    for (int j = 0; j < TILE; ++j) {
      const float weight = expf(score[j] - most);
      total += weight;
#pragma unroll
      for (int i = 0; i < WIDTH / 4; ++i) {
        const float4 value = v[j][i];
        sum[i].x += weight * value.x, sum[i].y += weight * value.y;
        sum[i].z += weight * value.z, sum[i].w += weight * value.w;
      }
    }
  }
  const float whole = 1.0f / total;
#pragma unroll
  for (int i = 0; i < WIDTH / 4; ++i) {
    out[(head + query) * (WIDTH / 4) + i] =
        make_float4(sum[i].x * whole, sum[i].y * whole, sum[i].z * whole, sum[i].w * whole);
  }
}
