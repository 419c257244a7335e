// WMMA in half, bfloat16, tf32, bytes and double, each against the host (the ideas of NVIDIA's samples *TensorCoreGemm).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <cmath>
#include "check.h"
using namespace nvcuda;
template <class T, class F, class A, int M, int N, int K>
__global__ void product(const T* a, const T* b, A* c) {
  wmma::fragment<wmma::matrix_a, M, N, K, F, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, F, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, A> fc;
  wmma::fill_fragment(fc, A(0));
  for (int k = 0; k < 64; k += K) {
    wmma::load_matrix_sync(fa, a + k, 64);
    wmma::load_matrix_sync(fb, b + k, 64);
    if constexpr (sizeof(T) == 4)
      for (int i = 0; i < fa.num_elements; ++i)
        fa.x[i] = wmma::__float_to_tf32(fa.x[i]),
        i < fb.num_elements ? fb.x[i] = wmma::__float_to_tf32(fb.x[i]) : 0;
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
template <class T, class F, class A, int M, int N, int K>
void test(const char* name) {
  T *a, *b;
  A* c;
  CHECK(cudaMallocManaged(&a, M * 64 * sizeof(T)));
  CHECK(cudaMallocManaged(&b, N * 64 * sizeof(T)));
  CHECK(cudaMallocManaged(&c, M * N * sizeof(A)));
  for (int i = 0; i < M * 64; ++i) a[i] = T(float(i * 7 % 11 - 5));
  for (int i = 0; i < N * 64; ++i) b[i] = T(float(i * 5 % 13 - 6));
  product<T, F, A, M, N, K><<<1, 32>>>(a, b, c);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int k = 0; k < 64; ++k) sum += (double)(float)a[i * 64 + k] * (double)(float)b[j * 64 + k];
      if ((double)(float)c[i * N + j] != sum) {
        printf("%s (%d,%d): %g, not %g\n", name, i, j, (double)(float)c[i * N + j], sum);
        exit(1);
      }
    }
}
int main() {
  test<half, half, float, 16, 16, 16>("half");
  test<half, half, half, 32, 8, 16>("half to half");
  test<__nv_bfloat16, __nv_bfloat16, float, 8, 32, 16>("bfloat16");
  test<float, wmma::precision::tf32, float, 16, 16, 8>("tf32");
  test<signed char, signed char, int, 16, 16, 16>("bytes");
  test<double, double, double, 8, 8, 4>("double");
  puts("ok");
}
