// A square filter over a picture, weights in constant memory, rims by the nearest pixel: straight from memory, and through a
// shared tile. Weights fall with the distance from the middle: w(d) = 1 / (1 + |dx| + |dy|).

#define ONE(dx, dy, R) 1.0f / (1.0f + ((dx) < (R) ? (R) - (dx) : (dx) - (R)) + ((dy) < (R) ? (R) - (dy) : (dy) - (R)))

template <int R>
struct Weights {
  float at[2 * R + 1][2 * R + 1];
  constexpr Weights() : at() {
    for (int y = 0; y <= 2 * R; ++y) {
      for (int x = 0; x <= 2 * R; ++x) at[y][x] = ONE(x, y, R);
    }
  }
};

__constant__ Weights<3> weights_3;
__constant__ Weights<7> weights_7;

template <int R>
__device__ float weight(int y, int x) {
  return R == 3 ? weights_3.at[y][x] : weights_7.at[y][x];
}

template <int R>
__global__ void filter_square(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
#pragma unroll
  for (int dy = 0; dy <= 2 * R; ++dy) {
    const float* row = in + static_cast<size_t>(min(max(y + dy - R, 0), height - 1)) * width;
#pragma unroll
    for (int dx = 0; dx <= 2 * R; ++dx) sum += weight<R>(dy, dx) * row[min(max(x + dx - R, 0), width - 1)];
  }
  out[static_cast<size_t>(y) * width + x] = sum;
}

/// Blocks of 32 x 8 threads, a pixel each.
template <int R>
__global__ void filter_square_tile(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float tile[8 + 2 * R][32 + 2 * R];
  const int left = blockIdx.x * 32 - R, top = blockIdx.y * 8 - R;
  for (int ty = threadIdx.y; ty < 8 + 2 * R; ty += 8) {
    const float* row = in + static_cast<size_t>(min(max(top + ty, 0), height - 1)) * width;
    for (int tx = threadIdx.x; tx < 32 + 2 * R; tx += 32) tile[ty][tx] = row[min(max(left + tx, 0), width - 1)];
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int dy = 0; dy <= 2 * R; ++dy) {
#pragma unroll
    for (int dx = 0; dx <= 2 * R; ++dx) sum += weight<R>(dy, dx) * tile[threadIdx.y + dy][threadIdx.x + dx];
  }
  const int x = left + R + threadIdx.x, y = top + R + threadIdx.y;
  if (x < width && y < height) out[static_cast<size_t>(y) * width + x] = sum;
}

template __global__ void filter_square<3>(const float*, float*, int, int);
template __global__ void filter_square<7>(const float*, float*, int, int);
template __global__ void filter_square_tile<3>(const float*, float*, int, int);
template __global__ void filter_square_tile<7>(const float*, float*, int, int);
