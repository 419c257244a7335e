// Kernels that launch kernels: nested, in streams of their own, at the tail, forgotten; copies and fills; a quicksort.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../expect.h"

struct Pair {
  int a;
  long long b;
};

__global__ void child(int* sum, Pair p, char unaligned) {
  atomicAdd(sum, p.a + static_cast<int>(p.b) + unaligned);
}
__global__ void parent(int* sum) { child<<<2, 32>>>(sum, Pair{1, static_cast<long long>(blockIdx.x)}, 3); }

__global__ void nested(int* deepest, int depth) {
  atomicMax(deepest, depth);
  if (depth < 6 && threadIdx.x == 0) nested<<<1, 32>>>(deepest, depth + 1);
}

__global__ void append(int* log, int value) { log[++log[0]] = value; }
__global__ void ordered(int* log) {
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 100);
  append<<<1, 1>>>(log, 1);
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 101);
  append<<<1, 1>>>(log, 2);
}

__global__ void streams(int* out, const int* in) {
  cudaStream_t stream;
  int device = -1;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemsetAsync(out, 0, 64 * sizeof(int), stream);
  cudaMemcpyAsync(out + 64, in, 64 * sizeof(int), cudaMemcpyDeviceToDevice, stream);
  append<<<1, 1, 0, cudaStreamFireAndForget>>>(out + 128, 7);
  cudaStreamDestroy(stream);
  cudaGetDevice(&device);
  out[200] = device;
}

__global__ void refused(int* codes) {
  append<<<1, 4096>>>(codes + 8, 1);
  codes[0] = cudaGetLastError();
  codes[1] = cudaGetLastError();
  append<<<1, 1, 1 << 20>>>(codes + 8, 1);
  codes[2] = cudaPeekAtLastError();
}

__global__ void quicksort(int* data, int left, int right) {
  const int pivot = data[(left + right) / 2];
  int low = left, high = right;
  while (low <= high) {
    while (data[low] < pivot) ++low;
    while (data[high] > pivot) --high;
    if (low > high) break;
    const int kept = data[low];
    data[low++] = data[high];
    data[high--] = kept;
  }
  for (int side = 0; side < 2; ++side) {
    const int from = side == 0 ? left : low, to = side == 0 ? high : right;
    if (from >= to) continue;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, stream>>>(data, from, to);
    cudaStreamDestroy(stream);
  }
}

int main() {
  int* memory;
  OK(cudaMallocManaged(&memory, 1024 * sizeof(int)));
  std::fill(memory, memory + 1024, 0);
  parent<<<4, 8>>>(memory);
  OK(cudaDeviceSynchronize());
  EXPECT(*memory == 64 * 8 * (4 * 4 + 0 + 1 + 2 + 3));

  nested<<<1, 32>>>(memory, 0);
  OK(cudaDeviceSynchronize());
  memory[1] = 0;
  nested<<<1, 32>>>(memory + 1, 0);
  OK(cudaDeviceSynchronize());
  EXPECT(memory[1] == 6);

  std::fill(memory, memory + 1024, 0);
  ordered<<<1, 1>>>(memory);
  OK(cudaDeviceSynchronize());
  EXPECT(memory[0] == 4 && memory[1] == 1 && memory[2] == 2 && memory[3] == 100 && memory[4] == 101);

  for (int i = 0; i < 512; ++i) memory[i] = i % 128 == 0 ? 0 : i;
  streams<<<1, 1>>>(memory, memory + 256);
  OK(cudaDeviceSynchronize());
  EXPECT(memory[5] == 0 && memory[64 + 9] == 256 + 9 && memory[128] == 1 && memory[129] == 7 &&
         memory[200] == 0);

  std::fill(memory, memory + 1024, 0);
  refused<<<1, 1>>>(memory);
  OK(cudaDeviceSynchronize());
  EXPECT(memory[0] == cudaErrorInvalidConfiguration && memory[1] == cudaSuccess && memory[2] != cudaSuccess);
  EXPECT(memory[8] == 0);

  std::vector<int> expected(128);
  for (int i = 0; i < 128; ++i) memory[i] = expected[i] = i * 7919 % 211;
  std::sort(expected.begin(), expected.end());
  quicksort<<<1, 1>>>(memory, 0, 127);
  OK(cudaDeviceSynchronize());
  EXPECT(std::equal(expected.begin(), expected.end(), memory));
  std::puts("ok");
}
