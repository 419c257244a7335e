// Memory pools of the device, of the host and of managed memory: what they hand out, how much, and which is in use.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "../../programs/expect.h"

constexpr int kCount = 1000;
constexpr size_t kSize = kCount * sizeof(int);

__global__ void twice(int* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) data[i] *= 2;
}

cudaMemPoolProps properties(cudaMemAllocationType type, cudaMemLocationType where, int id = 0) {
  cudaMemPoolProps made = {};
  made.allocType = type;
  made.location = {where, id};
  return made;
}

/// The host writes, a kernel doubles, the host reads.
void check_reached(int* data) {
  for (int i = 0; i < kCount; ++i) data[i] = i;
  twice<<<4, 256>>>(data);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) EXPECT(data[i] == 2 * i);
}

void check_pool(const cudaMemPoolProps& wanted, cudaMemoryType type) {
  cudaMemPool_t pool;
  OK(cudaMemPoolCreate(&pool, &wanted));
  int* data[2];
  for (int*& made : data) OK(cudaMallocFromPoolAsync(&made, kSize, pool, nullptr));
  cudaPointerAttributes about;
  OK(cudaPointerGetAttributes(&about, data[0]));
  EXPECT(about.type == type);
  if (type != cudaMemoryTypeDevice) check_reached(data[0]);
  unsigned long long used = 0;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used >= 2 * kSize);
  OK(cudaFreeAsync(data[0], nullptr));
  OK(cudaFree(data[1]));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  OK(cudaMemPoolDestroy(pool));
}

/// Each kind of memory has a pool from the start, and one in use.
void check_current(cudaMemAllocationType type, cudaMemLocation where) {
  cudaMemPool_t standard, current, made;
  OK(cudaMemGetDefaultMemPool(&standard, &where, type));
  OK(cudaMemGetMemPool(&current, &where, type));
  EXPECT(current == standard);
  EXPECT(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
  const cudaMemPoolProps wanted = properties(type, where.type, where.id);
  OK(cudaMemPoolCreate(&made, &wanted));
  OK(cudaMemSetMemPool(&where, type, made));
  OK(cudaMemGetMemPool(&current, &where, type));
  EXPECT(current == made);
  OK(cudaMemPoolDestroy(made));
  OK(cudaMemGetMemPool(&current, &where, type));
  EXPECT(current == standard);
}

void check_room() {
  cudaMemPoolProps wanted = properties(cudaMemAllocationTypePinned, cudaMemLocationTypeDevice);
  wanted.maxSize = 4 << 20;
  cudaMemPool_t pool;
  OK(cudaMemPoolCreate(&pool, &wanted));
  void *data, *more;
  EXPECT(cudaMallocFromPoolAsync(&data, 64 << 20, pool, nullptr) == cudaErrorMemoryAllocation);
  OK(cudaMallocFromPoolAsync(&data, 4 << 20, pool, nullptr));
  EXPECT(cudaMallocFromPoolAsync(&more, 4 << 20, pool, nullptr) == cudaErrorMemoryAllocation);
  OK(cudaFreeAsync(data, nullptr));
  OK(cudaMallocFromPoolAsync(&more, 4 << 20, pool, nullptr));
  OK(cudaFreeAsync(more, nullptr));
  OK(cudaMemPoolDestroy(pool));
}

void check_refusals() {
  cudaMemPool_t pool, host;
  cudaMemPoolProps wanted = properties(cudaMemAllocationTypePinned, cudaMemLocationTypeNone);
  EXPECT(cudaMemPoolCreate(&pool, &wanted) == cudaErrorInvalidValue);
  wanted = properties(cudaMemAllocationTypeInvalid, cudaMemLocationTypeDevice);
  EXPECT(cudaMemPoolCreate(&pool, &wanted) == cudaErrorInvalidValue);
  wanted = properties(cudaMemAllocationTypePinned, cudaMemLocationTypeHostNumaCurrent);
  EXPECT(cudaMemPoolCreate(&pool, &wanted) == cudaErrorInvalidValue);
  wanted = properties(cudaMemAllocationTypePinned, cudaMemLocationTypeHost);
  wanted.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  EXPECT(cudaMemPoolCreate(&pool, &wanted) == cudaErrorInvalidValue);
  wanted.handleTypes = cudaMemHandleTypeNone;
  OK(cudaMemPoolCreate(&host, &wanted));
  EXPECT(cudaDeviceSetMemPool(0, host) == cudaErrorInvalidValue);
  OK(cudaMemPoolDestroy(host));
}

int main() {
  check_pool(properties(cudaMemAllocationTypePinned, cudaMemLocationTypeDevice), cudaMemoryTypeDevice);
  check_pool(properties(cudaMemAllocationTypePinned, cudaMemLocationTypeHost), cudaMemoryTypeHost);
  check_pool(properties(cudaMemAllocationTypePinned, cudaMemLocationTypeHostNuma), cudaMemoryTypeHost);
  check_pool(properties(cudaMemAllocationTypeManaged, cudaMemLocationTypeNone), cudaMemoryTypeManaged);
  check_pool(properties(cudaMemAllocationTypeManaged, cudaMemLocationTypeDevice), cudaMemoryTypeManaged);
  check_current(cudaMemAllocationTypePinned, {cudaMemLocationTypeDevice, 0});
  check_current(cudaMemAllocationTypePinned, {cudaMemLocationTypeHost, 0});
  check_current(cudaMemAllocationTypeManaged, {cudaMemLocationTypeDevice, 0});
  check_room();
  check_refusals();
  std::puts("pools: all right");
}
