#include <curand_kernel.h>
#include <cassert>
#include <cstdio>
__global__ void setup(curandState* s, unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seed, i, 0, &s[i]);
}
__global__ void pi(curandState* s, unsigned* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState l = s[i];
  unsigned c = 0;
  for (int k = 0; k < n; k++) {
    float x = curand_uniform(&l), y = curand_uniform(&l);
    assert(x > 0 && x <= 1);
    c += x * x + y * y <= 1;
  }
  atomicAdd(count, c);
  s[i] = l;
}
__global__ void philox(float4* o) {
  int i = threadIdx.x;
  curandStatePhilox4_32_10_t s;
  curand_init(1234, i, 0, &s);
  o[i] = curand_normal4(&s);
}
int main() {
  curandState* s;
  unsigned* c;
  cudaMalloc(&s, 1024 * sizeof(curandState));
  cudaMallocManaged(&c, 4);
  setup<<<4, 256>>>(s, 42);
  pi<<<4, 256>>>(s, c, 100);
  if (cudaDeviceSynchronize()) return 1;
  double p = 4.0 * *c / 102400;
  printf("%f\n", p);
  float4* o;
  cudaMallocManaged(&o, 256 * 16);
  philox<<<1, 256>>>(o);
  cudaDeviceSynchronize();
  double m = 0, v = 0;
  for (int i = 0; i < 256; i++) {
    m += o[i].x + o[i].y + o[i].z + o[i].w;
    v += o[i].x * o[i].x + o[i].y * o[i].y + o[i].z * o[i].z + o[i].w * o[i].w;
  }
  printf("%f %f\n", m / 1024, v / 1024);
  puts(p > 3.1 && p < 3.2 && v / 1024 > 0.8 && v / 1024 < 1.2 ? "ok" : "wrong");
  return 0;
}
