/* Calls of the CUDA driver, one per line with what it answered: "cuInit(0) = CUDA_SUCCESS". What depends on the machine (addresses,
   times, identifiers) is not printed; what depends on the chip has lines of its own that begin with "device". */
#ifndef FORETRACE_DRIVER_CHECK_H
#define FORETRACE_DRIVER_CHECK_H

/* Every version of every function is declared, none renamed. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of cudaProfiler.h, which is not everywhere. */
CUresult cuProfilerInitialize(const char* config, const char* output, int mode);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

static inline const char* name_of(CUresult result) {
  const char* name = NULL;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS) name = "a code without a name";
  return name;
}

#define T(call) printf("%s = %s\n", #call, name_of(call))
/* The same for the variant of the per-thread default stream. */
#define PTSZ(name, ...) (T(name(__VA_ARGS__)), T(name##_ptsz(__VA_ARGS__)))
#define PTDS(name, ...) (T(name(__VA_ARGS__)), T(name##_ptds(__VA_ARGS__)))
#define NUMBER(value) printf("  %s: %lld\n", #value, (long long)(value))
#define TEXT(value) printf("  %s: %s\n", #value, (value))

static inline float first_of(CUdeviceptr p) {
  float value = 0;
  cuCtxSynchronize();
  cuMemcpyDtoH_v2(&value, p + 400, 4);
  return value;
}

void check_device(void);
void check_context(void);
void check_memory(void);
void check_copies(void);
void check_streams(void);
void check_modules(void);
void check_unified_functions(void);
void check_launches(void);
void check_old_launches(void);
void check_launch_attributes(void);
void check_attached(void);
void check_graphs(void);
void check_graph_nodes(void);
void check_graph_memory(void);
void check_lookup(void);
void check_tensor_maps(void);
void check_virtual_memory(void);
void check_sharing(void);
void check_textures(void);
void check_green_contexts(void);
void check_batches(void);

/* PTX with kernels scale(float*, float, int) and shared(int*), a variable and a constant. */
extern const char* const kPtx;

/* Calls `check` with that kernel, its arguments, their memory and a stream. */
static inline void with_scale(void (*check)(CUstream, CUdeviceptr, CUfunction, void**)) {
  CUmodule module = NULL;
  CUfunction scale = NULL;
  CUdeviceptr p = 0;
  CUstream stream = NULL;
  float factor = 3;
  unsigned count = 1024;
  void* arguments[] = {&p, &factor, &count};
  T(cuModuleLoadData(&module, kPtx));
  T(cuModuleGetFunction(&scale, module, "scale"));
  T(cuMemAlloc_v2(&p, 4096));
  T(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  check(stream, p, scale, arguments);
  T(cuStreamDestroy_v2(stream));
  T(cuMemFree_v2(p));
  T(cuModuleUnload(module));
}

#endif
