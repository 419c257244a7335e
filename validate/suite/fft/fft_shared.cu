// Whole Fourier transforms of 1024 points, one a block: five stages of radix 4 for 256 threads, which pass
// their points through shared memory between stages. The roots come from the special function units.

__device__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__global__ void __launch_bounds__(256) fft_shared(const float2* __restrict__ in, float2* __restrict__ out) {
  __shared__ float2 points[1024];
  const int i = threadIdx.x;
  const float2* from = in + static_cast<size_t>(blockIdx.x) * 1024;
  float2 p[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) p[j] = from[i + 256 * j];
#pragma unroll
  for (int done = 1; done < 1024; done *= 4) {
    const int k = i % done;
    float2 root;
    __sincosf(-1.57079633f / done * k, &root.y, &root.x);
    const float2 root2 = times(root, root);
    const float2 b = times(p[1], root), c = times(p[2], root2), d = times(p[3], times(root2, root));
    const float2 even = make_float2(p[0].x + c.x, p[0].y + c.y),
                 even_minus = make_float2(p[0].x - c.x, p[0].y - c.y);
    const float2 odd = make_float2(b.x + d.x, b.y + d.y), odd_minus = make_float2(b.x - d.x, b.y - d.y);
    const int to = (i - k) * 4 + k;
    points[to] = make_float2(even.x + odd.x, even.y + odd.y);
    points[to + done] = make_float2(even_minus.x + odd_minus.y, even_minus.y - odd_minus.x);
    points[to + 2 * done] = make_float2(even.x - odd.x, even.y - odd.y);
    points[to + 3 * done] = make_float2(even_minus.x - odd_minus.y, even_minus.y + odd_minus.x);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; ++j) p[j] = points[i + 256 * j];
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) out[static_cast<size_t>(blockIdx.x) * 1024 + i + 256 * j] = p[j];
}
