// LU decomposition in place by tiles of 16 x 16, three launches a step: the tile on the diagonal by one small block, the tiles
// right of it and below it by blocks whose halves do one each, the rest by a thread an element.
#define TILE 16

__global__ void lud_dominant(float* m, int n, float add) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) m[i * n + i] += add;
}

__global__ void lud_diagonal(float* m, int n, int offset) {
  __shared__ float tile[TILE][TILE];
  float* corner = m + offset * n + offset;
  const int tid = threadIdx.x;
  for (int i = 0; i < TILE; i++) tile[i][tid] = corner[i * n + tid];
  __syncthreads();
  for (int i = 0; i < TILE - 1; i++) {
    if (tid > i) {
      for (int j = 0; j < i; j++) tile[tid][i] -= tile[tid][j] * tile[j][i];
      tile[tid][i] /= tile[i][i];
    }
    __syncthreads();
    if (tid > i) {
      for (int j = 0; j < i + 1; j++) tile[i + 1][tid] -= tile[i + 1][j] * tile[j][tid];
    }
    __syncthreads();
  }
  for (int i = 1; i < TILE; i++) corner[i * n + tid] = tile[i][tid];
}

__global__ void lud_perimeter(float* m, int n, int offset) {
  __shared__ float diagonal[TILE][TILE];
  __shared__ float row[TILE][TILE];
  __shared__ float column[TILE][TILE];
  const bool is_row = threadIdx.x < TILE;
  const int lane = is_row ? threadIdx.x : threadIdx.x - TILE;
  const int away = (blockIdx.x + 1) * TILE;
  float* corner = m + offset * n + offset;
  if (is_row) {
    for (int i = 0; i < TILE / 2; i++) diagonal[i][lane] = corner[i * n + lane];
    for (int i = 0; i < TILE; i++) row[i][lane] = corner[i * n + away + lane];
  } else {
    for (int i = TILE / 2; i < TILE; i++) diagonal[i][lane] = corner[i * n + lane];
    for (int i = 0; i < TILE; i++) column[i][lane] = corner[(away + i) * n + lane];
  }
  __syncthreads();
  if (is_row) {
    for (int i = 1; i < TILE; i++) {
      for (int j = 0; j < i; j++) row[i][lane] -= diagonal[i][j] * row[j][lane];
    }
  } else {
    for (int i = 0; i < TILE; i++) {
      for (int j = 0; j < i; j++) column[lane][i] -= column[lane][j] * diagonal[j][i];
      column[lane][i] /= diagonal[i][i];
    }
  }
  __syncthreads();
  if (is_row) {
    for (int i = 1; i < TILE; i++) corner[i * n + away + lane] = row[i][lane];
  } else {
    for (int i = 0; i < TILE; i++) corner[(away + i) * n + lane] = column[i][lane];
  }
}

__global__ void lud_internal(float* m, int n, int offset) {
  __shared__ float row[TILE][TILE];
  __shared__ float column[TILE][TILE];
  const int x = offset + (blockIdx.x + 1) * TILE + threadIdx.x;
  const int y = offset + (blockIdx.y + 1) * TILE + threadIdx.y;
  row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * n + x];
  column[threadIdx.y][threadIdx.x] = m[y * n + offset + threadIdx.x];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < TILE; i++) sum += column[threadIdx.y][i] * row[i][threadIdx.x];
  m[y * n + x] -= sum;
}
