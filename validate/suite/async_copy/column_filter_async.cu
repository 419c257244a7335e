// A recursive filter down the columns of a matrix, y = x + decay * y, the rows streamed through shared
// memory by cp.async four stages ahead: a thread owns a column, and the latency of memory is hidden by the
// pipeline alone.
#include <cuda_pipeline.h>

#define STAGES 4

__global__ void column_filter_async(const float* __restrict__ in, float* __restrict__ out, int rows,
                                    int columns, float decay) {
  extern __shared__ float stage[];  // STAGES * blockDim.x
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const float* from = in + column;
  for (int row = 0; row < STAGES - 1; ++row) {
    if (row < rows) {
      __pipeline_memcpy_async(&stage[row * blockDim.x + threadIdx.x],
                              from + static_cast<size_t>(row) * columns, 4);
    }
    __pipeline_commit();
  }
  float value = 0.0f;
  for (int row = 0; row < rows; ++row) {
    const int ahead = row + STAGES - 1;
    if (ahead < rows) {
      __pipeline_memcpy_async(&stage[ahead % STAGES * blockDim.x + threadIdx.x],
                              from + static_cast<size_t>(ahead) * columns, 4);
    }
    __pipeline_commit();
    __pipeline_wait_prior(STAGES - 1);
    value = stage[row % STAGES * blockDim.x + threadIdx.x] + decay * value;
    out[static_cast<size_t>(row) * columns + column] = value;
  }
}
