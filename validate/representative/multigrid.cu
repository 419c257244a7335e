// V-cycles of multigrid: the same three kernels on six grids of different sizes, which lie in L2 or beside it.
__global__ void smooth(float* to, const float* from, const float* f, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) to[i] = from[i] + 0.66f * (0.5f * (from[i - 1] + from[i + 1] + f[i]) - from[i]);
}
__global__ void restriction(float* coarse, const float* u, const float* f, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, k = 2 * i;
  if (k > 1 && k < n - 2) coarse[i] = f[k] - (2 * u[k] - u[k - 1] - u[k + 1]);
}
__global__ void prolongation(float* u, const float* coarse, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) u[i] += i % 2 == 0 ? coarse[i / 2] : 0.5f * (coarse[i / 2] + coarse[i / 2 + 1]);
}
int main() {
  const int levels = 6, finest = 32768;
  float *u[levels], *v[levels], *f[levels];
  for (int l = 0; l < levels; ++l) {
    for (float** p : {&u[l], &v[l], &f[l]}) cudaMalloc(p, (finest >> l) * 4 + 4096), cudaMemset(*p, 0, (finest >> l) * 4 + 4096);
  }
  for (int cycle = 0; cycle < 60; ++cycle) {
    for (int l = 0; l < levels; ++l) {
      const int n = finest >> l, blocks = (n + 127) / 128;
      smooth<<<blocks, 128>>>(v[l], u[l], f[l], n);
      smooth<<<blocks, 128>>>(u[l], v[l], f[l], n);
      if (l + 1 < levels) restriction<<<(n / 2 + 127) / 128, 128>>>(f[l + 1], u[l], f[l], n);
    }
    for (int l = levels - 2; l >= 0; --l) {
      const int n = finest >> l, blocks = (n + 127) / 128;
      prolongation<<<blocks, 128>>>(u[l], u[l + 1], n);
      smooth<<<blocks, 128>>>(v[l], u[l], f[l], n);
    }
  }
  return cudaDeviceSynchronize();
}
