// Lesson: registers as the next cache. A block of 16x16 threads computes a 64x64 piece of c = a * b, each
// thread 4x4 elements of it. What a thread reads from shared memory it uses four times: a step of i takes 8
// words for 16 multiply-adds, where sgemm_tiled takes 2 words for 1.
//
// sgemm_register        each thread's elements lie 16 apart, so that the lanes of a warp read consecutive
//                       words and every global access is one float. b's words cost one load each (LDS.32);
//                       a's, which follow each other in i, the compiler may join four at a time.
// sgemm_register_float4 each thread's elements lie beside each other: every access to memory and every
//                       read of shared memory is a float4, a quarter of the instructions for the same
//                       bytes. The price: a is stored transposed, one word at a time, and 68 words a row
//                       leave a two-way bank conflict there (rows i and i + 8 of one store share banks:
//                       8 * 68 = 17 * 32; without the padding it would be four-way).
//
// n must be a multiple of 64. Each element's sum is in ascending i, as in the other SGEMM kernels.

constexpr int kTile = 64;   // elements of c a block, in each direction
constexpr int kDepth = 16;  // elements of a row of a, and of a column of b, held at a time
constexpr int kEach = 4;    // elements of c a thread, in each direction

__global__ void __launch_bounds__(256) sgemm_register(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kTile][kDepth];
  __shared__ float b_tile[kDepth][kTile];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const int thread = y * 16 + x;
  const int first_row = static_cast<int>(blockIdx.y) * kTile;
  const int first_col = static_cast<int>(blockIdx.x) * kTile;
  float sum[kEach][kEach] = {};
  for (int first = 0; first < n; first += kDepth) {
    for (int j = 0; j < kEach; ++j) {
      a_tile[y + 16 * j][x] = a[(first_row + y + 16 * j) * n + first + x];
      b_tile[thread / kTile + 4 * j][thread % kTile] =
          b[(first + thread / kTile + 4 * j) * n + first_col + thread % kTile];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float column[kEach];
      float row[kEach];
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        column[j] = a_tile[y + 16 * j][i];
        row[j] = b_tile[i][x + 16 * j];
      }
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
#pragma unroll
        for (int k = 0; k < kEach; ++k) sum[r][k] += column[r] * row[k];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kEach; ++r) {
    for (int k = 0; k < kEach; ++k) { c[(first_row + y + 16 * r) * n + first_col + x + 16 * k] = sum[r][k]; }
  }
}

__global__ void __launch_bounds__(256)
    sgemm_register_float4(const float* a, const float* b, float* c, int n) {
  constexpr int kPadded = kTile + 4;  // a float4 must stay aligned, so the padding is 4 words, not 1
  __shared__ __align__(16) float a_tile[kDepth][kPadded];
  __shared__ __align__(16) float b_tile[kDepth][kTile];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const int thread = y * 16 + x;
  const int first_row = static_cast<int>(blockIdx.y) * kTile;
  const int first_col = static_cast<int>(blockIdx.x) * kTile;
  const int a_row = thread / 4;  // 64 rows of 16 floats: four threads a row
  const int a_first = thread % 4 * 4;
  const int b_row = thread / 16;  // 16 rows of 64 floats: sixteen threads a row
  const int b_first = thread % 16 * 4;
  float sum[kEach][kEach] = {};
  for (int first = 0; first < n; first += kDepth) {
    const float4 from_a = *reinterpret_cast<const float4*>(&a[(first_row + a_row) * n + first + a_first]);
    a_tile[a_first + 0][a_row] = from_a.x;
    a_tile[a_first + 1][a_row] = from_a.y;
    a_tile[a_first + 2][a_row] = from_a.z;
    a_tile[a_first + 3][a_row] = from_a.w;
    *reinterpret_cast<float4*>(&b_tile[b_row][b_first]) =
        *reinterpret_cast<const float4*>(&b[(first + b_row) * n + first_col + b_first]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      const float4 column4 = *reinterpret_cast<const float4*>(&a_tile[i][y * kEach]);
      const float4 row4 = *reinterpret_cast<const float4*>(&b_tile[i][x * kEach]);
      const float column[kEach] = {column4.x, column4.y, column4.z, column4.w};
      const float row[kEach] = {row4.x, row4.y, row4.z, row4.w};
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
#pragma unroll
        for (int k = 0; k < kEach; ++k) sum[r][k] += column[r] * row[k];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kEach; ++r) {
    *reinterpret_cast<float4*>(&c[(first_row + y * kEach + r) * n + first_col + x * kEach]) =
        make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
  }
}
