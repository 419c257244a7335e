#include "check.h"

enum { kMost = 64 };

static void show(const char* what, const CUdevResource* resource) {
  printf("device %s: type %d, SMs %u, least %u, together %u\n", what, (int)resource->type,
         resource->sm.smCount, resource->sm.minSmPartitionSize, resource->sm.smCoscheduledAlignment);
}

/* How many groups of how many SMs, and what is left; `groups`: as many as are asked for. */
static void split(const CUdevResource* from, unsigned groups, unsigned flags, unsigned least) {
  CUdevResource parts[kMost], rest;
  unsigned possible = 0, made = groups;
  memset(parts, 0, sizeof parts);
  memset(&rest, 0, sizeof rest);
  const CUresult asked = cuDevSmResourceSplitByCount(NULL, &possible, from, NULL, flags, least);
  const CUresult result = cuDevSmResourceSplitByCount(parts, &made, from, &rest, flags, least);
  printf(
      "device split into %u of %u, flags %u: %s %u, %s %u of %u (least %u, together %u), rest %d %u (%u, "
      "%u)\n",
      groups, least, flags, name_of(asked), possible, name_of(result), made, parts[0].sm.smCount,
      parts[0].sm.minSmPartitionSize, parts[0].sm.smCoscheduledAlignment, (int)rest.type, rest.sm.smCount,
      rest.sm.minSmPartitionSize, rest.sm.smCoscheduledAlignment);
}

static void check_splits(const CUdevResource* all) {
  static const unsigned least[] = {0,  1,  2,  7,  8,  9,  12, 16, 17,  18,
                                   24, 32, 33, 48, 60, 64, 66, 72, 100, 128};
  CUdevResource parts[2], rest, none;
  unsigned made = 2;
  for (unsigned flags = 0; flags < 4; ++flags) {
    for (size_t i = 0; i < sizeof least / sizeof *least; ++i) split(all, kMost, flags, least[i]);
  }
  split(all, 2, 0, 16);
  split(all, 1, 0, 40);
  split(all, kMost, 4, 16);
  memset(&none, 0, sizeof none);
  T(cuDevSmResourceSplitByCount(parts, NULL, all, &rest, 0, 16));
  T(cuDevSmResourceSplitByCount(parts, &made, NULL, &rest, 0, 16));
  T(cuDevSmResourceSplitByCount(parts, &made, &none, &rest, 0, 16));
  T(cuDevSmResourceSplitByCount(parts, &made, all, &rest, 0, all->sm.smCount));
  NUMBER(made);
  made = 2;
  T(cuDevSmResourceSplitByCount(parts, &made, all, &rest, 0, all->sm.smCount + 1));
  made = 0;
  T(cuDevSmResourceSplitByCount(parts, &made, all, NULL, 0, 8));
  NUMBER(made);
}

static void check_descriptions(const CUdevResource* all, CUdevResourceDesc* of_16,
                               CUdevResourceDesc* of_rest) {
  CUdevResource parts[2], others[2], rest, mixed[2], none;
  CUdevResourceDesc both = NULL;
  unsigned made = 2;
  memset(&none, 0, sizeof none);
  T(cuDevSmResourceSplitByCount(parts, &made, all, &rest, 0, 16));
  NUMBER(made);
  made = 2;
  T(cuDevSmResourceSplitByCount(others, &made, all, NULL, 0, 16));
  T(cuDevSmResourceSplitByCount(others, &made, &parts[0], NULL, 0, 8));
  T(cuDevResourceGenerateDesc(NULL, parts, 1));
  T(cuDevResourceGenerateDesc(&both, NULL, 1));
  T(cuDevResourceGenerateDesc(&both, &none, 1));
  T(cuDevResourceGenerateDesc(&both, parts, 2));
  mixed[0] = parts[0];
  mixed[1] = others[1];
  T(cuDevResourceGenerateDesc(&both, mixed, 2));
  mixed[1] = parts[0];
  T(cuDevResourceGenerateDesc(&both, mixed, 2));
  T(cuDevResourceGenerateDesc(of_16, parts, 1));
  T(cuDevResourceGenerateDesc(of_rest, &rest, 1));
}

