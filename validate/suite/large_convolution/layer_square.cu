// A layer of 3 x 3 convolutions over many pictures (picture, channel, row, column), rims zero: a block has 16 x 16 pixels of
// eight outgoing channels, and takes one incoming channel at a time through shared memory.

#define SIDE 16
#define MANY 8

__global__ void __launch_bounds__(SIDE* SIDE)
    layer_square(const float* __restrict__ in, const float* __restrict__ weights, float* __restrict__ out, int channels,
                 int results, int size) {
  __shared__ float tile[SIDE + 2][SIDE + 2];
  __shared__ float weight[9][MANY];
  const int tiles = (size + SIDE - 1) / SIDE;
  const int left = blockIdx.x % tiles * SIDE, top = blockIdx.x / tiles * SIDE;
  const int first = blockIdx.y * MANY;
  const int thread = threadIdx.y * SIDE + threadIdx.x;
  const float* picture = in + static_cast<size_t>(blockIdx.z) * channels * size * size;
  float sum[MANY] = {};
  for (int channel = 0; channel < channels; ++channel, picture += size * size) {
    __syncthreads();
    for (int at = thread; at < (SIDE + 2) * (SIDE + 2); at += SIDE * SIDE) {
      const int tx = at % (SIDE + 2), ty = at / (SIDE + 2);
      const int x = left + tx - 1, y = top + ty - 1;
      tile[ty][tx] = x >= 0 && y >= 0 && x < size && y < size ? picture[y * size + x] : 0.0f;
    }
    if (thread < 9 * MANY) {
      weight[thread / MANY][thread % MANY] =
          weights[(static_cast<size_t>(first + thread % MANY) * channels + channel) * 9 + thread / MANY];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 9; ++k) {
      const float pixel = tile[threadIdx.y + k / 3][threadIdx.x + k % 3];
#pragma unroll
      for (int r = 0; r < MANY; ++r) sum[r] += pixel * weight[k][r];
    }
  }
  const int x = left + threadIdx.x, y = top + threadIdx.y;
  if (x >= size || y >= size) return;
#pragma unroll
  for (int r = 0; r < MANY; ++r) {
    out[((static_cast<size_t>(blockIdx.z) * results + first + r) * size + y) * size + x] = sum[r];
  }
}
