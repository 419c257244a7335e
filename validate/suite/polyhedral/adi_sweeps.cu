// The two sweeps of an alternating direction method in double precision: a thread a row eliminates along its row, a thread a
// column down its column, then each goes back.

__global__ void adi_rows(const double* a, double* b, double* x, int h, int w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= h) return;
  for (int j = 1; j < w; j++) {
    x[i * w + j] = x[i * w + j] - x[i * w + j - 1] * a[i * w + j] / b[i * w + j - 1];
    b[i * w + j] = b[i * w + j] - a[i * w + j] * a[i * w + j] / b[i * w + j - 1];
  }
  x[i * w + w - 1] = x[i * w + w - 1] / b[i * w + w - 1];
  for (int j = w - 2; j >= 0; j--) {
    x[i * w + j] = (x[i * w + j] - x[i * w + j + 1] * a[i * w + j + 1]) / b[i * w + j];
  }
}

__global__ void adi_columns(const double* a, double* b, double* x, int h, int w) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= w) return;
  for (int i = 1; i < h; i++) {
    x[i * w + j] = x[i * w + j] - x[(i - 1) * w + j] * a[i * w + j] / b[(i - 1) * w + j];
    b[i * w + j] = b[i * w + j] - a[i * w + j] * a[i * w + j] / b[(i - 1) * w + j];
  }
  x[(h - 1) * w + j] = x[(h - 1) * w + j] / b[(h - 1) * w + j];
  for (int i = h - 2; i >= 0; i--) {
    x[i * w + j] = (x[i * w + j] - x[(i + 1) * w + j] * a[(i + 1) * w + j]) / b[i * w + j];
  }
}