/* What runs in the stream, and how many blocks of 1024 threads may wait for each other. */
static void run_in(CUstream stream) {
  CUmodule module = NULL;
  CUfunction scale = NULL, shared = NULL;
  CUdeviceptr p = 0;
  float factor = 2, first = 0;
  unsigned n = 256;
  void* arguments[] = {&p, &factor, &n};
  void* other[] = {&p};
  int blocks = 0, room = 0;
  T(cuModuleLoadData(&module, kPtx));
  T(cuModuleGetFunction(&scale, module, "scale"));
  T(cuModuleGetFunction(&shared, module, "shared"));
  T(cuMemAlloc_v2(&p, 4096));
  T(cuMemsetD32Async(p, 0x3f800000, 1024, stream));
  T(cuLaunchKernel(scale, 2, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  T(cuStreamSynchronize(stream));
  T(cuMemcpyDtoH_v2(&first, p, 4));
  printf("  first: %g\n", first);
  T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared, 1024, 4096));
  T(cuLaunchCooperativeKernel(shared, 2 * 16, 1, 1, 1024, 1, 1, 4096, stream, other));
  printf("device one block more than fits in 16 SMs: %s\n",
         name_of(cuLaunchCooperativeKernel(shared, (unsigned)blocks * 16 + 1, 1, 1, 1024, 1, 1, 4096, stream,
                                           other)));
  T(cuOccupancyMaxPotentialBlockSize(&blocks, &room, scale, NULL, 0, 0));
  printf("device blocks that fill what is current: %d\n", blocks);
  T(cuStreamSynchronize(stream));
  T(cuMemFree_v2(p));
  T(cuModuleUnload(module));
}

