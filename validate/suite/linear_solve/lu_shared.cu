// A matrix of 48 x 48 a block, factored in shared memory without exchanging rows (`shift` on the diagonal
// keeps it safe): a step divides a column, updates what is right and below of it, and needs two barriers;
// the work left shrinks every step.

#define SIZE 48

__global__ void __launch_bounds__(256)
    lu_shared(const float* __restrict__ matrices, float* __restrict__ factors, float shift) {
  __shared__ float a[SIZE][SIZE + 1];
  const size_t base = static_cast<size_t>(blockIdx.x) * SIZE * SIZE;
  for (int i = threadIdx.x; i < SIZE * SIZE; i += 256) {
    const int row = i / SIZE, col = i % SIZE;
    a[row][col] = matrices[base + i] + (row == col ? shift : 0.0f);
  }
  __syncthreads();
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  for (int k = 0; k < SIZE - 1; ++k) {
    const float inverse = 1.0f / a[k][k];
    for (int row = k + 1 + threadIdx.x; row < SIZE; row += 256) a[row][k] *= inverse;
    __syncthreads();
    for (int row = k + 1 + y; row < SIZE; row += 16) {
      for (int col = k + 1 + x; col < SIZE; col += 16) a[row][col] -= a[row][k] * a[k][col];
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < SIZE * SIZE; i += 256) factors[base + i] = a[i / SIZE][i % SIZE];
}
