// What a short kernel costs: one double per thread is read, scaled and written, in blocks of few or many threads. The time of a launch
// is that of its blocks; differences of two sizes leave out how the launch was made.

__global__ void small_scale(double* __restrict__ a, const double* __restrict__ b, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) a[i] = b[i] * 0.3;
}
