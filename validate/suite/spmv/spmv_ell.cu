// Sparse matrix times vector in the ELL format: every row has `width` places, stored place by place so that a warp reads
// its 32 rows side by side; a place that is not used has a negative column.

__global__ void spmv_ell(const int* __restrict__ column, const float* __restrict__ value,
                         const float* __restrict__ x, float* __restrict__ y, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < width; ++k) {
    const int c = column[k * rows + row];
    if (c >= 0) sum += value[k * rows + row] * x[c];
  }
  y[row] = sum;
}
