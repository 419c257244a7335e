// LU factors of many matrices, each in place in global memory by a block of its own: every step divides a column and
// changes the rest of the matrix, whose rows the next step reads again. `shift` on the diagonal makes exchanges needless.

__global__ void lu_in_place(float* __restrict__ matrices, int n, float shift) {
  float* a = matrices + static_cast<size_t>(blockIdx.x) * n * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i * n + i] += shift;
  __syncthreads();
  for (int k = 0; k < n - 1; ++k) {
    const float pivot = 1.0f / a[k * n + k];
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) a[i * n + k] *= pivot;
    __syncthreads();
    const int rest = n - k - 1;
    for (int at = threadIdx.x; at < rest * rest; at += blockDim.x) {
      const int i = k + 1 + at / rest, j = k + 1 + at % rest;
      a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
    __syncthreads();
  }
}
