// Lorenz's attractor by the classical Runge-Kutta method: each thread one trajectory in registers, long
// chains of dependent multiply-adds. With one warp a block and as many blocks as SMs, three of four
// schedulers have nothing to do.

__device__ float3 slope(float3 p) {
  return make_float3(10.0f * (p.y - p.x), p.x * (28.0f - p.z) - p.y, p.x * p.y - 2.6666667f * p.z);
}

__device__ float3 along(float3 p, float3 d, float h) {
  return make_float3(p.x + h * d.x, p.y + h * d.y, p.z + h * d.z);
}

__global__ void lorenz(const float* __restrict__ start, float* __restrict__ end, int n, int steps, float h) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float3 p = make_float3(start[i], start[n + i], start[2 * n + i]);
  for (int step = 0; step < steps; ++step) {
    const float3 k1 = slope(p);
    const float3 k2 = slope(along(p, k1, 0.5f * h));
    const float3 k3 = slope(along(p, k2, 0.5f * h));
    const float3 k4 = slope(along(p, k3, h));
    p.x += h / 6.0f * (k1.x + 2.0f * (k2.x + k3.x) + k4.x);
    p.y += h / 6.0f * (k1.y + 2.0f * (k2.y + k3.y) + k4.y);
    p.z += h / 6.0f * (k1.z + 2.0f * (k2.z + k3.z) + k4.z);
  }
  end[i] = p.x;
  end[n + i] = p.y;
  end[2 * n + i] = p.z;
}
