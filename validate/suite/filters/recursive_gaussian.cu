// A recursive filter of the columns of an image of packed bytes, a thread a column: down with four terms, and up again, where
// both are added.

__device__ __forceinline__ float4 widen(unsigned c) {
  return make_float4(c & 0xff, c >> 8 & 0xff, c >> 16 & 0xff, c >> 24);
}

__device__ __forceinline__ float4 filter(float a0, float4 x, float a1, float4 x1, float b1, float4 y1, float b2, float4 y2) {
  return make_float4(a0 * x.x + a1 * x1.x - b1 * y1.x - b2 * y2.x, a0 * x.y + a1 * x1.y - b1 * y1.y - b2 * y2.y,
                     a0 * x.z + a1 * x1.z - b1 * y1.z - b2 * y2.z, a0 * x.w + a1 * x1.w - b1 * y1.w - b2 * y2.w);
}

__global__ void recursive_gaussian(const unsigned* __restrict__ in, float4* __restrict__ out, int width, int height,
                                   float a0, float a1, float a2, float a3, float b1, float b2) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  in += x;
  out += x;
  float4 xp = make_float4(0.0f, 0.0f, 0.0f, 0.0f), yp = xp, yb = xp;
  for (int y = 0; y < height; y++) {
    const float4 xc = widen(*in);
    const float4 yc = filter(a0, xc, a1, xp, b1, yp, b2, yb);
    *out = yc;
    in += width;
    out += width;
    xp = xc;
    yb = yp;
    yp = yc;
  }
  in -= width;
  out -= width;
  float4 xn = make_float4(0.0f, 0.0f, 0.0f, 0.0f), xa = xn, yn = xn, ya = xn;
  for (int y = height - 1; y >= 0; y--) {
    const float4 xc = widen(*in);
    const float4 yc = filter(a2, xn, a3, xa, b1, yn, b2, ya);
    xa = xn;
    xn = xc;
    ya = yn;
    yn = yc;
    const float4 sum = *out;
    *out = make_float4(sum.x + yc.x, sum.y + yc.y, sum.z + yc.z, sum.w + yc.w);
    in -= width;
    out -= width;
  }
}
