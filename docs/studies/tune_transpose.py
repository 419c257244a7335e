"""Kernel Tuner, unmodified, on a GPU that is not there:

    pip install kernel_tuner
    foretrace run --arch h100 --quiet --cold -- python tune_transpose.py

Its compiler backend builds each variant with nvcc and calls it; the times that the variant's events measure are the predicted ones. The cache
file is Kernel Tuner's own: strategies can be tried on it later in its simulation mode, with no foretrace.
"""

import sys

import numpy
from kernel_tuner import tune_kernel

SOURCE = """
#include <cuda_runtime.h>
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[TILE][TILE + PAD];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  const int u = blockIdx.y * TILE + threadIdx.x, v = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) out[(v + j) * n + u] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" float tune(const float* in, float* out, int n) {
  float *from, *to, milliseconds;
  cudaEvent_t begin, end;
  cudaMalloc(&from, n * n * sizeof(float));
  cudaMalloc(&to, n * n * sizeof(float));
  cudaMemcpy(from, in, n * n * sizeof(float), cudaMemcpyHostToDevice);
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, ROWS)>>>(from, to, n);
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  cudaEventElapsedTime(&milliseconds, begin, end);
  cudaMemcpy(out, to, n * n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(from);
  cudaFree(to);
  return milliseconds;
}
"""


def main(cache: str, simulate: bool) -> dict:
    n = numpy.int32(256)
    numbers = numpy.random.default_rng(1).random((n, n), dtype=numpy.float32)
    results, _ = tune_kernel("tune", SOURCE, (n, n), [numbers, numpy.zeros_like(numbers), n], {"TILE": [16, 32], "ROWS": [4, 8, 16], "PAD": [0, 1]},
                             answer=[None, numbers.T.copy(), None], lang="C", compiler="nvcc", iterations=1, cache=cache, simulation_mode=simulate,
                             compiler_options=["-arch=sm_90", "-cudart", "shared", "-lineinfo"])
    return min(results, key=lambda row: row["time"])


if __name__ == "__main__":
    best = main(sys.argv[1] if len(sys.argv) > 1 else "transpose_cache.json", "--simulate" in sys.argv)
    print("best:", {name: best[name] for name in ("TILE", "ROWS", "PAD")}, f"{1000 * best['time']:.2f} us")
