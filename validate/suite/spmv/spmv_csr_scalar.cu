// Sparse matrix times vector, rows compressed (CSR), a thread a row: neighbouring threads read far apart, and a warp
// takes as long as its longest row.

__global__ void spmv_csr_scalar(const int* __restrict__ row_start, const int* __restrict__ column,
                                const float* __restrict__ value, const float* __restrict__ x,
                                float* __restrict__ y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = row_start[row]; k < row_start[row + 1]; ++k) sum += value[k] * x[column[k]];
  y[row] = sum;
}
