// Products of a matrix with a vector, a thread a row: lanes walk through rows of their own side by side, a sector each, and
// come back to every line as often as it has elements. row_product_pair takes two vectors along, in double precision.

__global__ void row_product(const float* __restrict__ matrix, const float* __restrict__ x, float* __restrict__ y,
                            int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += matrix[static_cast<size_t>(row) * columns + c] * x[c];
  y[row] = sum;
}

__global__ void row_product_pair(const double* __restrict__ matrix, const double* __restrict__ x,
                                 double* __restrict__ y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double first = 0.0, second = 0.0;
  for (int c = 0; c < columns; ++c) {
    const double a = matrix[static_cast<size_t>(row) * columns + c];
    first += a * x[c];
    second += a * x[columns + c];
  }
  y[2 * row] = first;
  y[2 * row + 1] = second;
}
