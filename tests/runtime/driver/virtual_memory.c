#include "check.h"

#include <stdint.h>

/* Memory of the device that other processes may have, to be read and written. */
static void ask_for_shared(CUmemAllocationProp* properties, CUmemAccessDesc* access) {
  memset(properties, 0, sizeof *properties);
  properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties->requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  memset(access, 0, sizeof *access);
  access->location = properties->location;
  access->flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

/* Two mappings side by side, one copy across both; memory that keeps its contents while it is mapped nowhere. */
void check_virtual_memory(void) {
  enum { kGranule = 2 << 20 };
  CUmemAllocationProp properties;
  CUmemGenericAllocationHandle first = 0, second = 0, again = 0;
  int file = -1;
  CUmemAccessDesc access;
  CUdeviceptr room = 0;
  size_t granule = 0, before = 0, after = 0, total = 0;
  unsigned long long flags = 9;
  unsigned words[4] = {1, 2, 3, 4}, back[4] = {0};
  ask_for_shared(&properties, &access);
  T(cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  NUMBER(granule);
  T(cuMemAddressReserve(&room, 4 * kGranule, 0, 0, 0));
  T(cuMemAddressReserve(&room, 100, 0, 0, 0));
  T(cuMemGetInfo_v2(&before, &total));
  T(cuMemCreate(&first, kGranule, &properties, 0));
  T(cuMemCreate(&second, kGranule, &properties, 0));
  T(cuMemCreate(&again, 100, &properties, 0));
  T(cuMemGetInfo_v2(&after, &total));
  NUMBER(before - after);
  T(cuMemMap(room, kGranule, 0, first, 0));
  T(cuMemMap(room + kGranule, kGranule, 0, second, 0));
  T(cuMemMap(room + kGranule, kGranule, 0, second, 0));
  T(cuMemGetAccess(&flags, &access.location, room));
  NUMBER(flags);
  T(cuMemSetAccess(room, 2 * kGranule, &access, 1));
  T(cuMemGetAccess(&flags, &access.location, room));
  NUMBER(flags);
  T(cuMemcpyHtoD_v2(room + kGranule - 8, words, sizeof words));
  T(cuMemcpyDtoH_v2(back, room + kGranule - 8, sizeof back));
  NUMBER(back[3]);
  T(cuMemRetainAllocationHandle(&again, (void*)room));
  NUMBER(again == first);
  T(cuMemGetAllocationPropertiesFromHandle(&properties, again));
  NUMBER(properties.type);
  T(cuMemRelease(again));
  T(cuMemUnmap(room, kGranule));
  T(cuMemcpyDtoH_v2(back, room + kGranule - 8, sizeof back));
  T(cuMemMap(room + 2 * kGranule, kGranule, 0, first, 0));
  T(cuMemSetAccess(room + 2 * kGranule, kGranule, &access, 1));
  back[0] = 0;
  T(cuMemcpyDtoH_v2(back, room + 3 * kGranule - 8, 8));
  NUMBER(back[0]);
  T(cuMemExportToShareableHandle(&file, first, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  T(cuMemImportFromShareableHandle(NULL, (void*)(intptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  T(cuMemAddressFree(room, 4 * kGranule));
  T(cuMemUnmap(room + kGranule, 2 * kGranule));
  T(cuMemRelease(first));
  T(cuMemRelease(second));
  T(cuMemRelease(second));
  T(cuMemGetInfo_v2(&after, &total));
  NUMBER(before - after);
  T(cuMemAddressFree(room, 4 * kGranule));
}

/* Memory that other processes may have, as far as one process can tell. */
void check_sharing(void) {
  enum { kGranule = 2 << 20 };
  CUmemAllocationProp properties;
  CUmemAccessDesc access;
  CUmemGenericAllocationHandle made = 0, imported = 0;
  CUmemPoolProps pools;
  CUmemPoolPtrExportData data;
  CUmemoryPool pool = NULL, other = NULL;
  CUipcMemHandle block;
  CUipcEventHandle happened;
  CUevent event = NULL;
  CUdeviceptr room = 0, p = 0, taken = 0;
  int file = -1;
  unsigned words[2] = {5, 6}, back[2] = {0};
  ask_for_shared(&properties, &access);
  T(cuMemCreate(&made, kGranule, &properties, 0));
  T(cuMemExportToShareableHandle(&file, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  T(cuMemImportFromShareableHandle(&imported, (void*)(intptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  T(cuMemAddressReserve(&room, 2 * kGranule, 0, 0, 0));
  T(cuMemMap(room, kGranule, 0, made, 0));
  T(cuMemMap(room + kGranule, kGranule, 0, imported, 0));
  T(cuMemSetAccess(room, 2 * kGranule, &access, 1));
  T(cuMemcpyHtoD_v2(room + 64, words, sizeof words));
  T(cuMemcpyDtoH_v2(back, room + kGranule + 64, sizeof back));
  NUMBER(back[1]);
  T(cuMemUnmap(room, 2 * kGranule));
  T(cuMemRelease(imported));
  T(cuMemRelease(made));
  T(cuMemAddressFree(room, 2 * kGranule));
  memset(&pools, 0, sizeof pools);
  pools.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  pools.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  pools.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  T(cuMemPoolCreate(&pool, &pools));
  T(cuMemAllocFromPoolAsync(&p, 4096, pool, NULL));
  T(cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  T(cuMemPoolExportPointer(&data, p));
  T(cuMemPoolImportFromShareableHandle(&other, (void*)(intptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  printf("device ");
  T(cuMemPoolImportPointer(&taken, other, &data));
  T(cuMemFreeAsync(p, NULL));
  T(cuMemAlloc_v2(&p, 4096));
  T(cuIpcGetMemHandle(&block, p));
  T(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
  T(cuIpcGetEventHandle(&happened, event));
  T(cuEventDestroy_v2(event));
  T(cuEventCreate(&event, CU_EVENT_INTERPROCESS));
  T(cuMemFree_v2(p));
}
