// The sum of each column of a matrix that is stored by rows. column_sums gives every thread one column: its loads are
// coalesced, but the grid is only as wide as the matrix. column_sums_tiled splits the rows over blockIdx.y and the
// threads of a block over 32 columns and 8 rows, adds the 8 in shared memory and the splits by atomics.

__global__ void column_sums(const float* __restrict__ in, float* __restrict__ sums, int rows, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float sum = 0.0f;
  for (int r = 0; r < rows; ++r) sum += in[(size_t)r * columns + c];
  sums[c] = sum;
}

__global__ void column_sums_tiled(const float* __restrict__ in, float* __restrict__ sums, int rows,
                                  int columns) {
  __shared__ float tile[8][33];
  const int c = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  if (c < columns) {
    for (int r = blockIdx.y * 8 + threadIdx.y; r < rows; r += gridDim.y * 8)
      sum += in[(size_t)r * columns + c];
  }
  tile[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && c < columns) {
    for (int y = 1; y < 8; ++y) sum += tile[y][threadIdx.x];
    atomicAdd(&sums[c], sum);
  }
}
