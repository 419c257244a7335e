// Kernels that wait for what the program does after their launch: a flag in mapped memory, a kernel of another stream; and one that
// nobody answers ("for_ever").
#include <cstdio>
#include <cstring>

#include "../../programs/expect.h"

__device__ volatile int turns = 0;

__global__ void answer(volatile int* question, volatile int* reply, int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    while (*question < round) {
    }
    turns = round;
    *reply = 10 * round;
    __threadfence_system();
  }
}

__global__ void consumer(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = *flag + 1;
}
__global__ void producer(volatile int* flag) { *flag = 41; }
__global__ void add(int* out) { *out += 100; }

static void with_the_host() {
  volatile int *question, *reply;
  EXPECT(cudaHostAlloc((void**)&question, sizeof(int), cudaHostAllocMapped) == cudaSuccess);
  EXPECT(cudaHostAlloc((void**)&reply, sizeof(int), cudaHostAllocMapped) == cudaSuccess);
  *question = *reply = 0;
  cudaStream_t stream, other;
  cudaEvent_t before, behind;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEventCreate(&before);
  cudaEventCreate(&behind);
  int* out;
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  cudaEventRecord(before, stream);
  answer<<<1, 32, 0, stream>>>(question, reply, 3);
  EXPECT(cudaGetLastError() == cudaSuccess);
  cudaEventRecord(behind, stream);
  add<<<1, 1, 0, stream>>>(out);  // behind it
  EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
  EXPECT(cudaEventQuery(behind) == cudaErrorNotReady);
  EXPECT(cudaEventQuery(before) == cudaSuccess);
  EXPECT(cudaStreamQuery(other) == cudaSuccess);
  EXPECT(cudaGetLastError() == cudaSuccess);
  float elapsed = -1;
  EXPECT(cudaEventElapsedTime(&elapsed, before, behind) == cudaErrorNotReady);
  for (int round = 1; round <= 3; ++round) {
    *question = round;
    while (*reply != 10 * round) {
    }
    int seen = 0, added = -1;  // a copy of another stream while it waits
    cudaMemcpyFromSymbolAsync(&seen, turns, sizeof(int), 0, cudaMemcpyDeviceToHost, other);
    cudaStreamSynchronize(other);
    EXPECT(seen == round);
    if (round == 3) continue;
    cudaMemcpyAsync(&added, out, sizeof(int), cudaMemcpyDeviceToHost, other);
    cudaStreamSynchronize(other);
    EXPECT(added == 0);
  }
  EXPECT(cudaEventSynchronize(behind) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(cudaEventElapsedTime(&elapsed, before, behind) == cudaSuccess && elapsed >= 0);
  int added = 0;
  cudaMemcpy(&added, out, sizeof(int), cudaMemcpyDeviceToHost);
  EXPECT(added == 100);
}

static void with_another_kernel() {
  int *flag, *out, got = 0;
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  consumer<<<2, 64, 0, first>>>(flag, out);
  producer<<<1, 1, 0, second>>>(flag);
  cudaMemcpy(&got, out, sizeof(int), cudaMemcpyDeviceToHost);  // waits for both streams
  EXPECT(got == 42);
  cudaFree(flag);
}

int main(int count, char** words) {
  if (count > 1 && std::strcmp(words[1], "for_ever") == 0) {
    int* flag;
    cudaMalloc(&flag, sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    consumer<<<1, 1>>>(flag, flag);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  with_the_host();
  with_another_kernel();
  std::printf("waiting: all right\n");
}
