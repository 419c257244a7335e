// Attention in the three steps of its definition, through memory: scores = scale * q k^T where the key is
// not after the query, softmax along the rows, values = p v. Heads of 64 floats; everything is heads x
// sequence x 64. Two plain tiled products of 16 x 16 threads with a warp's softmax between them.

#define HEAD 64
#define MASKED (-1e30f)

__global__ void attention_scores(const float* __restrict__ q, const float* __restrict__ k,
                                 float* __restrict__ scores, int sequence, float scale) {
  __shared__ float q_tile[16][17];
  __shared__ float k_tile[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  const int query = blockIdx.y * 16 + y;
  const int key = blockIdx.x * 16 + x;
  const size_t head = static_cast<size_t>(blockIdx.z) * sequence;
  float sum = 0.0f;
  if (blockIdx.x <= blockIdx.y) {  // else all of the tile comes after its queries
    for (int first = 0; first < HEAD; first += 16) {
      const int key_row = blockIdx.x * 16 + y;
      q_tile[y][x] = query < sequence ? q[(head + query) * HEAD + first + x] : 0.0f;
      k_tile[y][x] = key_row < sequence ? k[(head + key_row) * HEAD + first + x] : 0.0f;
      __syncthreads();
#pragma unroll
      for (int i = 0; i < 16; ++i) sum += q_tile[y][i] * k_tile[x][i];
      __syncthreads();
    }
  }
  if (query < sequence && key < sequence) {
    scores[(head + query) * sequence + key] = key <= query ? sum * scale : MASKED;
  }
}

// A row a warp, read three times; in place.
__global__ void attention_softmax(float* __restrict__ scores, int rows, int columns) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float* values = scores + static_cast<size_t>(row) * columns;
  float largest = -INFINITY;
  for (int i = lane; i < columns; i += 32) largest = fmaxf(largest, values[i]);
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  }
  float sum = 0.0f;
  for (int i = lane; i < columns; i += 32) {
    const float power = expf(values[i] - largest);
    values[i] = power;
    sum += power;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  const float scale = 1.0f / sum;
  for (int i = lane; i < columns; i += 32) values[i] *= scale;
}

__global__ void attention_values(const float* __restrict__ p, const float* __restrict__ v,
                                 float* __restrict__ out, int sequence) {
  __shared__ float p_tile[16][16];
  __shared__ float v_tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int query = blockIdx.y * 16 + y;
  const int column = blockIdx.x * 16 + x;
  const size_t head = static_cast<size_t>(blockIdx.z) * sequence;
  const int keys = min(sequence, (static_cast<int>(blockIdx.y) + 1) * 16);
  float sum = 0.0f;
  for (int first = 0; first < keys; first += 16) {
    p_tile[y][x] = query < sequence && first + x < sequence ? p[(head + query) * sequence + first + x] : 0.0f;
    v_tile[y][x] = first + y < sequence ? v[(head + first + y) * HEAD + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += p_tile[y][i] * v_tile[i][x];
    __syncthreads();
  }
  if (query < sequence) out[(head + query) * HEAD + column] = sum;
}
