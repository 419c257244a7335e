// A 3x3 layer of a convolutional network: channels x height x width in, filters x height x width out,
// padded with zeros. A thread makes one pixel of four output channels; the four filters of the input
// channel at hand are in shared memory.

#define OUT_CHANNELS 4

__global__ void conv_layer(const float* __restrict__ in, const float* __restrict__ weights,
                           const float* __restrict__ bias, float* __restrict__ out, int channels, int width,
                           int height) {
  __shared__ float filters[OUT_CHANNELS][9];
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int first = blockIdx.z * OUT_CHANNELS;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const bool inside = x < width && y < height;
  float sum[OUT_CHANNELS];
  for (int k = 0; k < OUT_CHANNELS; ++k) sum[k] = bias[first + k];
  for (int c = 0; c < channels; ++c) {
    __syncthreads();
    if (thread < OUT_CHANNELS * 9) {
      filters[thread / 9][thread % 9] = weights[((first + thread / 9) * channels + c) * 9 + thread % 9];
    }
    __syncthreads();
    const float* plane = in + c * width * height;
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
      const int px = x + tap % 3 - 1;
      const int py = y + tap / 3 - 1;
      const bool there = inside && px >= 0 && px < width && py >= 0 && py < height;
      const float pixel = there ? plane[py * width + px] : 0.0f;
#pragma unroll
      for (int k = 0; k < OUT_CHANNELS; ++k) sum[k] += filters[k][tap] * pixel;
    }
  }
  if (!inside) return;
  for (int k = 0; k < OUT_CHANNELS; ++k) out[((first + k) * height + y) * width + x] = fmaxf(sum[k], 0.0f);
}
