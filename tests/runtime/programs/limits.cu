// One kernel whose launches are limited by different things: most are small, one is most of the time.
__global__ void add(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
int main() {
  const int n = 1 << 22;
  float *x, *y;
  cudaMalloc(&x, n * sizeof *x), cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x), cudaMemset(y, 0, n * sizeof *y);
  for (int i = 0; i < 3; ++i) add<<<1, 128>>>(y, x, 128);
  add<<<n / 128, 128>>>(y, x, n);
  return cudaDeviceSynchronize();
}
