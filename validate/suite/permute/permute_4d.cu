// Reordering the axes of a tensor. permute_4d is the general copy: any order of four axes, each output
// element found by divisions by sizes that are known at run time only. channels_last is the one order that
// everybody needs, through tiles of shared memory, so that both sides are contiguous.

struct Sizes {
  int n[4];
};

// out axis j is in axis order.n[j]; `sizes` are those of the input.
__global__ void permute_4d(const float* __restrict__ in, float* __restrict__ out, Sizes sizes, Sizes order,
                           int count) {
  const int stride[4] = {sizes.n[1] * sizes.n[2] * sizes.n[3], sizes.n[2] * sizes.n[3], sizes.n[3], 1};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    int rest = i;
    int from = 0;
    for (int axis = 3; axis >= 0; --axis) {
      const int in_axis = order.n[axis];
      int size = sizes.n[0], step = stride[0];
#pragma unroll
      for (int k = 1; k < 4; ++k) {
        if (in_axis == k) {
          size = sizes.n[k];
          step = stride[k];
        }
      }
      from += rest % size * step;
      rest /= size;
    }
    out[i] = in[from];
  }
}

// images x channels x pixels to images x pixels x channels, in blocks of 32 x 8 threads for tiles of 32 x
// 32.
__global__ void channels_last(const unsigned short* __restrict__ in, unsigned short* __restrict__ out,
                              int channels, int pixels) {
  __shared__ unsigned short tile[32][33];
  const size_t image = static_cast<size_t>(blockIdx.z) * channels * pixels;
  for (int j = threadIdx.y; j < 32; j += 8) {
    const int channel = blockIdx.y * 32 + j;
    const int pixel = blockIdx.x * 32 + threadIdx.x;
    if (channel < channels && pixel < pixels)
      tile[j][threadIdx.x] = in[image + static_cast<size_t>(channel) * pixels + pixel];
  }
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8) {
    const int channel = blockIdx.y * 32 + threadIdx.x;
    const int pixel = blockIdx.x * 32 + j;
    if (channel < channels && pixel < pixels)
      out[image + static_cast<size_t>(pixel) * channels + channel] = tile[threadIdx.x][j];
  }
}
