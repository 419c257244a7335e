// y = A x by rows, a warp a row with four floats an access; and y = A^T x, where a thread owns a column and
// the blocks along y share the rows among them, so that what they find is added up by atomics.

__global__ void gemv_rows(const float4* __restrict__ a, const float4* __restrict__ x, float* __restrict__ y,
                          int rows, int quarters) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  const float4* from = a + static_cast<size_t>(row) * quarters;
  float sum = 0.0f;
  for (int i = lane; i < quarters; i += 32) {
    const float4 v = from[i], w = x[i];
    sum += v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}

__global__ void gemv_columns(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y,
                             int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0.0f;
  for (int row = blockIdx.y; row < rows; row += gridDim.y)
    sum += a[static_cast<size_t>(row) * columns + column] * x[row];
  atomicAdd(&y[column], sum);
}
