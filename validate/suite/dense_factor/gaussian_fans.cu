// A step of Gaussian elimination without pivoting in two launches: the multipliers of a column, then every row below less its
// multiple of the pivot's row, with blocks of 4 x 4 threads or of another size, a column of right-hand sides beside it.

__global__ void fan_multipliers(const float* a, float* multipliers, int n, int t) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n - 1 - t) return;
  multipliers[n * (i + t + 1) + t] = a[n * (i + t + 1) + t] / a[n * t + t];
}

__global__ void fan_rows(const float* multipliers, float* a, float* b, int n, int t) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n - 1 - t || y >= n - t) return;
  a[n * (x + 1 + t) + y + t] -= multipliers[n * (x + 1 + t) + t] * a[n * t + y + t];
  if (y == 0) b[x + 1 + t] -= multipliers[n * (x + 1 + t) + t] * b[t];
}
