#include <cstdio>
#define CK(x)                                              \
  do {                                                     \
    cudaError_t e_ = (x);                                  \
    if (e_ != cudaSuccess) {                               \
      printf("%d %s\n", __LINE__, cudaGetErrorString(e_)); \
      return 1;                                            \
    }                                                      \
  } while (0)
__global__ void addv(int* p, int v) { p[threadIdx.x] += v; }
int main() {
  int* p;
  CK(cudaMalloc(&p, 128));
  cudaGraph_t g;
  CK(cudaGraphCreate(&g, 0));
  cudaGraphNode_t m, k, c;
  cudaMemsetParams mp{};
  mp.dst = p;
  mp.elementSize = 4;
  mp.width = 32;
  mp.height = 1;
  mp.value = 5;
  CK(cudaGraphAddMemsetNode(&m, g, 0, 0, &mp));
  int v = 3;
  void* a[] = {&p, &v};
  cudaKernelNodeParams kp{};
  kp.func = (void*)addv;
  kp.gridDim = 1;
  kp.blockDim = 32;
  kp.kernelParams = a;
  CK(cudaGraphAddKernelNode(&k, g, &m, 1, &kp));
  int h[32];
  CK(cudaGraphAddMemcpyNode1D(&c, g, &k, 1, h, p, 128, cudaMemcpyDeviceToHost));
  cudaGraphExec_t x;
  CK(cudaGraphInstantiate(&x, g, 0));
  cudaStream_t s;
  CK(cudaStreamCreate(&s));
  CK(cudaGraphLaunch(x, s));
  CK(cudaStreamSynchronize(s));
  if (h[4] != 8) return 1;
  v = 10;
  CK(cudaGraphExecKernelNodeSetParams(x, k, &kp));
  CK(cudaGraphLaunch(x, s));
  CK(cudaStreamSynchronize(s));
  if (h[4] != 15) return 1;
  cudaStream_t t;
  CK(cudaStreamCreate(&t));
  cudaEvent_t e, f;
  CK(cudaEventCreate(&e));
  CK(cudaEventCreate(&f));
  CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  CK(cudaEventRecord(e, s));
  CK(cudaStreamWaitEvent(t, e));
  addv<<<1, 32, 0, t>>>(p, 1);
  addv<<<1, 32, 0, s>>>(p + 0, 1);
  CK(cudaEventRecord(f, t));
  CK(cudaStreamWaitEvent(s, f));
  cudaGraph_t g2;
  CK(cudaStreamEndCapture(s, &g2));
  size_t n;
  CK(cudaGraphGetNodes(g2, 0, &n));
  printf("%zu nodes\n", n);
  cudaGraphExec_t x2;
  CK(cudaGraphInstantiateWithFlags(&x2, g2, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  CK(cudaGraphLaunch(x2, s));
  CK(cudaStreamSynchronize(s));
  CK(cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost));
  puts(h[0] == 17 ? "ok" : "wrong");
}
