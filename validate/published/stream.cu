// RRZE's gpu-stream: one FP64 element a thread. Two blocks an SM (dynamic shared memory keeps others away), so that the block's size
// sets the threads an SM holds. Bandwidth is the difference of two lengths, so that the launch's own cost is not in it.

__global__ void stream_init(double* __restrict__ a) { a[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = 0.23; }

__global__ void stream_read(double* a) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const double value = a[i];
  if (value == 123.0) a[i] = value + 1.0;
}

__global__ void stream_scale(double* __restrict__ a, const double* __restrict__ b) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = b[i] * 1.2;
}

__global__ void stream_triad(double* __restrict__ a, const double* __restrict__ b, const double* __restrict__ c,
                             const double* __restrict__ d) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = b[i] + d[i] * c[i];
}

__global__ void stream_triad3(double* __restrict__ a, const double* __restrict__ b, const double* __restrict__ c) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = b[i] + 1.2 * c[i];
}
