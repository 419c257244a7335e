// What a kernel does wrong, by name, and what the program sees of it. Arguments: the fault. Returns 0 when the error codes are CUDA's.
#include <cassert>
#include <cstdio>
#include <cstring>
#include <string>

#include <cuda.h>

__global__ void out_of_bounds(int* data) { data[threadIdx.x + (threadIdx.x == 40 ? 40 : 0)] = 1; }
__global__ void misaligned(char* data) { *reinterpret_cast<int*>(data + threadIdx.x + 1) = 1; }
__global__ void trapping(int* data) {
  if (data[threadIdx.x] == 0) __trap();
}
__global__ void failing(int* data) { assert(data[threadIdx.x] == 1 && "the data are one"); }
__global__ void endless(volatile int* data) {
  while (data[0] == 0) {
  }
}
__global__ void fine(int* data) { data[threadIdx.x] = 2; }
__global__ void __launch_bounds__(64) bounded(int* data) { data[threadIdx.x] = 3; }
__global__ void dynamic(int* data) {
  extern __shared__ int room[];
  room[threadIdx.x] = threadIdx.x;
  __syncthreads();
  data[threadIdx.x] = room[63 - threadIdx.x];
}
/// One block of many: far into a launch that is long enough to be sampled.
__global__ void late(float* x, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) % n;
  float s = x[i];
  for (int j = 0; j < 16; ++j) s = s * 1.1f + x[(i + j * 32) % n];
  x[i] = s;
  if (blockIdx.x >= 5003) x[1 << 28] = s;
}

static int failures = 0;
static void expect(const char* what, cudaError_t got, cudaError_t wanted) {
  if (got == wanted) return;
  ++failures;
  std::printf("%s: %s, expected %s\n", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
}

/// A fault stays until the device is reset.
static void expect_sticky(cudaError_t wanted) {
  expect("synchronize", cudaDeviceSynchronize(), wanted);
  expect("last error", cudaGetLastError(), wanted);
  expect("last error again", cudaGetLastError(), wanted);
  void* more = nullptr;
  expect("malloc", cudaMalloc(&more, 16), wanted);
  expect("reset", cudaDeviceReset(), cudaSuccess);
  expect("after reset", cudaGetLastError(), cudaSuccess);
  expect("malloc after reset", cudaMalloc(&more, 16), cudaSuccess);
}

static void configurations(int* data) {
  fine<<<1, 2048>>>(data);
  expect("2048 threads", cudaGetLastError(), cudaErrorInvalidConfiguration);
  fine<<<0, 32>>>(data);
  expect("no block", cudaGetLastError(), cudaErrorInvalidConfiguration);
  fine<<<dim3(1, 70000), 32>>>(data);
  expect("grid too high", cudaGetLastError(), cudaErrorInvalidConfiguration);
  bounded<<<1, 128>>>(data);
  expect("beyond launch bounds", cudaGetLastError(), cudaErrorLaunchOutOfResources);
  dynamic<<<1, 64, 60 * 1024>>>(data);
  expect("60 KiB of shared memory", cudaGetLastError(), cudaErrorInvalidValue);
  expect("opt-in", cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 * 1024), cudaSuccess);
  dynamic<<<1, 64, 60 * 1024>>>(data);
  expect("60 KiB after the opt-in", cudaGetLastError(), cudaSuccess);
  expect("too much opt-in", cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20), cudaErrorInvalidValue);
  expect("its last error", cudaGetLastError(), cudaErrorInvalidValue);
  int host[64];
  expect("copy", cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
  if (host[0] != 63 || host[63] != 0) ++failures, std::printf("dynamic shared memory: %d %d\n", host[0], host[63]);
  void* arguments[] = {&data};
  void* no_kernel = &failures;
  expect("no kernel", cudaLaunchKernel(no_kernel, dim3(1), dim3(1), arguments, 0, nullptr), cudaErrorInvalidDeviceFunction);
  expect("cooperative, too large",
         cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(fine), dim3(100000), dim3(1024), arguments, 0, nullptr),
         cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
}

