// Green contexts: what runs in their streams has a part of the SMs; events behind all that a context was given.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cstdio>

#define OK(call)                                                                    \
  do {                                                                              \
    const auto result_ = (call);                                                    \
    if (result_ != 0) {                                                             \
      std::printf("line %d: %s: %d\n", __LINE__, #call, static_cast<int>(result_)); \
      return 1;                                                                     \
    }                                                                               \
  } while (0)

__global__ void work(unsigned* sms, int rounds) {
  unsigned sm, all;
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  asm("mov.u32 %0, %%nsmid;" : "=r"(all));
  float x = threadIdx.x;
  for (int i = 0; i < rounds; ++i) x = x * 1.0001f + 0.5f;
  if (threadIdx.x == 0 && x != 1.0f) {
    atomicMax(sms, sm);
    sms[1] = all;
  }
}

__global__ void grid_wide() { cooperative_groups::this_grid().sync(); }

int main() {
  CUcontext primary, context;
  CUdevResource all, part, rest;
  CUdevResourceDesc description;
  CUgreenCtx green;
  CUstream stream;
  CUevent done;
  unsigned* sms;
  unsigned groups = 1;
  OK(cudaFree(nullptr));
  OK(cuCtxGetCurrent(&primary));
  OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
  OK(cuDevSmResourceSplitByCount(&part, &groups, &all, &rest, 0, 16));
  OK(cuDevResourceGenerateDesc(&description, &part, 1));
  OK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  OK(cuEventCreate(&done, CU_EVENT_DEFAULT));
  OK(cudaMallocManaged(&sms, 2 * sizeof(unsigned)));
  const auto run = [&](cudaStream_t where) -> unsigned {
    sms[0] = sms[1] = 0;
    work<<<64, 1024, 0, where>>>(sms, 200);
    cuGreenCtxRecordEvent(green, done);
    cuEventSynchronize(done);
    cudaDeviceSynchronize();
    return sms[1] == all.sm.smCount ? sms[0] + 1 : 0;
  };
  const unsigned whole = run(nullptr), of_part = run(stream);
  OK(cuCtxFromGreenCtx(&context, green));
  OK(cuCtxSetCurrent(context));
  const unsigned current = run(nullptr);
  OK(cuCtxSetCurrent(primary));
  if (whole <= 16 || of_part != 16 || current != 16)
    return std::printf("SMs: %u %u %u\n", whole, of_part, current);
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, grid_wide, 1024, 0));
  void* none[] = {nullptr};
  const auto* kernel = reinterpret_cast<const void*>(grid_wide);
  OK(cudaLaunchCooperativeKernel(kernel, dim3(16 * blocks), dim3(1024), none, 0, stream));
  const cudaError_t refused =
      cudaLaunchCooperativeKernel(kernel, dim3(16 * blocks + 1), dim3(1024), none, 0, stream);
  if (refused != cudaErrorCooperativeLaunchTooLarge) return std::printf("%s\n", cudaGetErrorName(refused));
  OK(cuStreamDestroy(stream));
  OK(cuGreenCtxDestroy(green));
  std::puts("parts: all right");
  return 0;
}
