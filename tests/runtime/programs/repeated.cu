// Many launches of few kinds: steps of two kernels, every twentieth with another grid.
__global__ void add(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
__global__ void half(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] *= 0.5f;
}
int main() {
  float *x, *y;
  cudaMalloc(&x, 1 << 16), cudaMalloc(&y, 1 << 16);
  cudaMemset(x, 0, 1 << 16), cudaMemset(y, 0, 1 << 16);
  for (int i = 0; i < 200; ++i) {
    const int n = i % 20 == 19 ? 4096 : 1024;
    add<<<n / 128, 128>>>(y, x, n);
    half<<<n / 128, 128>>>(y, n);
  }
  return cudaDeviceSynchronize();
}
