// Two objects, this file twice: nvcc gives each functions of its own for its divisions, of the same names. SECOND, the one without
// optimisation, has longer ones.
#include <cstdio>

using Long = unsigned long long;

#ifdef SECOND

__global__ void divide(Long* whole, double* real) {
  const int i = threadIdx.x;
  const Long x = whole[i];
  whole[i] = x * 977 / (x + 5) + x / (i + 2ull);
  real[i] = real[i] / (i + 3.0) + 7 / real[i];
}
void divide_again(Long* whole, double* real) { divide<<<1, 32>>>(whole, real); }

#else

__global__ void divide_first(Long* whole, double* real) {
  const int i = threadIdx.x;
  whole[i] = (whole[i] + 1) / (i + 3ull);
  real[i] = 1 / real[i] + real[i] / 3;
}
void divide_again(Long* whole, double* real);

int main() {
  Long* whole;
  double* real;
  cudaMallocManaged(&whole, 32 * sizeof(Long));
  cudaMallocManaged(&real, 32 * sizeof(double));
  for (int i = 0; i < 32; ++i) {
    whole[i] = (1ull << 40) * i + 12345;
    real[i] = i + 1;
  }
  divide_first<<<1, 32>>>(whole, real);
  divide_again(whole, real);
  const cudaError_t error = cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < 32; ++i) {
    const Long x = ((1ull << 40) * i + 12346) / (i + 3ull);
    const double v = i + 1.0, w = 1 / v + v / 3;
    wrong += whole[i] != x * 977 / (x + 5) + x / (i + 2ull);
    wrong += real[i] != w / (i + 3.0) + 7 / w;
  }
  std::printf("%d wrong, %s\n", wrong, cudaGetErrorString(error));
  return 0;
}

#endif
