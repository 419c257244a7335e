// Built with: nvcc -rdc=true -arch=sm_XX -dlink -cubin; two kernels that call functions in sections of their own.
#include <cstdio>
typedef float (*Function)(float);
__device__ float square(float x) { return x * x; }
__device__ __noinline__ float half_of(float x) { return x * 0.5f; }
__device__ Function table[2] = {square, half_of};
__device__ int counter;
__global__ void by_table(float* a, int which) {
  a[threadIdx.x] = table[which](a[threadIdx.x]) + half_of(a[threadIdx.x]);
  if (threadIdx.x == 0) printf("%d\n", atomicAdd(&counter, 1));
}
__global__ void direct(float* a) { a[threadIdx.x] = half_of(a[threadIdx.x]); }
