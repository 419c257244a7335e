// Planes made larger by cubic weights of 4 x 4 neighbours, clamped at the sides: a thread a pixel of the result, all planes of it.

__device__ __forceinline__ void cubic_weights(float* w, float t) {
  const float a = -0.75f;
  float x = t + 1.0f;
  w[0] = ((a * x - 5.0f * a) * x + 8.0f * a) * x - 4.0f * a;
  x = t;
  w[1] = ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f;
  x = 1.0f - t;
  w[2] = ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f;
  x = 2.0f - t;
  w[3] = ((a * x - 5.0f * a) * x + 8.0f * a) * x - 4.0f * a;
}

__global__ void bicubic_upsample(const float* __restrict__ in, float* __restrict__ out, int planes, int height, int width,
                                 int out_height, int out_width, float scale_y, float scale_x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= out_height * out_width) return;
  const int ox = i % out_width;
  const int oy = i / out_width;
  const float real_x = scale_x * (ox + 0.5f) - 0.5f;
  const float real_y = scale_y * (oy + 0.5f) - 0.5f;
  const int ix = floorf(real_x);
  const int iy = floorf(real_y);
  float wx[4], wy[4];
  cubic_weights(wx, real_x - ix);
  cubic_weights(wy, real_y - iy);
  for (int plane = 0; plane < planes; plane++) {
    const float* from = in + (size_t)plane * height * width;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int y = max(min(iy - 1 + k, height - 1), 0);
      float row = 0.0f;
#pragma unroll
      for (int l = 0; l < 4; l++) {
        const int x = max(min(ix - 1 + l, width - 1), 0);
        row += wx[l] * from[y * width + x];
      }
      sum += wy[k] * row;
    }
    out[(size_t)plane * out_height * out_width + i] = sum;
  }
}
