// Bitonic sorts of many arrays: passes within shared memory and passes over global memory.
__global__ void local(unsigned* a, unsigned size) {
  __shared__ unsigned s[512];
  const unsigned base = blockIdx.x * 512;
  s[threadIdx.x] = a[base + threadIdx.x], s[threadIdx.x + 256] = a[base + threadIdx.x + 256];
  for (unsigned k = size <= 512 ? 2 : size; k <= (size <= 512 ? 512 : size); k *= 2) {
    for (unsigned j = (k <= 512 ? k : 512) / 2; j > 0; j /= 2) {
      __syncthreads();
      const unsigned i = 2 * threadIdx.x - (threadIdx.x & (j - 1));
      const bool up = ((base + i) & k) == 0;
      if ((s[i] > s[i + j]) == up) { const unsigned t = s[i]; s[i] = s[i + j], s[i + j] = t; }
    }
  }
  __syncthreads();
  a[base + threadIdx.x] = s[threadIdx.x], a[base + threadIdx.x + 256] = s[threadIdx.x + 256];
}
__global__ void pass(unsigned* a, unsigned k, unsigned j) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (j - 1));
  const bool up = (i & k) == 0;
  if ((a[i] > a[i + j]) == up) { const unsigned x = a[i]; a[i] = a[i + j], a[i + j] = x; }
}
__global__ void fill(unsigned* a, unsigned seed) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = i * 2654435761u + seed;
  x ^= x >> 15, x *= 0x2c1b3c6du, x ^= x >> 12, a[i] = x;
}
int main() {
  const unsigned n = 8192;
  unsigned* a;
  cudaMalloc(&a, n * 4);
  for (unsigned round = 0; round < 70; ++round) {
    fill<<<n / 256, 256>>>(a, round);
    local<<<n / 512, 256>>>(a, 512);
    for (unsigned k = 1024; k <= n; k *= 2) {
      for (unsigned j = k / 2; j >= 512; j /= 2) pass<<<n / 512, 256>>>(a, k, j);
      local<<<n / 512, 256>>>(a, k);
    }
  }
  return cudaDeviceSynchronize();
}
