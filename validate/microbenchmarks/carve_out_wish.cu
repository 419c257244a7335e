// What does an SM's shared memory become when a kernel says how much it prefers (cudaFuncAttributePreferredSharedMemoryCarveout)?
//
// Models:  kernels of several sizes of shared memory and wishes; blocks wait long enough that all that fit are there together. Counters tell the
//          SM's shared memory and the warps that are there; the answer's value is what the runtime says of the blocks per SM.
// Ignores: the wish of a launch's attributes, and the older cache preference.
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

__global__ void __launch_bounds__(64) carve_out_wish(unsigned* out, int steps) {
  extern __shared__ unsigned shared[];
  unsigned value = threadIdx.x;
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int i = 0; i < steps; ++i) value = shared[(value + i) % 64];
  if (value == 12345) out[0] = value;
}

int main() {
  Buffer<unsigned> out(32);
  CHECK(cudaFuncSetAttribute(carve_out_wish, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  int launch = 0;
  for (int bytes : {256, 7 * 1024, 15 * 1024, 31 * 1024, 63 * 1024, 120 * 1024}) {
    for (int percent : {-1, 0, 10, 25, 50, 75, 100}) {
      CHECK(cudaFuncSetAttribute(carve_out_wish, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
      int blocks = 0;
      CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, carve_out_wish, 64, static_cast<std::size_t>(bytes)));
      carve_out_wish<<<132 * 64, 64, bytes>>>(out.get(), 500);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      Answer("carve_out_wish", "shared memory of an SM, and blocks, with a kernel's wish").add("launch", launch++).add("shared_bytes", bytes).add("percent", percent).print(blocks, "block", 0);
    }
  }
  return 0;
}
