// A 7x7 blur whose filter stands in constant memory: each weight is read by the whole warp at once, as an
// operand of the multiply-add. The border repeats the outermost pixels.

#define RADIUS 3

// The outer product of the binomial coefficients 1 6 15 20 15 6 1, over 64.
__constant__ float blur_filter[7][7] = {
    {1 / 4096.f, 6 / 4096.f, 15 / 4096.f, 20 / 4096.f, 15 / 4096.f, 6 / 4096.f, 1 / 4096.f},
    {6 / 4096.f, 36 / 4096.f, 90 / 4096.f, 120 / 4096.f, 90 / 4096.f, 36 / 4096.f, 6 / 4096.f},
    {15 / 4096.f, 90 / 4096.f, 225 / 4096.f, 300 / 4096.f, 225 / 4096.f, 90 / 4096.f, 15 / 4096.f},
    {20 / 4096.f, 120 / 4096.f, 300 / 4096.f, 400 / 4096.f, 300 / 4096.f, 120 / 4096.f, 20 / 4096.f},
    {15 / 4096.f, 90 / 4096.f, 225 / 4096.f, 300 / 4096.f, 225 / 4096.f, 90 / 4096.f, 15 / 4096.f},
    {6 / 4096.f, 36 / 4096.f, 90 / 4096.f, 120 / 4096.f, 90 / 4096.f, 36 / 4096.f, 6 / 4096.f},
    {1 / 4096.f, 6 / 4096.f, 15 / 4096.f, 20 / 4096.f, 15 / 4096.f, 6 / 4096.f, 1 / 4096.f}};

__global__ void conv2d_constant(const float* __restrict__ in, float* __restrict__ out, int width,
                                int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
#pragma unroll
  for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
    const float* row = in + min(max(y + dy, 0), height - 1) * width;
#pragma unroll
    for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
      sum += blur_filter[dy + RADIUS][dx + RADIUS] * row[min(max(x + dx, 0), width - 1)];
    }
  }
  out[y * width + x] = sum;
}
