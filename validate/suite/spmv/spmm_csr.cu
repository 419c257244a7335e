// A sparse matrix in CSR form times a dense one of 128 columns, as a layer of a graph neural network gathers its
// neighbours' features: a warp a row, four columns a lane; every entry of the row brings in 512 bytes.

__global__ void spmm_csr(const int* __restrict__ start, const int* __restrict__ column,
                         const float* __restrict__ value, const float4* __restrict__ dense,
                         float4* __restrict__ out, int rows) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const int end = start[row + 1];
  for (int k = start[row]; k < end; ++k) {
    const float weight = value[k];
    const float4 v = dense[static_cast<size_t>(column[k]) * 32 + lane];
    sum.x += weight * v.x;
    sum.y += weight * v.y;
    sum.z += weight * v.z;
    sum.w += weight * v.w;
  }
  out[static_cast<size_t>(row) * 32 + lane] = sum;
}
