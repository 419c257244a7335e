// Virtual memory: reserve, create, map, grow, access, release (the idea of NVIDIA's sample vectorAddMMAP).
#include <cuda.h>
#include <cuda_runtime.h>
#include "check.h"
__global__ void fill(int* p, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    p[i] = i;
}
int main() {
  CHECK(cudaFree(0));
  CUmemAllocationProp wanted = {};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  int compressible = 0, supported = 0;
  CHECK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  EXPECT(supported);
  CHECK(cuDeviceGetAttribute(&compressible, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, 0));
  if (compressible) wanted.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  size_t granule;
  CHECK(cuMemGetAllocationGranularity(&granule, &wanted, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  CUdeviceptr base;
  CHECK(cuMemAddressReserve(&base, 4 * granule, 0, 0, 0));
  CUmemGenericAllocationHandle parts[2];
  CUmemAccessDesc access = {wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  for (int i = 0; i < 2; ++i) {
    CHECK(cuMemCreate(&parts[i], granule, &wanted, 0));
    CHECK(cuMemMap(base + i * granule, granule, 0, parts[i], 0));
    CHECK(cuMemRelease(parts[i]));
  }
  CHECK(cuMemSetAccess(base, 2 * granule, &access, 1));
  size_t n = 2 * granule / 4;
  fill<<<64, 256>>>((int*)base, n);
  CHECK(cudaDeviceSynchronize());
  int last = 0;
  CHECK(cudaMemcpy(&last, (int*)base + n - 1, 4, cudaMemcpyDeviceToHost));
  EXPECT(last == (int)n - 1);
  // Beyond what is mapped nothing may be copied.
  EXPECT(cuMemcpyDtoH(&last, base + 2 * granule, 4) != CUDA_SUCCESS);
  unsigned long long flags;
  CHECK(cuMemGetAccess(&flags, &access.location, base));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CHECK(cuMemUnmap(base, 2 * granule));
  CHECK(cuMemAddressFree(base, 4 * granule));
  puts("ok");
}
