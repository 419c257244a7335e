// Global alignment of two sequences: the tiles of one diagonal of the score matrix, each a block of as many threads
// as the tile is wide. The tile's scores and substitution costs are brought into shared memory, the cells are filled
// diagonal by diagonal, and the tile is written back. Many pairs of sequences are aligned at once (blockIdx.y).

template <int TILE>
__global__ void align_tiles(const int* substitution, int* score, int size, int diagonal, int penalty) {
  __shared__ int cell[TILE + 1][TILE + 1];
  __shared__ int cost[TILE][TILE];

  const int pitch = size + 1;
  const int t = threadIdx.x;
  const int tile_x = blockIdx.x;
  const int tile_y = diagonal - blockIdx.x;
  const long long pair = blockIdx.y;
  const int* costs = substitution + pair * size * size + (long long)tile_y * TILE * size + tile_x * TILE;
  int* corner = score + pair * pitch * pitch + (long long)tile_y * TILE * pitch + tile_x * TILE;

  for (int row = 0; row < TILE; row++) cost[row][t] = costs[(long long)row * size + t];
  if (t == 0) cell[0][0] = corner[0];
  cell[t + 1][0] = corner[(long long)(t + 1) * pitch];
  cell[0][t + 1] = corner[t + 1];
  __syncthreads();

  // Cells of which row and column, from 0, add up to `sum`.
  for (int sum = 0; sum < 2 * TILE - 1; sum++) {
    const int x = sum < TILE ? t : t + sum - (TILE - 1);
    const int y = sum - x;
    if (x < TILE && y >= 0) {
      const int along = cell[y][x] + cost[y][x];
      const int down = cell[y][x + 1] - penalty;
      const int right = cell[y + 1][x] - penalty;
      cell[y + 1][x + 1] = max(along, max(down, right));
    }
    __syncthreads();
  }

  for (int row = 0; row < TILE; row++) corner[(long long)(row + 1) * pitch + t + 1] = cell[row + 1][t + 1];
}

template __global__ void align_tiles<16>(const int*, int*, int, int, int);
template __global__ void align_tiles<32>(const int*, int*, int, int, int);
template __global__ void align_tiles<64>(const int*, int*, int, int, int);
