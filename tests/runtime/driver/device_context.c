#include "check.h"

void check_device(void) {
  int count = 0, value = 0, major = 0, minor = 0;
  CUdevice device = 5;
  char name[128] = "", id[64] = "";
  CUuuid uuid;
  size_t bytes = 0;
  CUdevprop properties;
  CUmemoryPool pool = NULL;
  unsigned nodes = 0;
  cuuint64_t used = 0;
  T(cuDeviceGetCount(&count));
  printf("device at least one: %d\n", count >= 1);
  T(cuDeviceGet(&device, 0));
  NUMBER(device);
  T(cuDeviceGet(&device, 99));
  T(cuDeviceGet(&device, -1));
  T(cuDeviceGetName(name, sizeof name, 0));
  printf("device name %s\n", name);
  T(cuDeviceGetName(name, 4, 0));
  NUMBER(strlen(name));
  T(cuDeviceGetName(name, sizeof name, 99));
  T(cuDeviceGetUuid(&uuid, 0));
  T(cuDeviceGetUuid_v2(&uuid, 0));
  T(cuDeviceGetLuid(name, &nodes, 0));
  T(cuDeviceTotalMem_v2(&bytes, 0));
  printf("device memory GiB %zu\n", bytes >> 30);
  for (int i = 1; i <= 147; ++i) {
    value = -12345;
    const CUresult result = cuDeviceGetAttribute(&value, (CUdevice_attribute)i, 0);
    printf("device attribute %d: %s %d\n", i, name_of(result), result == CUDA_SUCCESS ? value : 0);
  }
  T(cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, 0));
  T(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99));
  T(cuDeviceComputeCapability(&major, &minor, 0));
  printf("device capability %d.%d\n", major, minor);
  T(cuDeviceGetProperties(&properties, 0));
  NUMBER(properties.maxThreadsPerBlock);
  NUMBER(properties.SIMDWidth);
  NUMBER(properties.regsPerBlock);
  T(cuDeviceGetPCIBusId(id, sizeof id, 0));
  NUMBER(strlen(id));
  T(cuDeviceGetByPCIBusId(&device, id));
  NUMBER(device);
  T(cuDeviceGetByPCIBusId(&device, "9999:99:99.0"));
  T(cuDeviceCanAccessPeer(&value, 0, 0));
  T(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
  T(cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
  T(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                               CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
  T(cuDeviceGetDefaultMemPool(&pool, 0));
  T(cuDeviceGetMemPool(&pool, 0));
  T(cuDeviceSetMemPool(0, pool));
  T(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  T(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &used));
  T(cuDeviceGraphMemTrim(0));
}

void check_context(void) {
  CUcontext primary = NULL, again = NULL, made = NULL, current = NULL;
  unsigned flags = 7, version = 0;
  int active = 7, least = 7, greatest = 7;
  CUdevice device = 7;
  size_t value = 0;
  unsigned long long id = 0, other = 0;
  CUfunc_cache cache;
  CUsharedconfig banks;
  CUexecAffinityParam affinity;
  T(cuDevicePrimaryCtxGetState(0, &flags, &active));
  NUMBER(flags);
  NUMBER(active);
  T(cuDevicePrimaryCtxRelease(0));
  T(cuDevicePrimaryCtxRelease_v2(0));
  T(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_AUTO));
  T(cuDevicePrimaryCtxSetFlags_v2(0, CU_CTX_SCHED_BLOCKING_SYNC));
  T(cuDevicePrimaryCtxSetFlags_v2(0, 0x7fffffff));
  T(cuDevicePrimaryCtxRetain(&primary, 0));
  T(cuDevicePrimaryCtxRetain(&again, 0));
  NUMBER(primary == again);
  T(cuDevicePrimaryCtxRetain(&again, 99));
  T(cuDevicePrimaryCtxGetState(0, &flags, &active));
  NUMBER(flags);
  NUMBER(active);
  T(cuDevicePrimaryCtxRelease_v2(0));
  T(cuCtxGetCurrent(&current));
  NUMBER(current == NULL);
  T(cuCtxSetCurrent(primary));
  T(cuCtxGetCurrent(&current));
  NUMBER(current == primary);
  T(cuCtxGetDevice(&device));
  NUMBER(device);
  T(cuCtxGetDevice_v2(&device, primary));
  T(cuCtxGetFlags(&flags));
  NUMBER(flags);
  T(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
  T(cuCtxCreate_v2(&made, CU_CTX_SCHED_SPIN, 0));
  T(cuCtxGetCurrent(&current));
  NUMBER(current == made);
  T(cuCtxGetFlags(&flags));
  NUMBER(flags);
  T(cuCtxGetId(primary, &id));
  T(cuCtxGetId(made, &other));
  NUMBER(id == other);
  T(cuCtxGetApiVersion(made, &version));
  printf("device version of a context %u\n", version);
  T(cuCtxPopCurrent_v2(&current));
  NUMBER(current == made);
  T(cuCtxGetCurrent(&current));
  NUMBER(current == primary);
  T(cuCtxPushCurrent_v2(made));
  T(cuCtxPushCurrent(primary));
  T(cuCtxPopCurrent(&current));
  NUMBER(current == primary);
  T(cuCtxDestroy_v2(made));
  T(cuCtxGetCurrent(&current));
  NUMBER(current == primary);
  T(cuCtxCreate(&made, 0, 0));
  T(cuCtxDestroy(made));
  T(cuCtxCreate_v3(&made, NULL, 0, 0, 0));
  T(cuCtxDestroy_v2(made));
  T(cuCtxCreate_v4(&made, NULL, 0, 0));
  T(cuCtxDestroy_v2(made));
  T(cuCtxCreate_v2(&made, 0, 99));
  T(cuCtxSynchronize());
  T(cuCtxSynchronize_v2(primary));
  T(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  NUMBER(value);
  T(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
  NUMBER(value);
  T(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
  T(cuCtxGetLimit(&value, (CUlimit)100));
  T(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
  T(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  NUMBER(value);
  T(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
  T(cuCtxSetLimit((CUlimit)100, 1));
  T(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  T(cuCtxGetCacheConfig(&cache));
  NUMBER(cache);
  T(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
  T(cuCtxGetSharedMemConfig(&banks));
  NUMBER(banks);
  T(cuCtxGetStreamPriorityRange(&least, &greatest));
  NUMBER(least);
  NUMBER(greatest);
  T(cuCtxResetPersistingL2Cache());
  T(cuCtxEnablePeerAccess(primary, 0));
  T(cuCtxDisablePeerAccess(primary));
  T(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  T(cuCtxSetCurrent(NULL));
  T(cuCtxPopCurrent_v2(&current));
  T(cuCtxGetDevice(&device));
  T(cuDevicePrimaryCtxReset(0));
  T(cuDevicePrimaryCtxReset_v2(0));
  T(cuDevicePrimaryCtxGetState(0, &flags, &active));
  NUMBER(active);
}

void check_lookup(void) {
  void* function = NULL;
  CUdriverProcAddressQueryResult status;
  const void* table = NULL;
  static const CUuuid none = {{0}};
  static const struct {
    const char* name;
    int version;
  } asked[] = {{"cuMemAlloc", 12000},       {"cuMemAlloc", 3020},        {"cuMemAlloc", 2000},
               {"cuMemAlloc_v2", 12000},    {"cuCtxCreate", 4000},       {"cuCtxCreate", 13000},
               {"cuGetProcAddress", 11030}, {"cuGetProcAddress", 12000}, {"cuInit", 1000},
               {"cuNotThere", 12000},       {"cuLaunchKernelEx", 11000}, {"cuLaunchKernelEx", 11060},
               {"cuStreamQuery", 12000},    {"cuMemcpy", 13000},         {"cuTensorMapEncodeTiled", 12000}};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; ++i) {
    for (unsigned long long flags = 0; flags < 3; ++flags) {
      function = NULL;
      status = (CUdriverProcAddressQueryResult)9;
      const CUresult result = cuGetProcAddress_v2(asked[i].name, &function, asked[i].version, flags, &status);
      printf("look-up %s %d %llu: %s, status %d, %s\n", asked[i].name, asked[i].version, flags,
             name_of(result), (int)status, function == NULL ? "null" : "found");
    }
  }
  T(cuGetProcAddress("cuMemAlloc", &function, 12000, 0));
  T(cuGetProcAddress("cuNotThere", &function, 12000, 0));
  T(cuGetProcAddress_v2("cuMemAlloc", &function, 99990, 0, NULL));
  T(cuGetProcAddress_v2("cuNotThere", &function, 12000, 0, NULL));
  T(cuGetProcAddress_v2("cuMemcpyHtoD", &function, 12000, 0, &status));
  NUMBER(function == (void*)cuMemcpyHtoD_v2);
  T(cuGetProcAddress_v2("cuMemcpyHtoD", &function, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                        &status));
  NUMBER(function == (void*)cuMemcpyHtoD_v2_ptds);
  T(cuGetExportTable(&table, &none));
}
