// Sobol's points: a row of blocks a dimension, each thread begins at its number's Gray code and goes on in strides of a power of
// two, two exclusive ors a point.

__global__ void sobol_points(const unsigned* __restrict__ directions, float* __restrict__ out, int n) {
  __shared__ unsigned v[32];
  const unsigned* mine = directions + 32 * blockIdx.y;
  float* to = out + (size_t)n * blockIdx.y;
  if (threadIdx.x < 32) v[threadIdx.x] = mine[threadIdx.x];
  __syncthreads();
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned stride = gridDim.x * blockDim.x;
  unsigned gray = i ^ (i >> 1);
  unsigned x = 0;
  for (int k = 0; gray != 0; k++, gray >>= 1) {
    if (gray & 1) x ^= v[k];
  }
  if (i < n) to[i] = (float)x * 2.3283064365387e-10f;
  const unsigned near = v[__ffs(stride) - 2];
  for (i += stride; i < n; i += stride) {
    x ^= near ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
    to[i] = (float)x * 2.3283064365387e-10f;
  }
}
