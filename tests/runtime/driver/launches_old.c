#include "check.h"

#define FIRST() printf("  first: %g\n", first_of(p))

/* A context's uses, which cuCtxDetach counts down; memory that is left. */
void check_attached(void) {
  CUcontext made = NULL, again = NULL;
  CUdeviceptr small[3] = {0, 0, 0}, large = 0;
  size_t before = 0, after = 0, total = 0;
  T(cuCtxCreate_v2(&made, 0, 0));
  T(cuCtxAttach(&again, 1));
  T(cuCtxAttach(&again, 0));
  NUMBER(made == again);
  T(cuCtxDetach(made));
  T(cuMemGetInfo_v2(&before, &total));
  for (int i = 0; i < 3; ++i) T(cuMemAlloc_v2(small + i, 1000));
  T(cuMemGetInfo_v2(&after, &total));
  NUMBER(before - after);
  T(cuMemAlloc_v2(&large, 3 << 20));
  T(cuMemGetInfo_v2(&after, &total));
  NUMBER(before - after);
  for (int i = 0; i < 3; ++i) T(cuMemFree_v2(small[i]));
  T(cuMemFree_v2(large));
  T(cuMemGetInfo_v2(&after, &total));
  NUMBER(before - after);
  T(cuCtxDetach(made));
  T(cuCtxDetach(made));
}

/* Launches as they were before cuLaunchKernel: what is set on the function stays there. */
void check_old_launches(void) {
  CUmodule module = NULL;
  CUfunction scale = NULL, shared = NULL;
  CUdeviceptr p = 0;
  CUstream stream = NULL;
  unsigned count = 0;
  T(cuModuleLoadData(&module, kPtx));
  T(cuModuleGetFunction(&scale, module, "scale"));
  T(cuModuleGetFunction(&shared, module, "shared"));
  T(cuMemAlloc_v2(&p, 4096));
  T(cuMemsetD32_v2(p, 0x3f800000, 1024));
  T(cuStreamCreate(&stream, 0));
  T(cuLaunchGrid(scale, 8, 1));
  T(cuFuncSetBlockShape(scale, 0, 1, 1));
  T(cuFuncSetBlockShape(scale, 128, 1, 1));
  T(cuFuncSetSharedSize(scale, 0));
  T(cuParamSetv(scale, 0, &p, sizeof p));
  T(cuLaunchGrid(scale, 8, 1));
  T(cuParamSetf(scale, 8, 3));
  T(cuParamSeti(scale, 12, 1024));
  T(cuParamSetSize(scale, 16));
  T(cuLaunchGrid(scale, 8, 1));
  FIRST();
  T(cuParamSetf(scale, 8, 0.5f));
  T(cuLaunchGridAsync(scale, 8, 1, stream));
  T(cuStreamSynchronize(stream));
  FIRST();
  T(cuLaunch(scale));
  FIRST();
  T(cuLaunchGrid(scale, 0, 1));
  T(cuParamSetv(shared, 0, &p, sizeof p));
  T(cuParamSetSize(shared, sizeof p));
  T(cuFuncSetBlockShape(shared, 16, 8, 1));
  T(cuFuncSetSharedSize(shared, 512));
  T(cuLaunch(shared));
  T(cuCtxSynchronize());
  T(cuMemcpyDtoH_v2(&count, p + 60, 4));
  NUMBER(count);
  T(cuStreamDestroy_v2(stream));
  T(cuMemFree_v2(p));
  T(cuModuleUnload(module));
}
