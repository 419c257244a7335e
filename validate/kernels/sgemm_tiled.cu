// Lesson: shared memory as a cache that the program fills itself. A block of TILE x TILE threads computes
// a TILE x TILE piece of c = a * b; each element of a and b that it needs comes from memory once a block
// and is then read TILE times from shared memory.
//
// What to see: global loads fall by the factor TILE against sgemm_naive: 2 * n^3 / TILE floats in all. The
// shared reads have no bank conflicts: b_tile[i][x] is consecutive words; of a_tile each row of threads reads
// one place, a broadcast, which the compiler makes four words at a time (LDS.128). With TILE = 16 a warp
// spans two rows: two places 16 banks apart. So a step of i costs one LDS and a quarter for its one FFMA.
//
// Tile quantisation: n = 65 in tiles of 32 takes a 3x3 grid for what a 2.03 x 2.03 one would hold: 9 blocks
// do 96^3 multiply-adds for 65^3 wanted ones, 31 %. Elements outside are taken as 0, so the sums stay exact.

#ifndef TILE
#define TILE 16
#endif

__global__ void sgemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const int col = static_cast<int>(blockIdx.x) * TILE + x;
  const int row = static_cast<int>(blockIdx.y) * TILE + y;
  float sum = 0.0f;
  for (int first = 0; first < n; first += TILE) {
    a_tile[y][x] = row < n && first + x < n ? a[row * n + first + x] : 0.0f;
    b_tile[y][x] = col < n && first + y < n ? b[(first + y) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}
