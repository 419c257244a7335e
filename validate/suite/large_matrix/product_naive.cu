// C = A B, one product sum a thread, straight from memory. product_naive lets neighbouring threads take neighbouring columns of
// C, product_by_columns neighbouring rows, so that a warp reads 32 rows of A at a time; product_naive_double is in double
// precision. A is rows x depth, B is depth x columns, all row by row.

__global__ void product_naive(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int rows,
                              int columns, int depth) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
  c[row * columns + column] = sum;
}

__global__ void product_by_columns(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                   int rows, int columns, int depth) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
  c[row * columns + column] = sum;
}

__global__ void product_naive_double(const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ c,
                                     int rows, int columns, int depth) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  double sum = 0.0;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
  c[row * columns + column] = sum;
}
