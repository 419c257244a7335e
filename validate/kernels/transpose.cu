// Lesson: bank conflicts. Shared memory has 32 banks of 4 bytes; word w lies in bank w % 32. Lanes that ask
// for different words of one bank wait for each other.
//
// transpose_naive     reads rows (4 sectors a request) and writes columns: 32 addresses, height floats apart,
//                     32 sectors a request, of which 4 bytes each are wanted.
// transpose_tile<32>  both sides coalesced through tile[32][32]. But the read of a column, tile[lane][y], is
//                     words 32 apart: all in one bank, 32 wavefronts, 31 conflicts a load.
// transpose_tile<33>  one word of padding a row: the same column is words 33 apart, in 32 different banks:
//                     1 wavefront, no conflict.
// Blocks of 32x8 threads, each of which moves four elements, 8 rows apart.

constexpr int kTile = 32;
constexpr int kRows = 8;  // rows of threads: blockDim.y

__global__ void transpose_naive(const float* in, float* out, int width, int height) {
  const int x = static_cast<int>(blockIdx.x) * kTile + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kTile + static_cast<int>(threadIdx.y);
  for (int j = 0; j < kTile; j += kRows) {
    if (x < width && y + j < height) out[x * height + y + j] = in[(y + j) * width + x];
  }
}

template <int WIDTH>
__global__ void transpose_tile(const float* in, float* out, int width, int height) {
  __shared__ float tile[kTile][WIDTH];
  const int lane = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * kTile + lane;
  const int y = static_cast<int>(blockIdx.y) * kTile + row;
  for (int j = 0; j < kTile; j += kRows) {
    if (x < width && y + j < height) tile[row + j][lane] = in[(y + j) * width + x];
  }
  __syncthreads();
  const int out_x = static_cast<int>(blockIdx.y) * kTile + lane;
  const int out_y = static_cast<int>(blockIdx.x) * kTile + row;
  for (int j = 0; j < kTile; j += kRows) {
    if (out_x < height && out_y + j < width) out[(out_y + j) * height + out_x] = tile[lane][row + j];
  }
}
