// A training loop: two layers forward and back, an update, and an evaluation of another batch size every 25 steps.
__global__ void matmul(float* c, const float* a, const float* b, int m, int n, int k, bool relu) {
  __shared__ float as[16][17], bs[16][17];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    as[threadIdx.y][threadIdx.x] = y < m && t + threadIdx.x < k ? a[y * k + t + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = t + threadIdx.y < k && x < n ? b[(t + threadIdx.y) * n + x] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (x < n && y < m) c[y * n + x] = relu ? fmaxf(sum, 0) : sum;
}
__global__ void loss(float* g, const float* o, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) g[i] = (1 / (1 + expf(-o[i])) - 0.5f) / n;
}
__global__ void adam(float* w, float* m, float* v, const float* g, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  m[i] = 0.9f * m[i] + 0.1f * g[i], v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
  w[i] -= 1e-3f * m[i] / (sqrtf(v[i]) + 1e-8f);
}
int main() {
  const int batch = 32, in = 64, hidden = 64, out = 16;
  float* f[12];
  for (auto& p : f) cudaMalloc(&p, 128 * 128 * 4), cudaMemset(p, 61, 128 * 128 * 4);
  const auto mm = [&](float* c, float* a, float* b, int m, int n, int k, bool relu) {
    matmul<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(c, a, b, m, n, k, relu);
  };
  for (int step = 0; step < 250; ++step) {
    mm(f[3], f[0], f[1], batch, hidden, in, true);
    mm(f[4], f[3], f[2], batch, out, hidden, false);
    loss<<<batch * out / 128, 128>>>(f[5], f[4], batch * out);
    mm(f[6], f[3], f[5], hidden, out, batch, false);
    mm(f[7], f[5], f[2], batch, hidden, out, true);
    mm(f[8], f[0], f[7], in, hidden, batch, false);
    adam<<<hidden * out / 128, 128>>>(f[2], f[9], f[10], f[6], hidden * out);
    adam<<<in * hidden / 128, 128>>>(f[1], f[9], f[10], f[8], in * hidden);
    if (step % 25 == 24) mm(f[3], f[0], f[1], 128, hidden, in, true), mm(f[4], f[3], f[2], 128, out, hidden, false);
  }
  return cudaDeviceSynchronize();
}
