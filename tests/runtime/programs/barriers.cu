// Barriers that not all threads of a warp execute together, as programs have them that work on GPUs. Returns the number of wrong results.
#include <cstdio>

__global__ void left_early(int* data, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t >= n) return;
  s[t] = t;
  __syncthreads();
  data[t] = s[n - 1 - t];
}
__global__ void only_some(int* data, int n, volatile int* after) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < n) {
    for (int step = 0; step < 3; ++step) {
      s[t] = t + step;
      __syncthreads();
      data[t] = s[n - 1 - t];
      __syncthreads();
    }
  } else {
    after[t] = 1;
  }
  after[t] += t;
}
__global__ void one_in_each_branch(int* data) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t & 1) {
    s[t] = t * 2;
    __syncthreads();
    data[t] = s[t ^ 34];
  } else {
    s[t] = t * 3;
    __syncthreads();
    data[t] = s[t ^ 34] + 1;
  }
}

int main() {
  int *data = nullptr, *after = nullptr, wrong = 0;
  cudaMallocManaged(&data, 256);
  cudaMallocManaged(&after, 256);
  left_early<<<1, 64>>>(data, 40);
  cudaDeviceSynchronize();
  for (int i = 0; i < 40; ++i) wrong += data[i] != 39 - i;
  only_some<<<1, 64>>>(data, 40, after);
  cudaDeviceSynchronize();
  for (int i = 0; i < 40; ++i) wrong += data[i] != 39 - i + 2;
  for (int i = 0; i < 64; ++i) wrong += after[i] != i + (i < 40 ? 0 : 1);
  one_in_each_branch<<<1, 64>>>(data);
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < 64; ++i) wrong += data[i] != ((i & 1) != 0 ? (i ^ 34) * 2 : (i ^ 34) * 3 + 1);
  std::printf("%d wrong, %s\n", wrong, cudaGetErrorName(cudaGetLastError()));
  return wrong;
}
