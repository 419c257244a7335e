#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <vector>
#define CK(x)                                             \
  do {                                                    \
    cudaError_t e = (x);                                  \
    if (e != cudaSuccess) {                               \
      printf("%d %s\n", __LINE__, cudaGetErrorString(e)); \
      exit(1);                                            \
    }                                                     \
  } while (0)
using namespace nvcuda;
__global__ void wm(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Sq : Shape {
  float s;
  __device__ Sq(float s) : s(s) {}
  __device__ float area() const override { return s * s; }
};
struct Ci : Shape {
  float r;
  __device__ Ci(float r) : r(r) {}
  __device__ float area() const override { return 3 * r * r; }
};
__global__ void virt(float* o) {
  Shape* s = threadIdx.x & 1 ? (Shape*)new Sq(threadIdx.x) : (Shape*)new Ci(threadIdx.x);
  o[threadIdx.x] = s->area();
  delete s;
}
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void rec(int* o) { o[threadIdx.x] = fib(threadIdx.x % 10); }
template <class F>
__global__ void app(F f, int n, float* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = f(i);
}
__global__ void big(int* o) {
  extern __shared__ int s[];
  for (int i = threadIdx.x; i < 20000; i += blockDim.x) s[i] = i;
  __syncthreads();
  int v = 0;
  for (int i = threadIdx.x; i < 20000; i += blockDim.x) v += s[19999 - i];
  atomicAdd(o, v & 1023);
}
__global__ void atom(double* d, cuda::atomic<int, cuda::thread_scope_device>* a) {
  atomicAdd(d, 0.5);
  a->fetch_add(1, cuda::memory_order_relaxed);
}
__global__ void prints() {
  printf("%d %5.2f %s %c %llx %p\n", threadIdx.x, 1.5, "str", 'c', 0x123456789abcull, nullptr);
}
__global__ void bf(__nv_bfloat162* x) { x[threadIdx.x] = __hmul2(x[threadIdx.x], __float2bfloat162_rn(2.f)); }
__global__ void spin(long long n) {
  long long t = clock64();
  while (clock64() - t < n)
    ;
}
int main() {
  half *a, *b;
  float* c;
  CK(cudaMallocManaged(&a, 512));
  CK(cudaMallocManaged(&b, 512));
  CK(cudaMallocManaged(&c, 4096));
  for (int i = 0; i < 256; i++) {
    a[i] = __float2half(i % 5);
    b[i] = __float2half(i % 3);
  }
  wm<<<1, 32>>>(a, b, c);
  CK(cudaDeviceSynchronize());
  float r = 0;
  for (int k = 0; k < 16; k++) r += (float)((3 * 16 + k) % 5) * ((4 * 16 + k) % 3);
  if (c[3 * 16 + 4] != r) {
    printf("wmma %f %f\n", c[52], r);
    return 1;
  }
  virt<<<1, 64>>>(c);
  CK(cudaDeviceSynchronize());
  if (c[3] != 9 || c[4] != 48) {
    puts("virt");
    return 1;
  }
  int* o;
  CK(cudaMallocManaged(&o, 4096));
  rec<<<1, 32>>>(o);
  CK(cudaDeviceSynchronize());
  if (o[9] != 34) {
    puts("rec");
    return 1;
  }
  float k = 2;
  app<<<4, 128>>>([=] __device__(int i) { return k * i; }, 500, c);
  CK(cudaDeviceSynchronize());
  if (c[100] != 200) return 1;
  CK(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 80000));
  *o = 0;
  big<<<2, 256, 80000>>>(o);
  CK(cudaDeviceSynchronize());
  double* d;
  cuda::atomic<int, cuda::thread_scope_device>* at;
  CK(cudaMallocManaged(&d, 8));
  CK(cudaMallocManaged(&at, 8));
  *d = 0;
  *at = 0;
  atom<<<4, 64>>>(d, at);
  CK(cudaDeviceSynchronize());
  if (*d != 128 || at->load() != 256) return 1;
  prints<<<1, 1>>>();
  CK(cudaDeviceSynchronize());
  int bs, gs;
  CK(cudaOccupancyMaxPotentialBlockSize(&gs, &bs, rec, 0, 0));
  cudaExtent ex = make_cudaExtent(64, 8, 4);
  cudaPitchedPtr pp;
  CK(cudaMalloc3D(&pp, ex));
  std::vector<char> h(64 * 8 * 4, 7), h2(64 * 8 * 4);
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(h.data(), 64, 64, 8);
  p.dstPtr = pp;
  p.extent = ex;
  p.kind = cudaMemcpyHostToDevice;
  CK(cudaMemcpy3D(&p));
  cudaMemcpy3DParms q{};
  q.dstPtr = make_cudaPitchedPtr(h2.data(), 64, 64, 8);
  q.srcPtr = pp;
  q.extent = ex;
  q.kind = cudaMemcpyDeviceToHost;
  CK(cudaMemcpy3D(&q));
  if (h != h2) return 1;
  float *hm, *dm;
  CK(cudaHostAlloc(&hm, 4096, cudaHostAllocMapped));
  CK(cudaHostGetDevicePointer(&dm, hm, 0));
  app<<<1, 128>>>([] __device__(int i) { return float(i * i); }, 128, dm);
  CK(cudaDeviceSynchronize());
  if (hm[11] != 121) return 1;
  std::vector<float> pg(4096);
  CK(cudaHostRegister(pg.data(), 4096 * 4, cudaHostRegisterDefault));
  app<<<1, 128>>>([] __device__(int i) { return float(i + 1); }, 128, pg.data());
  CK(cudaDeviceSynchronize());
  if (pg[5] != 6) return 1;
  CK(cudaHostUnregister(pg.data()));
  spin<<<1, 1>>>(10000);
  CK(cudaDeviceSynchronize());
  int lo, hi;
  CK(cudaDeviceGetStreamPriorityRange(&lo, &hi));
  cudaStream_t s1, s2;
  CK(cudaStreamCreateWithPriority(&s1, cudaStreamNonBlocking, hi));
  CK(cudaStreamCreate(&s2));
  cudaEvent_t ev;
  CK(cudaEventCreateWithFlags(&ev, cudaEventDisableTiming));
  rec<<<1, 32, 0, s1>>>(o);
  CK(cudaEventRecord(ev, s1));
  CK(cudaStreamWaitEvent(s2, ev, 0));
  rec<<<1, 32, 0, s2>>>(o);
  while (cudaEventQuery(ev) == cudaErrorNotReady)
    ;
  CK(cudaDeviceSynchronize());
  cudaStreamAttrValue av{};
  av.accessPolicyWindow.base_ptr = o;
  av.accessPolicyWindow.num_bytes = 4096;
  av.accessPolicyWindow.hitRatio = 1;
  av.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  av.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  CK(cudaStreamSetAttribute(s1, cudaStreamAttributeAccessPolicyWindow, &av));
  cudaLaunchConfig_t cfg{};
  cfg.gridDim = 2;
  cfg.blockDim = 32;
  cfg.stream = s1;
  cudaLaunchAttribute la[1];
  la[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  la[0].val.programmaticStreamSerializationAllowed = 1;
  cfg.attrs = la;
  cfg.numAttrs = 1;
  CK(cudaLaunchKernelEx(&cfg, rec, o));
  CK(cudaDeviceSynchronize());
  int n;
  CK(cudaGetDeviceCount(&n));
  int can;
  cudaError_t e = cudaDeviceCanAccessPeer(&can, 0, 0);
  e = cudaSetDevice(7);
  if (e != cudaErrorInvalidDevice) return 1;
  cudaGetLastError();
  int v;
  CK(cudaDriverGetVersion(&v));
  CK(cudaRuntimeGetVersion(&v));
  CK(cudaDeviceGetAttribute(&v, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  puts("ok");
}
