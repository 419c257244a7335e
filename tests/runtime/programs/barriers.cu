// Barriers that not all threads of a warp execute together, and other mistakes, as programs have them that work on GPUs. Returns the number of wrong results.
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
/// Both read after a barrier what a warp writes later, without another one between: on a GPU the others have long read it.
__global__ void next_for_all(int* data, int* next, int n) {
  __shared__ int item;
  if (threadIdx.x == 0) item = atomicAdd(next, 1);
  __syncthreads();
  while (true) {
    const int i = item;
    if (i >= n) return;
    int v = i;
    for (int k = 0; k < 20; ++k) v = v * 3 + 1;
    atomicAdd(&data[i], v == -77 ? 2 : 1);
    if (threadIdx.x == 0) item = atomicAdd(next, 1);
    __syncthreads();
  }
}
__global__ void sum_of_the_last(int* data) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int round = 0; round < 4; ++round) {
    const int before = sum;
    data[round * blockDim.x + threadIdx.x] = before;
    if (threadIdx.x == blockDim.x - 1) sum = before + 1;
    __syncthreads();
  }
}
/// Blocks that begin at once have zeroed their counts before one of them counts for others.
__global__ void counts_of_neighbours(int* count, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  count[t] = 0;
  for (int other = t + 1; other < n; ++other) {
    if ((other - t) % 40 != 0) continue;
    atomicAdd(&count[t], 1);
    atomicAdd(&count[other], 1);
  }
}
/// Blocks that begin at once all look before one of them lets others in: a launch goes one step.
__global__ void one_step(int* reached, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n || reached[t] == 1000) return;
  for (int next = t + 64; next < n && next < t + 128; next += 64) atomicMin(&reached[next], reached[t] + 1);
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
  int* next = nullptr;
  cudaMallocManaged(&next, 4);
  for (int i = 0; i < 64; ++i) data[i] = 0;
  next_for_all<<<2, 128>>>(data, next, 64);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) wrong += data[i] != 128;
  int* sums = nullptr;
  cudaMallocManaged(&sums, 4 * 128 * 4);
  sum_of_the_last<<<1, 128>>>(sums);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4 * 128; ++i) wrong += sums[i] != i / 128;
  int* count = nullptr;
  cudaMallocManaged(&count, 256 * 4);
  counts_of_neighbours<<<4, 64>>>(count, 256);
  cudaDeviceSynchronize();
  for (int i = 0; i < 256; ++i) wrong += count[i] != i / 40 + (255 - i) / 40;
  for (int i = 0; i < 256; ++i) count[i] = i < 64 ? 0 : 1000;
  for (int step = 1; step < 4; ++step) {
    one_step<<<4, 64>>>(count, 256);
    cudaDeviceSynchronize();
    for (int i = 0; i < 256; ++i) wrong += count[i] != (i / 64 <= step ? i / 64 : 1000);
  }
  std::printf("%d wrong, %s\n", wrong, cudaGetErrorName(cudaGetLastError()));
  return wrong;
}
