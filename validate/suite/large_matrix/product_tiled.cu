// C = A B with square tiles of A and B in shared memory, one product sum a thread. Sizes are multiples of TILE.

template <int TILE>
__global__ void product_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int rows,
                              int columns, int depth) {
  __shared__ float left[TILE][TILE], above[TILE][TILE];
  const int column = blockIdx.x * TILE + threadIdx.x;
  const int row = blockIdx.y * TILE + threadIdx.y;
  float sum = 0.0f;
  for (int first = 0; first < depth; first += TILE) {
    left[threadIdx.y][threadIdx.x] = a[row * depth + first + threadIdx.x];
    above[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * columns + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum += left[threadIdx.y][k] * above[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows) c[row * columns + column] = sum;
}

template __global__ void product_tiled<16>(const float*, const float*, float*, int, int, int);
template __global__ void product_tiled<32>(const float*, const float*, float*, int, int, int);
