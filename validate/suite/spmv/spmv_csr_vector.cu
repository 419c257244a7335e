// Sparse matrix times vector, rows compressed (CSR), a warp a row: the row's elements are read side by side, and a row
// shorter than a warp leaves lanes idle.

__global__ void spmv_csr_vector(const int* __restrict__ row_start, const int* __restrict__ column,
                                const float* __restrict__ value, const float* __restrict__ x,
                                float* __restrict__ y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const int end = row_start[row + 1];
  float sum = 0.0f;
  for (int k = row_start[row] + lane; k < end; k += 32) sum += value[k] * x[column[k]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}
