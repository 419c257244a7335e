// One stage of a large Fourier transform in memory, by Stockham's scheme, which reads with one stride and
// writes in order of the next: radix 2 and radix 4. `done` is how many points are already transformed
// together.

__device__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ float2 root_of_unity(int k, int n) {
  float2 root;
  sincospif(-2.0f * k / n, &root.y, &root.x);
  return root;
}

__global__ void fft_stage_2(const float2* __restrict__ in, float2* __restrict__ out, int n, int done) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  const int k = i % done;
  const float2 a = in[i];
  const float2 b = times(in[i + n / 2], root_of_unity(k, 2 * done));
  const int to = (i - k) * 2 + k;
  out[to] = make_float2(a.x + b.x, a.y + b.y);
  out[to + done] = make_float2(a.x - b.x, a.y - b.y);
}

__global__ void fft_stage_4(const float2* __restrict__ in, float2* __restrict__ out, int n, int done) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  const int k = i % done;
  const float2 root = root_of_unity(k, 4 * done);
  const float2 root2 = times(root, root);
  const float2 a = in[i];
  const float2 b = times(in[i + n / 4], root);
  const float2 c = times(in[i + n / 2], root2);
  const float2 d = times(in[i + 3 * (n / 4)], times(root2, root));
  const float2 even = make_float2(a.x + c.x, a.y + c.y), even_minus = make_float2(a.x - c.x, a.y - c.y);
  const float2 odd = make_float2(b.x + d.x, b.y + d.y), odd_minus = make_float2(b.x - d.x, b.y - d.y);
  const int to = (i - k) * 4 + k;
  out[to] = make_float2(even.x + odd.x, even.y + odd.y);
  out[to + done] = make_float2(even_minus.x + odd_minus.y, even_minus.y - odd_minus.x);
  out[to + 2 * done] = make_float2(even.x - odd.x, even.y - odd.y);
  out[to + 3 * done] = make_float2(even_minus.x - odd_minus.y, even_minus.y + odd_minus.x);
}
