// An image in another size, each pixel mixed from the four that lie around its place. Planes of floats; a
// thread makes one pixel of every plane, so that places and weights are computed once.

__global__ void bilinear_resize(const float* __restrict__ in, float* __restrict__ out, int planes,
                                int in_width, int in_height, int out_width, int out_height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= out_width || y >= out_height) return;
  const float from_x = fminf(fmaxf((x + 0.5f) * in_width / out_width - 0.5f, 0.0f), in_width - 1.0f);
  const float from_y = fminf(fmaxf((y + 0.5f) * in_height / out_height - 0.5f, 0.0f), in_height - 1.0f);
  const int x0 = static_cast<int>(from_x), y0 = static_cast<int>(from_y);
  const int x1 = min(x0 + 1, in_width - 1), y1 = min(y0 + 1, in_height - 1);
  const float right = from_x - x0, below = from_y - y0;
  for (int plane = 0; plane < planes; ++plane) {
    const float* p = in + static_cast<size_t>(plane) * in_width * in_height;
    const float a = p[y0 * in_width + x0], b = p[y0 * in_width + x1];
    const float c = p[y1 * in_width + x0], d = p[y1 * in_width + x1];
    const float upper = a + right * (b - a), lower = c + right * (d - c);
    out[(static_cast<size_t>(plane) * out_height + y) * out_width + x] = upper + below * (lower - upper);
  }
}
