// Attention in one pass that never writes the scores: a thread keeps its query and its 64 sums in
// registers, keys and values come in tiles of 32 through shared memory, and when a larger score turns up,
// what was summed is scaled down. All threads of a warp read the same key at a time. Keys after the query
// are left out.

#define HEAD 64
#define TILE 32

__global__ void __launch_bounds__(64)
    attention_tiled(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                    float* __restrict__ out, int sequence, float scale) {
  __shared__ float4 keys[TILE][HEAD / 4];
  __shared__ float4 values[TILE][HEAD / 4];
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t head = static_cast<size_t>(blockIdx.y) * sequence;
  const float4* query_row = reinterpret_cast<const float4*>(q + (head + min(query, sequence - 1)) * HEAD);
  float4 mine[HEAD / 4];
  float4 sum[HEAD / 4];
#pragma unroll
  for (int i = 0; i < HEAD / 4; ++i) {
    mine[i] = query_row[i];
    sum[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  float largest = -INFINITY;
  float total = 0.0f;
  const int end = min(sequence, static_cast<int>((blockIdx.x + 1) * blockDim.x));
  for (int first = 0; first < end; first += TILE) {
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * HEAD / 4; i += blockDim.x) {
      const int row = i / (HEAD / 4);
      const bool there = first + row < sequence;
      const size_t at = (head + first + row) * (HEAD / 4) + i % (HEAD / 4);
      const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      keys[row][i % (HEAD / 4)] = there ? reinterpret_cast<const float4*>(k)[at] : zero;
      values[row][i % (HEAD / 4)] = there ? reinterpret_cast<const float4*>(v)[at] : zero;
    }
    __syncthreads();
    for (int j = 0; j < TILE; ++j) {
      if (first + j > query) break;
      float score = 0.0f;
#pragma unroll
      for (int i = 0; i < HEAD / 4; ++i) {
        const float4 key = keys[j][i];
        score += mine[i].x * key.x + mine[i].y * key.y + mine[i].z * key.z + mine[i].w * key.w;
      }
      score *= scale;
      if (score > largest) {
        const float shrink = __expf(largest - score);
        largest = score;
        total *= shrink;
#pragma unroll
        for (int i = 0; i < HEAD / 4; ++i) {
          sum[i].x *= shrink;
          sum[i].y *= shrink;
          sum[i].z *= shrink;
          sum[i].w *= shrink;
        }
      }
      const float weight = __expf(score - largest);
      total += weight;
#pragma unroll
      for (int i = 0; i < HEAD / 4; ++i) {
        const float4 value = values[j][i];
        sum[i].x += weight * value.x;
        sum[i].y += weight * value.y;
        sum[i].z += weight * value.z;
        sum[i].w += weight * value.w;
      }
    }
  }
  if (query >= sequence) return;
  const float inverse = 1.0f / total;
  float4* result = reinterpret_cast<float4*>(out + (head + query) * HEAD);
#pragma unroll
  for (int i = 0; i < HEAD / 4; ++i) {
    result[i] = make_float4(sum[i].x * inverse, sum[i].y * inverse, sum[i].z * inverse, sum[i].w * inverse);
  }
}
