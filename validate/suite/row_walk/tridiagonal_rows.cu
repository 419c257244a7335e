// Many tridiagonal systems by Thomas' algorithm, a thread a system whose coefficients are a row of each array: down with
// divisions, up again in place. The diagonal is one value, the other two are read.

__global__ void tridiagonal_rows(const float* __restrict__ lower, const float* __restrict__ upper,
                                 float* __restrict__ right, float* __restrict__ factor, int systems, int n,
                                 float diagonal) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  const size_t first = static_cast<size_t>(s) * n;
  float above = upper[first] / diagonal;
  float value = right[first] / diagonal;
  factor[first] = above;
  right[first] = value;
  for (int i = 1; i < n; ++i) {
    const float a = lower[first + i];
    const float scale = 1.0f / (diagonal - a * above);
    above = upper[first + i] * scale;
    value = (right[first + i] - a * value) * scale;
    factor[first + i] = above;
    right[first + i] = value;
  }
  for (int i = n - 2; i >= 0; --i) {
    value = right[first + i] - factor[first + i] * value;
    right[first + i] = value;
  }
}
