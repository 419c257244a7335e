#include "check.h"

#include <stdint.h>

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
  memset(&properties, 0, sizeof properties);
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  memset(&access, 0, sizeof access);
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
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
