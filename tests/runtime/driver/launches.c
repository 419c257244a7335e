#include "check.h"

static size_t CUDA_CB no_shared(int threads) { return (size_t)threads; }

#define FIRST() printf("  %g\n", first_of(p))

static void check_occupancy(CUfunction function) {
  int blocks = 0, grid = 0, block = 0, clusters = 0, size = 0;
  size_t shared = 0;
  CUlaunchConfig config;
  CUlaunchAttribute attribute;
  T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
  NUMBER(blocks);
  T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 0, 0));
  T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 40000));
  NUMBER(blocks);
  T(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, 1024, 0, 0));
  NUMBER(blocks);
  T(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0));
  NUMBER(block);
  printf("device grid %d\n", grid);
  T(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function, no_shared, 0, 512, 0));
  NUMBER(block);
  T(cuOccupancyAvailableDynamicSMemPerBlock(&shared, function, 2, 256));
  printf("device shared memory left %zu\n", shared);
  memset(&config, 0, sizeof config);
  memset(&attribute, 0, sizeof attribute);
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = 2;
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  config.gridDimX = 64;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 128;
  config.attrs = &attribute;
  config.numAttrs = 1;
  T(cuOccupancyMaxActiveClusters(&clusters, function, &config));
  printf("device clusters %d\n", clusters);
  T(cuOccupancyMaxPotentialClusterSize(&size, function, &config));
  printf("device cluster size %d\n", size);
}

void check_launches(void) {
  CUmodule module = NULL;
  CUfunction scale = NULL, shared = NULL;
  CUdeviceptr p = 0;
  float factor = 2;
  unsigned count = 1024;
  void* arguments[] = {&p, &factor, &count};
  struct {
    CUdeviceptr p;
    float factor;
    unsigned count;
  } packed;
  size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  CUlaunchConfig config;
  CUlaunchAttribute attributes[2];
  CUstream stream = NULL;
  T(cuModuleLoadData(&module, kPtx));
  T(cuModuleGetFunction(&scale, module, "scale"));
  T(cuModuleGetFunction(&shared, module, "shared"));
  T(cuMemAlloc_v2(&p, 4096));
  T(cuMemsetD32_v2(p, 0x3f800000, 1024));
  T(cuStreamCreate(&stream, 0));
  PTSZ(cuLaunchKernel, scale, 8, 1, 1, 128, 1, 1, 0, stream, arguments, NULL);
  T(cuStreamSynchronize(stream));
  FIRST();
  packed.p = p;
  packed.factor = 0.5f;
  packed.count = 1024;
  T(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
  FIRST();
  T(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, NULL, arguments, extra));
  T(cuLaunchKernel(scale, 0, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
  T(cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, NULL, arguments, NULL));
  T(cuLaunchKernel(scale, 1, 1, 1, 128, 1, 1, 1 << 20, NULL, arguments, NULL));
  PTSZ(cuLaunchCooperativeKernel, scale, 8, 1, 1, 128, 1, 1, 0, stream, arguments);
  T(cuLaunchCooperativeKernel(scale, 1 << 20, 1, 1, 128, 1, 1, 0, stream, arguments));
  T(cuStreamSynchronize(stream));
  FIRST();
  memset(&config, 0, sizeof config);
  memset(attributes, 0, sizeof attributes);
  config.gridDimX = 8;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 128;
  config.hStream = stream;
  config.attrs = attributes;
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attributes[0].value.cooperative = 1;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  config.numAttrs = 1;
  PTSZ(cuLaunchKernelEx, &config, scale, arguments, NULL);
  attributes[0] = attributes[1];
  T(cuLaunchKernelEx(&config, scale, arguments, NULL));
  T(cuStreamSynchronize(stream));
  FIRST();
  T(cuLaunchKernel(shared, 1, 1, 1, 128, 1, 1, 512, stream, arguments, NULL));
  T(cuStreamSynchronize(stream));
  T(cuMemcpyDtoH_v2(&count, p + 400, 4));
  NUMBER(count);
  check_occupancy(scale);
  T(cuStreamDestroy_v2(stream));
  T(cuMemFree_v2(p));
  T(cuModuleUnload(module));
}