static void check_current(CUgreenCtx green, CUcontext context, CUcontext primary) {
  CUcontext current = NULL, of_stream = NULL;
  CUgreenCtx found = NULL;
  CUstream stream = NULL;
  CUdevResource resource;
  CUdevice device = 9;
  unsigned long long id = 0, other = 0;
  unsigned flags = 0;
  int count = 0;
  T(cuCtxGetId(primary, &other));
  T(cuCtxSetCurrent(context));
  T(cuCtxGetCurrent(&current));
  NUMBER(current == context);
  T(cuCtxGetDevice(&device));
  NUMBER(device);
  T(cuCtxGetFlags(&flags));
  NUMBER(flags);
  T(cuCtxGetId(context, &id));
  NUMBER(id == other);
  T(cuGreenCtxGetId(green, &other));
  NUMBER(id == other);
  T(cuGreenCtxGetId(NULL, &id));
  NUMBER(id == other);
  T(cuCtxGetDevResource(context, &resource, CU_DEV_RESOURCE_TYPE_SM));
  show("current", &resource);
  T(cuCtxGetDevResource(NULL, &resource, CU_DEV_RESOURCE_TYPE_SM));
  T(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  printf("device SMs of the device: %d\n", count);
  T(cuStreamGetGreenCtx(NULL, &found));
  NUMBER(found == green);
  T(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  T(cuStreamGetGreenCtx(stream, &found));
  NUMBER(found == green);
  T(cuStreamDestroy_v2(stream));
  T(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  T(cuStreamGetCtx(stream, &of_stream));
  NUMBER(of_stream == context);
  run_in(stream);
  run_in(NULL);
  T(cuStreamDestroy_v2(stream));
  T(cuCtxSetCurrent(primary));
}

static void check_streams_of(CUgreenCtx green, CUcontext context, CUcontext primary) {
  CUstream stream = NULL, plain = NULL;
  CUgreenCtx found = NULL;
  CUcontext of_stream = NULL;
  CUevent event = NULL;
  int priority = 9;
  T(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0));
  T(cuGreenCtxStreamCreate(NULL, green, CU_STREAM_NON_BLOCKING, 0));
  T(cuGreenCtxStreamCreate(&stream, NULL, CU_STREAM_NON_BLOCKING, 0));
  T(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, -1));
  T(cuStreamGetPriority(stream, &priority));
  NUMBER(priority);
  T(cuStreamGetGreenCtx(stream, &found));
  NUMBER(found == green);
  T(cuStreamGetCtx(stream, &of_stream));
  NUMBER(of_stream == context);
  T(cuStreamGetCtx_v2(stream, &of_stream, &found));
  NUMBER(of_stream == context);
  NUMBER(of_stream == primary);
  NUMBER(found == green);
  T(cuStreamCreate(&plain, CU_STREAM_NON_BLOCKING));
  T(cuStreamGetGreenCtx(plain, &found));
  NUMBER(found == NULL);
  T(cuStreamGetCtx_v2(plain, &of_stream, &found));
  NUMBER(of_stream == primary);
  NUMBER(found == NULL);
  T(cuStreamGetGreenCtx(NULL, &found));
  NUMBER(found == NULL);
  run_in(stream);
  T(cuEventCreate(&event, CU_EVENT_DEFAULT));
  T(cuGreenCtxRecordEvent(green, event));
  T(cuGreenCtxRecordEvent(NULL, event));
  T(cuGreenCtxRecordEvent(green, NULL));
  T(cuGreenCtxWaitEvent(green, event));
  T(cuGreenCtxWaitEvent(NULL, event));
  T(cuEventSynchronize(event));
  T(cuCtxRecordEvent(primary, event));
  T(cuCtxRecordEvent(context, event));
  T(cuCtxRecordEvent(NULL, event));
  T(cuCtxWaitEvent(primary, event));
  T(cuCtxWaitEvent(context, event));
  T(cuCtxWaitEvent(NULL, event));
  T(cuEventDestroy_v2(event));
  T(cuStreamDestroy_v2(plain));
  T(cuStreamDestroy_v2(stream));
}

void check_green_contexts(void) {
  CUdevResource all, resource;
  CUdevResourceDesc of_16 = NULL, of_rest = NULL;
  CUgreenCtx green = NULL, rest = NULL;
  CUcontext primary = NULL, context = NULL, again = NULL;
  unsigned long long id = 0;
  T(cuCtxGetCurrent(&primary));
  memset(&all, 0, sizeof all);
  T(cuDeviceGetDevResource(0, NULL, CU_DEV_RESOURCE_TYPE_SM));
  T(cuDeviceGetDevResource(99, &all, CU_DEV_RESOURCE_TYPE_SM));
  T(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_INVALID));
  T(cuDeviceGetDevResource(0, &all, (CUdevResourceType)77));
  T(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
  show("all", &all);
  T(cuCtxGetDevResource(primary, &resource, CU_DEV_RESOURCE_TYPE_SM));
  show("primary", &resource);
  check_splits(&all);
  check_descriptions(&all, &of_16, &of_rest);
  T(cuGreenCtxCreate(&green, of_16, 0, 0));
  T(cuGreenCtxCreate(&green, of_16, 99, CU_GREEN_CTX_DEFAULT_STREAM));
  T(cuGreenCtxCreate(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  T(cuGreenCtxCreate(NULL, of_16, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  T(cuGreenCtxCreate(&green, of_16, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  T(cuGreenCtxCreate(&rest, of_rest, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  T(cuCtxFromGreenCtx(NULL, green));
  T(cuCtxFromGreenCtx(&context, NULL));
  T(cuCtxFromGreenCtx(&context, green));
  T(cuCtxFromGreenCtx(&again, green));
  NUMBER(context == again);
  NUMBER(context == primary);
  T(cuGreenCtxGetDevResource(green, &resource, CU_DEV_RESOURCE_TYPE_SM));
  show("green", &resource);
  split(&resource, kMost, 0, 8);
  T(cuGreenCtxGetDevResource(rest, &resource, CU_DEV_RESOURCE_TYPE_SM));
  show("rest", &resource);
  T(cuGreenCtxGetDevResource(NULL, &resource, CU_DEV_RESOURCE_TYPE_SM));
  T(cuGreenCtxGetDevResource(green, NULL, CU_DEV_RESOURCE_TYPE_SM));
  T(cuGreenCtxGetId(NULL, &id));
  check_streams_of(green, context, primary);
  check_current(green, context, primary);
  T(cuCtxDestroy_v2(context));
  T(cuGreenCtxDestroy(rest));
  T(cuGreenCtxDestroy(green));
  T(cuGreenCtxDestroy(NULL));
}
