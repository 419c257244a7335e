// on_and_on LAUNCHES [waits]: prints each launch's number once its call has returned, and then goes on until somebody ends it, with one
// launch more for each line that it reads. It waits for no launch, or for each.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

__global__ void step(int* to) { to[threadIdx.x] += 1; }

int main(int argc, char** argv) {
  const int launches = std::atoi(argv[1]);
  int* memory = nullptr;
  if (cudaMalloc(&memory, 32 * sizeof(int)) != cudaSuccess) return 1;
  for (int launch = 0;; ++launch) {
    if (launch >= launches && std::getchar() != '\n') break;
    step<<<1, 32>>>(memory);
    if (cudaGetLastError() != cudaSuccess) return 1;
    if (argc > 2 && cudaDeviceSynchronize() != cudaSuccess) return 1;
    std::printf("%d\n", launch);
    std::fflush(stdout);
  }
  while (true) pause();
}
