// Each thread smooths a line of its own in place, forth and back, several times over. The lines of smooth_along are rows, so
// that a warp reads 32 places far apart; those of smooth_down are columns, read side by side.

__device__ void sweep(float* line, int length, size_t stride) {
  float left = line[0];
  for (int i = 1; i < length; ++i) {
    left = (left + line[i * stride]) * 0.5f;
    line[i * stride] = left;
  }
  for (int i = length - 2; i >= 0; --i) {
    left = (left + line[i * stride]) * 0.5f;
    line[i * stride] = left;
  }
}

__global__ void smooth_along(float* __restrict__ field, int lines, int length, int sweeps) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  for (int s = 0; s < sweeps; ++s) sweep(field + static_cast<size_t>(line) * length, length, 1);
}

__global__ void smooth_down(float* __restrict__ field, int lines, int length, int sweeps) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  for (int s = 0; s < sweeps; ++s) sweep(field + line, length, lines);
}
