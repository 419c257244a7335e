// A step of a two-dimensional electromagnetic field in time: two fields from the differences of the third, then the third.

__global__ void field_ey(const float* source, float* ey, const float* hz, int t, int h, int w) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= h || j >= w) return;
  if (i == 0) {
    ey[j] = source[t];
  } else {
    ey[i * w + j] = ey[i * w + j] - 0.5f * (hz[i * w + j] - hz[(i - 1) * w + j]);
  }
}

__global__ void field_ex(float* ex, const float* hz, int h, int w) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < h && j > 0 && j < w) ex[i * w + j] = ex[i * w + j] - 0.5f * (hz[i * w + j] - hz[i * w + j - 1]);
}

__global__ void field_hz(const float* ex, const float* ey, float* hz, int h, int w) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < h - 1 && j < w - 1) {
    hz[i * w + j] = hz[i * w + j] -
                    0.7f * (ex[i * w + j + 1] - ex[i * w + j] + ey[(i + 1) * w + j] - ey[i * w + j]);
  }
}
