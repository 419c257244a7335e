// An iterative solver: 2,000 sweeps of a stencil, and every tenth a reduction of the residual.
#include <cstdlib>
#include <utility>
__global__ void sweep(float* to, const float* from, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  to[y * n + x] = 0.25f * (from[y * n + x - 1] + from[y * n + x + 1] + from[(y - 1) * n + x] + from[(y + 1) * n + x]);
}
__global__ void residual(float* sum, const float* a, const float* b, int n) {
  __shared__ float part[256];
  float mine = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) mine += (a[i] - b[i]) * (a[i] - b[i]);
  part[threadIdx.x] = mine;
  for (int k = 128; k > 0; k /= 2) {
    __syncthreads();
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}
int main() {
  const int n = 96;
  float *a, *b, *sum;
  cudaMalloc(&a, n * n * 4), cudaMalloc(&b, n * n * 4), cudaMalloc(&sum, 4);
  cudaMemset(a, 0, n * n * 4), cudaMemset(b, 1, n * n * 4);
  for (int i = 0; i < 2000; ++i) {
    sweep<<<dim3(3, 12), dim3(32, 8)>>>(b, a, n);
    if (i % 10 == 9) residual<<<4, 256>>>(sum, a, b, n * n);
    std::swap(a, b);
  }
  return cudaDeviceSynchronize();
}
