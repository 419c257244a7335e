// A weighted sum of the seven neighbours of every point on a line. stencil_1d reads them from global memory and leaves
// the reuse to L1; stencil_1d_shared loads a piece with its halo into shared memory once. The ends are left as they are.

#define RADIUS 3
#define BLOCK 256

__constant__ float weights[RADIUS + 1] = {0.4f, 0.15f, 0.1f, 0.05f};

__global__ void stencil_1d(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i < RADIUS || i >= n - RADIUS) {
    out[i] = in[i];
    return;
  }
  float sum = weights[0] * in[i];
#pragma unroll
  for (int r = 1; r <= RADIUS; ++r) sum += weights[r] * (in[i - r] + in[i + r]);
  out[i] = sum;
}

__global__ void stencil_1d_shared(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float piece[BLOCK + 2 * RADIUS];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const int t = threadIdx.x + RADIUS;
  piece[t] = i < n ? in[i] : 0.0f;
  if (threadIdx.x < RADIUS) {
    piece[t - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0.0f;
    piece[t + BLOCK] = i + BLOCK < n ? in[i + BLOCK] : 0.0f;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = weights[0] * piece[t];
#pragma unroll
  for (int r = 1; r <= RADIUS; ++r) sum += weights[r] * (piece[t - r] + piece[t + r]);
  out[i] = i < RADIUS || i >= n - RADIUS ? piece[t] : sum;
}
