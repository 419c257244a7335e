#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <vector>
#define CK(x)                                             \
  do {                                                    \
    cudaError_t e = (x);                                  \
    if (e != cudaSuccess) {                               \
      printf("%d %s\n", __LINE__, cudaGetErrorString(e)); \
      return 1;                                           \
    }                                                     \
  } while (0)
__constant__ float coef[16];
__device__ int counter;
__device__ float table[4] = {1, 2, 3, 4};
__global__ void scale(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    a[i] *= coef[i % 16];
    if (i % 1024 == 0) atomicAdd(&counter, 1);
  }
}
__global__ void hello(int x) { printf("hello %d from %d\n", x, threadIdx.x); }
static void CUDART_CB done(void* p) { ++*(int*)p; }
int main() {
  const int n = 1 << 16;
  float h[16];
  for (int i = 0; i < 16; i++) h[i] = i + 1;
  CK(cudaMemcpyToSymbol(coef, h, sizeof h));
  int z = 0;
  CK(cudaMemcpyToSymbol(counter, &z, 4));
  float* host;
  CK(cudaMallocHost(&host, n * 4));
  for (int i = 0; i < n; i++) host[i] = 1;
  cudaStream_t s[4];
  cudaEvent_t e0, e1;
  CK(cudaEventCreate(&e0));
  CK(cudaEventCreate(&e1));
  for (auto& x : s) CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
  float* d;
  CK(cudaMalloc(&d, n * 4));
  CK(cudaEventRecord(e0));
  for (int i = 0; i < 4; i++) {
    int q = n / 4;
    CK(cudaMemcpyAsync(d + i * q, host + i * q, q * 4, cudaMemcpyHostToDevice, s[i]));
    scale<<<q / 256, 256, 0, s[i]>>>(d + i * q, q);
    CK(cudaMemcpyAsync(host + i * q, d + i * q, q * 4, cudaMemcpyDeviceToHost, s[i]));
  }
  for (auto x : s) CK(cudaStreamSynchronize(x));
  CK(cudaEventRecord(e1));
  CK(cudaEventSynchronize(e1));
  float ms;
  CK(cudaEventElapsedTime(&ms, e0, e1));
  for (int i = 0; i < n; i++)
    if (host[i] != i % 16 + 1) {
      printf("wrong\n");
      return 1;
    }
  int c;
  CK(cudaMemcpyFromSymbol(&c, counter, 4));
  if (c != 64) {
    printf("counter %d\n", c);
    return 1;
  }
  // graph by capture
  cudaStream_t cs;
  CK(cudaStreamCreate(&cs));
  cudaGraph_t g;
  cudaGraphExec_t ge;
  CK(cudaStreamBeginCapture(cs, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 3; i++) scale<<<n / 256, 256, 0, cs>>>(d, n);
  CK(cudaStreamEndCapture(cs, &g));
  CK(cudaGraphInstantiate(&ge, g, 0));
  for (int i = 0; i < 2; i++) CK(cudaGraphLaunch(ge, cs));
  CK(cudaStreamSynchronize(cs));
  CK(cudaMemcpy(host, d, n * 4, cudaMemcpyDeviceToHost));
  if (host[1] != 128) {
    printf("graph %f\n", host[1]);
    return 1;
  }
  // pools
  cudaMemPool_t pool;
  CK(cudaDeviceGetDefaultMemPool(&pool, 0));
  uint64_t th = ~0ull;
  CK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &th));
  for (int i = 0; i < 10; i++) {
    float* p;
    CK(cudaMallocAsync(&p, 1 << 20, s[0]));
    CK(cudaMemsetAsync(p, 0, 1 << 20, s[0]));
    CK(cudaFreeAsync(p, s[0]));
  }
  int calls = 0;
  CK(cudaLaunchHostFunc(s[1], done, &calls));
  CK(cudaDeviceSynchronize());
  if (calls != 1) return 1;
  hello<<<1, 2>>>(7);
  CK(cudaDeviceSynchronize());
  float tb[4];
  CK(cudaMemcpyFromSymbol(tb, table, 16));
  if (tb[3] != 4) return 1;
  void* sa;
  CK(cudaGetSymbolAddress(&sa, table));
  size_t ss;
  CK(cudaGetSymbolSize(&ss, table));
  if (ss != 16) return 1;
  size_t fr, to;
  CK(cudaMemGetInfo(&fr, &to));
  cudaPointerAttributes pa;
  CK(cudaPointerGetAttributes(&pa, d));
  float* p2;
  size_t pitch;
  CK(cudaMallocPitch(&p2, &pitch, 100 * 4, 50));
  CK(cudaMemset2D(p2, pitch, 0, 400, 50));
  std::vector<float> hv(5000, 3);
  CK(cudaMemcpy2D(p2, pitch, hv.data(), 400, 400, 50, cudaMemcpyHostToDevice));
  puts("ok");
  CK(cudaDeviceReset());
}
