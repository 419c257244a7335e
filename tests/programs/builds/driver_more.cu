// The driver's interface beside the runtime's: modules from memory, 2-D copies, textures, occupancy, contexts that threads hand over,
// cuLaunchKernelEx, entry points that are looked up.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>
#include <cstring>
#include <thread>
#include <vector>
#include "check.h"
static const char* ptx = R"(
.version 7.0
.target sm_52
.address_size 64
.global .align 4 .u32 offset = 5;
.visible .entry times(.param .u64 p, .param .u32 n, .param .u32 f) {
  .reg .pred %q; .reg .b32 %r<9>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [f];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.s32 %q, %r6, %r1; @%q bra END;
  cvta.to.global.u64 %d2, %d1; mul.wide.s32 %d3, %r6, 4; add.s64 %d4, %d2, %d3;
  ld.global.u32 %r7, [%d4]; ld.global.u32 %r8, [offset]; mad.lo.s32 %r7, %r7, %r2, %r8; st.global.u32 [%d4], %r7;
END: ret; })";
int main() {
  CHECK(cuInit(0));
  CUdevice device;
  CHECK(cuDeviceGet(&device, 0));
  CUcontext primary, current;
  CHECK(cuDevicePrimaryCtxRetain(&primary, device));
  CHECK(cuCtxPushCurrent(primary));
  char log[512] = "";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_MAX_REGISTERS,
                            CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {log, (void*)sizeof log, (void*)32, (void*)3};
  CUmodule module;
  CHECK(cuModuleLoadDataEx(&module, ptx, 4, options, values));
  CUfunction times;
  CHECK(cuModuleGetFunction(&times, module, "times"));
  CUfunction none;
  EXPECT(cuModuleGetFunction(&none, module, "nothing") == CUDA_ERROR_NOT_FOUND);
  CUdeviceptr offset, p;
  size_t bytes;
  CHECK(cuModuleGetGlobal(&offset, &bytes, module, "offset"));
  EXPECT(bytes == 4);
  CHECK(cuMemsetD32(offset, 9, 1));
  int n = 1000, factor = 3, registers, blocks, block;
  CHECK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, times));
  EXPECT(registers > 0 && registers <= 32);
  CHECK(cuOccupancyMaxPotentialBlockSize(&blocks, &block, times, nullptr, 0, 0));
  EXPECT(block >= 32);
  size_t pitch;
  CHECK(cuMemAllocPitch(&p, &pitch, 400, 10, 4));
  std::vector<int> h(1000, 2);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = h.data(), copy.srcPitch = 400;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = p, copy.dstPitch = pitch;
  copy.WidthInBytes = 400, copy.Height = 10;
  CHECK(cuMemcpy2D(&copy));
  CUdeviceptr row = p + 3 * pitch;
  n = 100;
  CUlaunchConfig config = {};
  config.gridDimX = 1, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128, config.blockDimY = config.blockDimZ = 1;
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attribute.value.priority = 0;
  config.attrs = &attribute, config.numAttrs = 1;
  void* arguments[] = {&row, &n, &factor};
  CHECK(cuLaunchKernelEx(&config, times, arguments, nullptr));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(h.data(), row, 400));
  EXPECT(h[0] == 15 && h[99] == 15);
  struct {
    CUdeviceptr p;
    int n, f;
  } packed = {row, 100, 2};
  size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(times, 1, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
  // The context goes to another thread.
  CHECK(cuCtxPopCurrent(&current));
  EXPECT(current == primary);
  std::thread([&] {
    CHECK(cuCtxPushCurrent(primary));
    CHECK(cuMemcpyDtoH(h.data(), row, 400));
    CHECK(cuCtxPopCurrent(&current));
  }).join();
  EXPECT(h[50] == 39);
  CHECK(cuCtxGetCurrent(&current));
  EXPECT(current == nullptr);
  EXPECT(cuMemFree(p) == CUDA_ERROR_INVALID_CONTEXT || true);
  CHECK(cuCtxSetCurrent(primary));
  int* runtime;
  CHECK(cudaMalloc(&runtime, 400));
  CHECK(cuMemcpyDtoD((CUdeviceptr)runtime, row, 400));
  CHECK(cudaMemcpy(h.data(), runtime, 400, cudaMemcpyDeviceToHost));
  EXPECT(h[7] == 39);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuMemGetInfo", &entry, 12000, cudaEnableDefault, &found));
  EXPECT(found == cudaDriverEntryPointSuccess);
  size_t available, total;
  CHECK(((PFN_cuMemGetInfo_v3020)entry)(&available, &total));
  EXPECT(available < total);
  CUdeviceptr base;
  CHECK(cuMemGetAddressRange(&base, &bytes, row + 8));
  EXPECT(base == p);
  unsigned ordinal;
  CHECK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, row));
  EXPECT(ordinal == 0);
  const char* name;
  CHECK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &name));
  EXPECT(!strcmp(name, "CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT(cuMemAlloc(&p, (size_t)1 << 50) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(cuModuleUnload(module));
  EXPECT(cuModuleLoadData(&module, "not code at all") == CUDA_ERROR_INVALID_IMAGE);
  EXPECT(cuModuleLoad(&module, "/no/such/file.cubin") == CUDA_ERROR_FILE_NOT_FOUND);
  CHECK(cuDevicePrimaryCtxRelease(device));
  puts("ok");
}
