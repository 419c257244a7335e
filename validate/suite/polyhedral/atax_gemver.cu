// The steps of y = A'(A x) and of a rank-two update, as compilers' test collections write them: a thread a row or a column, sums
// kept in memory, no promise that pointers differ.

__global__ void atax_rows(float* a, float* x, float* tmp, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) {
    tmp[i] = 0.0f;
    for (int j = 0; j < cols; j++) tmp[i] += a[i * cols + j] * x[j];
  }
}

__global__ void atax_columns(float* a, float* y, float* tmp, int rows, int cols) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < cols) {
    y[j] = 0.0f;
    for (int i = 0; i < rows; i++) y[j] += a[i * cols + j] * tmp[i];
  }
}

__global__ void gemver_update(float* a, const float* u1, const float* v1, const float* u2, const float* v2,
                              int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
}
