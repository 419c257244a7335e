// NVTX ranges of each kind around launches; exits with 77 where NVTX's header is missing.
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

__global__ void add(float* x) { x[threadIdx.x] += 1; }

int main() {
  float* x;
  cudaMalloc(&x, 128);
  if (nvtxRangePushA("step") != 0) return 1;
  add<<<1, 32>>>(x);
  if (nvtxRangePushW(L"in\u00e4n") != 1) return 2;
  add<<<1, 32>>>(x);
  if (nvtxRangePop() != 1) return 3;
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "sum");
  if (nvtxDomainRangePushEx(domain, &attributes) != 0) return 4;
  add<<<1, 32>>>(x);
  if (nvtxDomainRangePop(domain) != 0 || nvtxDomainRangePop(domain) >= 0) return 5;
  if (nvtxRangePop() != 0) return 6;
  const nvtxRangeId_t range = nvtxRangeStartA("process");
  add<<<1, 32>>>(x);
  nvtxRangeEnd(range);
  add<<<1, 32>>>(x);
  nvtxMarkA("mark");
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 7;
}
#else
int main() { return 77; }
#endif
