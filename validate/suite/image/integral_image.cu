// The integral image (summed-area table) of bytes in two passes. integral_rows: a block a row adds up along it,
// a pixel a thread and round, by shuffles in each warp and across warps through shared memory, with what came before
// carried on. integral_columns: a thread a column adds up downwards.

__global__ void integral_rows(const unsigned char* __restrict__ in, unsigned* __restrict__ out, int width) {
  __shared__ unsigned totals[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const size_t row = static_cast<size_t>(blockIdx.x) * width;
  unsigned before = 0;
  for (int first = 0; first < width; first += blockDim.x) {
    const int x = first + threadIdx.x;
    unsigned sum = x < width ? in[row + x] : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
      const unsigned left = __shfl_up_sync(0xffffffffu, sum, offset);
      if (lane >= offset) sum += left;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    unsigned all = 0;
    for (int w = 0; w < warps; ++w) {
      if (w == warp) sum += all;
      all += totals[w];
    }
    if (x < width) out[row + x] = before + sum;
    before += all;
    __syncthreads();
  }
}

__global__ void integral_columns(const unsigned* __restrict__ in, unsigned* __restrict__ out, int width,
                                 int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  unsigned sum = 0;
  for (int y = 0; y < height; ++y) {
    sum += in[static_cast<size_t>(y) * width + x];
    out[static_cast<size_t>(y) * width + x] = sum;
  }
}
