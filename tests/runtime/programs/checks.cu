// Reads of memory that nobody wrote, and a race: found on request only. Argument: which. Returns 0 when the last error is none.
#include <cstdio>
#include <string>

__global__ void sum(const int* data, int* out) {
  int total = 0;
  for (int i = 0; i < 32; ++i) total += data[i];
  *out = total;
}
__global__ void exchange(int* out, bool wait) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (wait) __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  int *data = nullptr, *out = nullptr, host[32] = {};
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemcpy(data, host, (which == "partly" ? 31 : 32) * sizeof(int), cudaMemcpyHostToDevice);
  if (which == "race") {
    exchange<<<1, 64>>>(out, false);
  } else {
    sum<<<1, 1>>>(data, out);
    exchange<<<1, 64>>>(out, true);
  }
  cudaDeviceSynchronize();
  const cudaError_t error = cudaGetLastError();
  std::printf("%s\n", cudaGetErrorName(error));
  return error == cudaSuccess ? 0 : 1;
}
