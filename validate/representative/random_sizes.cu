// Requests of random lengths: rows are normalised; each launch has a grid and a row length of its own.
__global__ void normalise(float* y, const float* x, int length) {
  const float* row = x + blockIdx.x * length;
  float sum = 0;
  for (int i = threadIdx.x; i < length; i += 64) sum += row[i];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  __shared__ float half[2];
  if (threadIdx.x % 32 == 0) half[threadIdx.x / 32] = sum;
  __syncthreads();
  const float mean = (half[0] + half[1]) / length;
  for (int i = threadIdx.x; i < length; i += 64) y[blockIdx.x * length + i] = row[i] - mean;
}
int main() {
  float *x, *y;
  cudaMalloc(&x, 4 << 20), cudaMalloc(&y, 4 << 20), cudaMemset(x, 0, 4 << 20);
  unsigned s = 7;
  for (int i = 0; i < 1500; ++i) {
    s = s * 1664525u + 1013904223u;
    const int rows = 1 + (s >> 8) % 200, length = 16 + (s >> 20) % 1000;
    normalise<<<rows, 64>>>(y, x, length);
  }
  return cudaDeviceSynchronize();
}
