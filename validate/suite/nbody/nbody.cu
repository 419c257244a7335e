// Gravity among n bodies, all pairs. nbody_global reads every body from global memory, the same one in all lanes;
// nbody_tiled passes the bodies through shared memory a block at a time. w is the mass; the softening keeps a body from
// itself.

#define SOFTENING 0.01f

__device__ float3 pull(float4 from, float4 on, float3 sum) {
  const float dx = from.x - on.x;
  const float dy = from.y - on.y;
  const float dz = from.z - on.z;
  const float distance2 = dx * dx + dy * dy + dz * dz + SOFTENING;
  const float inverse = rsqrtf(distance2);
  const float strength = from.w * inverse * inverse * inverse;
  sum.x += strength * dx;
  sum.y += strength * dy;
  sum.z += strength * dz;
  return sum;
}

__global__ void nbody_global(const float4* __restrict__ bodies, float4* __restrict__ acceleration, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 me = bodies[i];
  float3 sum = make_float3(0.0f, 0.0f, 0.0f);
  for (int j = 0; j < n; ++j) sum = pull(bodies[j], me, sum);
  acceleration[i] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}

#define TILE 128

__global__ void nbody_tiled(const float4* __restrict__ bodies, float4* __restrict__ acceleration, int n) {
  __shared__ float4 tile[TILE];
  const int i = blockIdx.x * TILE + threadIdx.x;
  const float4 me = i < n ? bodies[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float3 sum = make_float3(0.0f, 0.0f, 0.0f);
  for (int first = 0; first < n; first += TILE) {
    const int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < TILE; ++k) sum = pull(tile[k], me, sum);
    __syncthreads();
  }
  if (i < n) acceleration[i] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}
