// One column of a Gram-Schmidt decomposition, in three launches: a single thread takes the column's norm, a thread a row divides,
// a thread a later column projects.

__global__ void gram_norm(const float* a, float* r, int rows, int cols, int k) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
    float sum = 0.0f;
    for (int i = 0; i < rows; i++) sum += a[i * cols + k] * a[i * cols + k];
    r[k * cols + k] = sqrtf(sum);
  }
}

__global__ void gram_divide(const float* a, const float* r, float* q, int rows, int cols, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) q[i * cols + k] = a[i * cols + k] / r[k * cols + k];
}

__global__ void gram_project(float* a, float* r, const float* q, int rows, int cols, int k) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j <= k || j >= cols) return;
  float sum = 0.0f;
  for (int i = 0; i < rows; i++) sum += q[i * cols + k] * a[i * cols + j];
  r[k * cols + j] = sum;
  for (int i = 0; i < rows; i++) a[i * cols + j] -= q[i * cols + k] * sum;
}
