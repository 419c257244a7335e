// All pulls of many bodies on others: sources come a block's worth at a time through shared memory, or straight from memory where
// all lanes read the same place. A thread has one target. Bodies are x, y, z and mass; results are the pull and the potential.

__device__ float4 pulled(float4 sum, float4 at, float4 source, float soft) {
  const float dx = source.x - at.x, dy = source.y - at.y, dz = source.z - at.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + soft);
  const float near = source.w * inverse;
  const float factor = near * inverse * inverse;
  sum.x += dx * factor;
  sum.y += dy * factor;
  sum.z += dz * factor;
  sum.w += near;
  return sum;
}

__global__ void __launch_bounds__(256) gravity_tiles(const float4* __restrict__ targets, const float4* __restrict__ sources,
                                                     float4* __restrict__ pulls, int count, float soft) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float4 at = targets[i];
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int first = 0; first < count; first += 256) {
    tile[threadIdx.x] = sources[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 256; ++j) sum = pulled(sum, at, tile[j], soft);
    __syncthreads();
  }
  pulls[i] = sum;
}

__global__ void gravity_direct(const float4* __restrict__ targets, const float4* __restrict__ sources,
                               float4* __restrict__ pulls, int count, float soft) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 at = targets[i];
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int j = 0; j < count; ++j) sum = pulled(sum, at, sources[j], soft);
  pulls[i] = sum;
}
