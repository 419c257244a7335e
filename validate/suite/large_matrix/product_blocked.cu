// C = A B in tiles of 128 x 128 a block of 256 threads, 8 x 8 results a thread in registers, eight columns of A and rows of B
// at a time through shared memory, the next eight on their way in registers. Sizes are multiples of 128 (depth: of 8).

#define SIDE 128
#define STEP 8

__global__ void __launch_bounds__(256)
    product_blocked(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int rows, int columns,
                    int depth) {
  __shared__ __align__(16) float left[STEP][SIDE + 4];
  __shared__ __align__(16) float above[STEP][SIDE];
  const int thread = threadIdx.x;
  const int row_a = thread / 2, part_a = thread % 2 * 4;
  const int row_b = thread / 32, part_b = thread % 32 * 4;
  const int my_row = thread / 16 * 8, my_column = thread % 16 * 4;
  const float* from_a = a + static_cast<size_t>(blockIdx.y * SIDE + row_a) * depth + part_a;
  const float* from_b = b + static_cast<size_t>(row_b) * columns + blockIdx.x * SIDE + part_b;
  float sum[8][8] = {};
  float4 next_a = *reinterpret_cast<const float4*>(from_a);
  float4 next_b = *reinterpret_cast<const float4*>(from_b);
  for (int first = 0; first < depth; first += STEP) {
    left[part_a][row_a] = next_a.x;
    left[part_a + 1][row_a] = next_a.y;
    left[part_a + 2][row_a] = next_a.z;
    left[part_a + 3][row_a] = next_a.w;
    *reinterpret_cast<float4*>(&above[row_b][part_b]) = next_b;
    __syncthreads();
    if (first + STEP < depth) {
      next_a = *reinterpret_cast<const float4*>(from_a + first + STEP);
      next_b = *reinterpret_cast<const float4*>(from_b + static_cast<size_t>(first + STEP) * columns);
    }
#pragma unroll
    for (int k = 0; k < STEP; ++k) {
      float x[8], y[8];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        *reinterpret_cast<float4*>(&x[4 * half]) = *reinterpret_cast<const float4*>(&left[k][my_row + 4 * half]);
        *reinterpret_cast<float4*>(&y[4 * half]) = *reinterpret_cast<const float4*>(&above[k][my_column + 64 * half]);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float* to = c + static_cast<size_t>(blockIdx.y * SIDE + my_row + i) * columns + blockIdx.x * SIDE + my_column;
    *reinterpret_cast<float4*>(to) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    *reinterpret_cast<float4*>(to + 64) = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
  }
}
