// A Julia set in double precision, rows of the picture shared out by a grid-stride loop.

__global__ void julia_double(unsigned* __restrict__ iterations, int width, int height, double cx, double cy,
                             double extent, int limit) {
  const int pixels = width * height;
  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < pixels; p += gridDim.x * blockDim.x) {
    double x = fma((double)(p % width), extent / width, -0.5 * extent);
    double y = fma((double)(p / width), extent / height, -0.5 * extent);
    int i = 0;
    for (; i < limit; ++i) {
      const double xx = __dmul_rn(x, x);
      const double yy = __dmul_rn(y, y);
      if (xx + yy > 4.0) break;
      y = fma(x + x, y, cy);
      x = xx - yy + cx;
    }
    iterations[p] = (unsigned)i;
  }
}
