#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CK(x)                         \
  do {                                \
    CUresult r = (x);                 \
    if (r) {                          \
      const char* s;                  \
      cuGetErrorName(r, &s);          \
      printf("%d %s\n", __LINE__, s); \
      return 1;                       \
    }                                 \
  } while (0)
int main(int c, char** v) {
  CK(cuInit(0));
  int n;
  CK(cuDeviceGetCount(&n));
  CUdevice d;
  CK(cuDeviceGet(&d, 0));
  char name[99];
  CK(cuDeviceGetName(name, 99, d));
  puts(name);
  CUcontext x;
#if CUDA_VERSION >= 13000
  CK(cuCtxCreate(&x, NULL, 0, d));
#else
  CK(cuCtxCreate(&x, 0, d));
#endif
  CUmodule m;
  CK(cuModuleLoad(&m, v[1]));
  CUfunction f;
  CK(cuModuleGetFunction(&f, m, "saxpy"));
  CUdeviceptr a, b;
  int N = 1000;
  float h[1000], g[1000];
  for (int i = 0; i < N; i++) {
    h[i] = i;
    g[i] = 1;
  }
  CK(cuMemAlloc(&a, 4000));
  CK(cuMemAlloc(&b, 4000));
  CK(cuMemcpyHtoD(a, h, 4000));
  CK(cuMemcpyHtoD(b, g, 4000));
  float al = 2;
  void* args[] = {&al, &a, &b, &N};
  CUstream s;
  CK(cuStreamCreate(&s, 0));
  CK(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, s, args, NULL));
  CK(cuStreamSynchronize(s));
  CK(cuMemcpyDtoH(g, b, 4000));
  for (int i = 0; i < N; i++)
    if (g[i] != 2 * i + 1) {
      puts("wrong");
      return 1;
    }
  CK(cuModuleUnload(m));
  CK(cuCtxDestroy(x));
  puts("ok");
}
