// Long rows, a block a row: softmax in three readings, and normalization to mean 0 and spread 1 in two.

__device__ float2 of_block(float2 mine, bool add) {
  __shared__ float2 partial[32];
  const auto joined = [add](float2 a, float2 b) {
    return add ? make_float2(a.x + b.x, a.y + b.y) : make_float2(fmaxf(a.x, b.x), 0.0f);
  };
  for (int step = 16; step > 0; step /= 2) {
    mine = joined(mine, make_float2(__shfl_xor_sync(0xffffffffu, mine.x, step), __shfl_xor_sync(0xffffffffu, mine.y, step)));
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
  __syncthreads();
  float2 all = partial[0];
  for (int w = 1; w < blockDim.x / 32; ++w) all = joined(all, partial[w]);
  return all;
}

__global__ void softmax_rows(const float* __restrict__ in, float* __restrict__ out, int columns) {
  const float* row = in + static_cast<size_t>(blockIdx.x) * columns;
  float* to = out + static_cast<size_t>(blockIdx.x) * columns;
  float most = row[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, row[i]);
  most = of_block(make_float2(most, 0.0f), false).x;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - most);
  const float scale = 1.0f / of_block(make_float2(sum, 0.0f), true).x;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) to[i] = expf(row[i] - most) * scale;
}

__global__ void normalize_rows(const float4* __restrict__ in, float4* __restrict__ out, int quads) {
  const float4* row = in + static_cast<size_t>(blockIdx.x) * quads;
  float4* to = out + static_cast<size_t>(blockIdx.x) * quads;
  float2 sums = make_float2(0.0f, 0.0f);
  for (int i = threadIdx.x; i < quads; i += blockDim.x) {
    const float4 x = row[i];
    sums.x += (x.x + x.y) + (x.z + x.w);
    sums.y += (x.x * x.x + x.y * x.y) + (x.z * x.z + x.w * x.w);
  }
  sums = of_block(sums, true);
  const float mean = sums.x / (4 * quads);
  const float scale = rsqrtf(sums.y / (4 * quads) - mean * mean);
  for (int i = threadIdx.x; i < quads; i += blockDim.x) {
    const float4 x = row[i];
    to[i] = make_float4((x.x - mean) * scale, (x.y - mean) * scale, (x.z - mean) * scale, (x.w - mean) * scale);
  }
}
