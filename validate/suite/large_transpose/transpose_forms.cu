// A matrix turned over its diagonal: straight (stores a row apart), through a padded shared tile of 32 x 32 with 32 x 8
// threads, and from pictures stored plane by plane to pixels whose channels lie side by side.

__global__ void turn_straight(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[static_cast<size_t>(x) * height + y] = in[static_cast<size_t>(y) * width + x];
}

template <typename T>
__global__ void turn_tiled(const T* __restrict__ in, T* __restrict__ out, int width, int height) {
  __shared__ T tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int i = 0; i < 32; i += 8) {
    if (x < width && y + i < height) tile[threadIdx.y + i][threadIdx.x] = in[static_cast<size_t>(y + i) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int i = 0; i < 32; i += 8) {
    if (x < height && y + i < width) out[static_cast<size_t>(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
  }
}

template __global__ void turn_tiled<float>(const float*, float*, int, int);
template __global__ void turn_tiled<double>(const double*, double*, int, int);

/// Eight planes of `pixels` to pixels of eight channels; a thread a pixel.
__global__ void planes_to_pixels(const float* __restrict__ planes, float* __restrict__ out, int pixels) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x) {
#pragma unroll
    for (int c = 0; c < 8; ++c) out[static_cast<size_t>(i) * 8 + c] = planes[static_cast<size_t>(c) * pixels + i];
  }
}
