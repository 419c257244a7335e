// The cosine transform of tiles of 8 x 8: a thread an element with the matrix in constant memory, two products through shared
// memory; and a thread a row, then a column, of a tile, eight numbers in registers.

__constant__ float cosines[64] = {
    0.35355339f, 0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,
    0.49039264f, 0.41573481f,  0.27778512f,  0.09754516f,  -0.09754516f, -0.27778512f, -0.41573481f, -0.49039264f,
    0.46193977f, 0.19134172f,  -0.19134172f, -0.46193977f, -0.46193977f, -0.19134172f, 0.19134172f,  0.46193977f,
    0.41573481f, -0.09754516f, -0.49039264f, -0.27778512f, 0.27778512f,  0.49039264f,  0.09754516f,  -0.41573481f,
    0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f,  0.35355339f,  -0.35355339f, -0.35355339f, 0.35355339f,
    0.27778512f, -0.49039264f, 0.09754516f,  0.41573481f,  -0.41573481f, -0.09754516f, 0.49039264f,  -0.27778512f,
    0.19134172f, -0.46193977f, 0.46193977f,  -0.19134172f, -0.19134172f, 0.46193977f,  -0.46193977f, 0.19134172f,
    0.09754516f, -0.27778512f, 0.41573481f,  -0.49039264f, 0.49039264f,  -0.41573481f, 0.27778512f,  -0.09754516f};

__global__ void dct_elements(const float* __restrict__ in, float* __restrict__ out, int width) {
  __shared__ float tile[64];
  __shared__ float half[64];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int at = (blockIdx.y * 8 + ty) * width + blockIdx.x * 8 + tx;
  tile[ty * 8 + tx] = in[at];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; i++) sum += cosines[ty * 8 + i] * tile[i * 8 + tx];
  half[ty * 8 + tx] = sum;
  __syncthreads();
  sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; i++) sum += half[ty * 8 + i] * cosines[tx * 8 + i];
  out[at] = sum;
}

__device__ __forceinline__ void transform(float* v) {
  const float a0 = v[0] + v[7], a1 = v[1] + v[6], a2 = v[2] + v[5], a3 = v[3] + v[4];
  const float s0 = v[0] - v[7], s1 = v[1] - v[6], s2 = v[2] - v[5], s3 = v[3] - v[4];
  const float b0 = a0 + a3, b1 = a1 + a2, c0 = a0 - a3, c1 = a1 - a2;
  v[0] = 0.35355339f * (b0 + b1);
  v[4] = 0.35355339f * (b0 - b1);
  v[2] = 0.46193977f * c0 + 0.19134172f * c1;
  v[6] = 0.19134172f * c0 - 0.46193977f * c1;
  v[1] = 0.49039264f * s0 + 0.41573481f * s1 + 0.27778512f * s2 + 0.09754516f * s3;
  v[3] = 0.41573481f * s0 - 0.09754516f * s1 - 0.49039264f * s2 - 0.27778512f * s3;
  v[5] = 0.27778512f * s0 - 0.49039264f * s1 + 0.09754516f * s2 + 0.41573481f * s3;
  v[7] = 0.09754516f * s0 - 0.27778512f * s1 + 0.41573481f * s2 - 0.49039264f * s3;
}

// A block has a row of tiles, blockDim.x / 8 of them.
__global__ void dct_lines(const float* __restrict__ in, float* __restrict__ out, int width) {
  extern __shared__ float rows[];  // 8 rows of blockDim.x + 1
  const int pitch = blockDim.x + 1;
  const int left = blockIdx.x * blockDim.x;
  for (int y = 0; y < 8; y++) rows[y * pitch + threadIdx.x] = in[(blockIdx.y * 8 + y) * width + left + threadIdx.x];
  float v[8];
#pragma unroll
  for (int y = 0; y < 8; y++) v[y] = rows[y * pitch + threadIdx.x];
  transform(v);
#pragma unroll
  for (int y = 0; y < 8; y++) rows[y * pitch + threadIdx.x] = v[y];
  __syncthreads();
  float* line = rows + threadIdx.x % 8 * pitch + threadIdx.x / 8 * 8;
#pragma unroll
  for (int x = 0; x < 8; x++) v[x] = line[x];
  transform(v);
#pragma unroll
  for (int x = 0; x < 8; x++) line[x] = v[x];
  __syncthreads();
  for (int y = 0; y < 8; y++) out[(blockIdx.y * 8 + y) * width + left + threadIdx.x] = rows[y * pitch + threadIdx.x];
}
