// A square filter over an image, straight from global memory: neighbours reread each other's pixels, and
// only the caches make that bearable. Outside the image there are zeros. The filter's size is known at run
// time only, so the loops stay loops.

__global__ void conv2d_direct(const float* __restrict__ in, const float* __restrict__ filter,
                              float* __restrict__ out, int width, int height, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int side = 2 * radius + 1;
  float sum = 0.0f;
  for (int dy = -radius; dy <= radius; ++dy) {
    const int row = y + dy;
    if (row < 0 || row >= height) continue;
    for (int dx = -radius; dx <= radius; ++dx) {
      const int col = x + dx;
      if (col < 0 || col >= width) continue;
      sum += filter[(dy + radius) * side + dx + radius] * in[row * width + col];
    }
  }
  out[y * width + x] = sum;
}