/// What the driver takes and the runtime refuses: a linear filter of integers that stay integers.
static void filtered_integers(int* data) {
  decltype(&cuTexObjectCreate) create = nullptr;
  cudaDriverEntryPointQueryResult found;
  expect("entry", cudaGetDriverEntryPoint("cuTexObjectCreate", reinterpret_cast<void**>(&create), cudaEnableDefault, &found),
         cudaSuccess);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(data);
  resource.res.pitch2D.format = CU_AD_FORMAT_UNSIGNED_INT8;
  resource.res.pitch2D.numChannels = 1;
  resource.res.pitch2D.width = resource.res.pitch2D.pitchInBytes = 64;
  resource.res.pitch2D.height = 1;
  CUDA_TEXTURE_DESC texture{};
  texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
  texture.flags = CU_TRSF_READ_AS_INTEGER;
  CUtexObject made = 0;
  std::printf("a texture was made: %d\n", static_cast<int>(create(&made, &resource, &texture, nullptr)));
}

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  int* data = nullptr;
  expect("malloc", cudaMalloc(&data, 64 * sizeof(int)), cudaSuccess);
  expect("memset", cudaMemset(data, 0, 64 * sizeof(int)), cudaSuccess);
  if (which == "out_of_bounds") {
    out_of_bounds<<<2, 64>>>(data);
    expect_sticky(cudaErrorIllegalAddress);
  } else if (which == "beyond") {
    for (int i = 0; i < 2; ++i) out_of_bounds<<<2, 64>>>(data);
    expect("synchronize", cudaDeviceSynchronize(), cudaSuccess);
    int* neighbour = nullptr;
    expect("malloc", cudaMalloc(&neighbour, 64 * sizeof(int)), cudaSuccess);
    const long beside = neighbour - data;
    fine<<<1, 64>>>(data + beside);
    out_of_bounds<<<1, 64>>>(data + beside - 64);
    int host[64];
    expect("copy", cudaMemcpy(host, neighbour, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    if (beside == 128 && host[16] != 1) ++failures, std::printf("the neighbour holds %d\n", host[16]);
  } else if (which == "use_after_free") {
    cudaFree(data);
    fine<<<1, 64>>>(data);
    expect_sticky(cudaErrorIllegalAddress);
  } else if (which == "misaligned") {
    misaligned<<<1, 32>>>(reinterpret_cast<char*>(data));
    expect_sticky(cudaErrorMisalignedAddress);
  } else if (which == "trap") {
    trapping<<<1, 32>>>(data);
    expect_sticky(cudaErrorLaunchFailure);
  } else if (which == "assert") {
    failing<<<1, 32>>>(data);
    expect_sticky(cudaErrorAssert);
  } else if (which == "endless") {
    endless<<<1, 32>>>(data);
    expect_sticky(cudaErrorLaunchTimeout);
  } else if (which == "late") {
    float* x = nullptr;
    expect("malloc", cudaMalloc(&x, sizeof(float) << 20), cudaSuccess);
    late<<<60000, 256>>>(x, 1 << 20);
    expect_sticky(cudaErrorIllegalAddress);
  } else if (which == "configurations") {
    configurations(data);
  } else if (which == "external") {
    cudaExternalMemory_t memory;
    cudaExternalMemoryHandleDesc description{};
    cudaImportExternalMemory(&memory, &description);
    std::printf("memory was imported\n");
  } else if (which == "filtered_integers") {
    filtered_integers(data);
  } else if (which == "asked") {  // of a kernel without code for the chip
    cudaFuncAttributes attributes{};
    expect("attributes", cudaFuncGetAttributes(&attributes, fine), cudaErrorNoKernelImageForDevice);
    expect("last error", cudaGetLastError(), cudaErrorNoKernelImageForDevice);
    expect("shared memory", cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024),
           cudaErrorNoKernelImageForDevice);
    expect("cache", cudaFuncSetCacheConfig(fine, cudaFuncCachePreferL1), cudaErrorNoKernelImageForDevice);
    int blocks = 0;
    expect("blocks", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fine, 64, 0), cudaErrorNoKernelImageForDevice);
  } else {
    std::printf("which fault?\n");
    return 2;
  }
  return failures == 0 ? 0 : 1;
}
