// How many iterations of z*z + c stay within radius 2, for every point of a picture: a loop whose length differs from
// lane to lane. Each product is rounded on its own, so that the counts are the same everywhere.

__global__ void mandelbrot(unsigned short* __restrict__ iterations, int width, int height, float left,
                           float top, float step, int limit) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x;
  const int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float cx = fmaf((float)px, step, left);
  const float cy = fmaf((float)py, step, top);
  float x = 0.0f;
  float y = 0.0f;
  int i = 0;
  for (; i < limit; ++i) {
    const float xx = __fmul_rn(x, x);
    const float yy = __fmul_rn(y, y);
    if (xx + yy > 4.0f) break;
    y = fmaf(x + x, y, cy);
    x = xx - yy + cx;
  }
  iterations[py * width + px] = (unsigned short)i;
}
