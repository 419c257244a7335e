// C = alpha A B + beta C in single precision. A block of four warps makes BM x BN = 64 x 128 of C, a warp 32 x 64, a
// thread 8 x 8 as two by two pieces of 4 x 4, so that a warp's reads of the shared tiles are broadcasts or whole rows.
// A's tile is kept transposed. While one pair of tiles is multiplied, the next is on its way into registers, and goes
// into the other half of shared memory afterwards. GUARDED takes any M, and N and K that are multiples of four.

const int BM = 64;
const int BN = 128;
const int BK = 16;
const int THREADS = 128;

template <bool GUARDED>
__global__ void __launch_bounds__(THREADS)
    sgemm_warp_tiled(int M, int N, int K, float alpha, const float* __restrict__ A,
                     const float* __restrict__ B, float beta, float* __restrict__ C) {
  __shared__ __align__(16) float As[2][BK][BM + 4];
  __shared__ __align__(16) float Bs[2][BK][BN];

  const int tid = threadIdx.x;
  const int blockRow = blockIdx.y * BM;
  const int blockCol = blockIdx.x * BN;

  // Loads: A in two float4 a thread (four threads a row of 16), B in four (32 threads a row of 128).
  const int aRow = tid / 4, aCol = tid % 4 * 4;
  const int bRow = tid / 32, bCol = tid % 32 * 4;
  float4 aNext[2], bNext[4];

  auto fetch = [&](int k0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = blockRow + aRow + 32 * i;
      aNext[i] = make_float4(0.f, 0.f, 0.f, 0.f);
      if (!GUARDED || (row < M && k0 + aCol < K))
        aNext[i] = *reinterpret_cast<const float4*>(&A[(size_t)row * K + k0 + aCol]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = k0 + bRow + 4 * i;
      bNext[i] = make_float4(0.f, 0.f, 0.f, 0.f);
      if (!GUARDED || (row < K && blockCol + bCol < N))
        bNext[i] = *reinterpret_cast<const float4*>(&B[(size_t)row * N + blockCol + bCol]);
    }
  };
  auto deposit = [&](int half) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      As[half][aCol + 0][aRow + 32 * i] = aNext[i].x;
      As[half][aCol + 1][aRow + 32 * i] = aNext[i].y;
      As[half][aCol + 2][aRow + 32 * i] = aNext[i].z;
      As[half][aCol + 3][aRow + 32 * i] = aNext[i].w;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) *reinterpret_cast<float4*>(&Bs[half][bRow + 4 * i][bCol]) = bNext[i];
  };

  const int warp = tid / 32, lane = tid % 32;
  const int rowInTile = warp / 2 * 32 + lane / 8 * 4;  // and 16 further down
  const int colInTile = warp % 2 * 64 + lane % 8 * 4;  // and 32 further right

  float acc[8][8] = {};
  fetch(0);
  deposit(0);
  __syncthreads();

  int half = 0;
  for (int k0 = 0; k0 < K; k0 += BK) {
    const bool more = k0 + BK < K;
    if (more) fetch(k0 + BK);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[8], b[8];
      *reinterpret_cast<float4*>(&a[0]) = *reinterpret_cast<const float4*>(&As[half][k][rowInTile]);
      *reinterpret_cast<float4*>(&a[4]) = *reinterpret_cast<const float4*>(&As[half][k][rowInTile + 16]);
      *reinterpret_cast<float4*>(&b[0]) = *reinterpret_cast<const float4*>(&Bs[half][k][colInTile]);
      *reinterpret_cast<float4*>(&b[4]) = *reinterpret_cast<const float4*>(&Bs[half][k][colInTile + 32]);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) acc[i][j] += a[i] * b[j];
    }
    if (more) {
      deposit(half ^ 1);
      __syncthreads();
      half ^= 1;
    }
  }

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = blockRow + rowInTile + i / 4 * 16 + i % 4;
    if (GUARDED && row >= M) continue;
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
      const int col = blockCol + colInTile + j / 4 * 32;
      if (GUARDED && col >= N) continue;
      float4* to = reinterpret_cast<float4*>(&C[(size_t)row * N + col]);
      float4 c = *to;
      c.x = alpha * acc[i][j + 0] + beta * c.x;
      c.y = alpha * acc[i][j + 1] + beta * c.y;
      c.z = alpha * acc[i][j + 2] + beta * c.z;
      c.w = alpha * acc[i][j + 3] + beta * c.w;
      *to = c;
    }
  }
}

template __global__ void sgemm_warp_tiled<false>(int, int, int, float, const float*, const float*, float,
                                                 float*);
template __global__ void sgemm_warp_tiled<true>(int, int, int, float, const float*, const float*, float,
                                                float*);
