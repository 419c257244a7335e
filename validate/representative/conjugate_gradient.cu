// Conjugate gradients on a band matrix: five kernels per iteration, scalars stay on the device.
__global__ void product(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 4.1f * x[i];
  for (int d = 1; d <= 64; d *= 4) sum -= (i >= d ? x[i - d] : 0) * 0.5f + (i + d < n ? x[i + d] : 0) * 0.5f;
  y[i] = sum;
}
__global__ void dot(float* out, const float* a, const float* b, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
__global__ void update(float* y, const float* x, const float* num, const float* den, float sign, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += sign * *num / (*den + 1e-20f) * x[i];
}
__global__ void direction(float* p, const float* r, const float* num, const float* den, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = r[i] + *num / (*den + 1e-20f) * p[i];
}
int main() {
  const int n = 16384, iterations = 300;
  float *x, *r, *p, *q, *s;
  cudaMalloc(&x, n * 4), cudaMalloc(&r, n * 4), cudaMalloc(&p, n * 4), cudaMalloc(&q, n * 4);
  cudaMalloc(&s, 4 * (2 * iterations + 2));
  cudaMemset(x, 0, n * 4), cudaMemset(r, 60, n * 4), cudaMemset(p, 60, n * 4), cudaMemset(s, 0, 4 * (2 * iterations + 2));
  for (int i = 0; i < iterations; ++i) {
    product<<<n / 128, 128>>>(q, p, n);
    dot<<<32, 128>>>(s + 2 * i + 1, p, q, n);
    dot<<<32, 128>>>(s + 2 * i, r, r, n);
    update<<<n / 128, 128>>>(x, p, s + 2 * i, s + 2 * i + 1, 1, n);
    update<<<n / 128, 128>>>(r, q, s + 2 * i, s + 2 * i + 1, -1, n);
    direction<<<n / 128, 128>>>(p, r, s + 2 * i + 1, s + 2 * i, n);
  }
  return cudaDeviceSynchronize();
}
