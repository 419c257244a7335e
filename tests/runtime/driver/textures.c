#include "check.h"

static float words[64], back[64];

static void check_arrays(void) {
  CUDA_ARRAY_DESCRIPTOR flat = {16, 4, CU_AD_FORMAT_FLOAT, 1}, seen;
  CUDA_ARRAY3D_DESCRIPTOR deep, answered;
  CUarray array = NULL, row = NULL, level = NULL;
  CUmipmappedArray levels = NULL;
  CUDA_MEMCPY2D box;
  T(cuArrayCreate_v2(&array, &flat));
  T(cuArrayGetDescriptor_v2(&seen, array));
  NUMBER(seen.Width);
  NUMBER(seen.Height);
  NUMBER(seen.NumChannels);
  T(cuArray3DGetDescriptor_v2(&answered, array));
  NUMBER(answered.Depth);
  NUMBER(answered.Flags);
  memset(&box, 0, sizeof box);
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = words;
  box.srcPitch = 64;
  box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  box.dstArray = array;
  box.WidthInBytes = 64;
  box.Height = 4;
  T(cuMemcpy2D_v2(&box));
  memset(&box, 0, sizeof box);
  box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  box.srcArray = array;
  box.srcXInBytes = 8;
  box.srcY = 1;
  box.dstMemoryType = CU_MEMORYTYPE_HOST;
  box.dstHost = back;
  box.dstPitch = 64;
  box.WidthInBytes = 32;
  box.Height = 2;
  T(cuMemcpy2D_v2(&box));
  NUMBER(back[0]);
  NUMBER(back[23]);
  flat.Height = 0;
  T(cuArrayCreate_v2(&row, &flat));
  T(cuMemcpyHtoA_v2(row, 8, words, 32));
  T(cuMemcpyAtoH_v2(back, row, 12, 16));
  NUMBER(back[0]);
  T(cuArrayDestroy(row));
  memset(&deep, 0, sizeof deep);
  deep.Width = deep.Height = 8;
  deep.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  deep.NumChannels = 4;
  T(cuMipmappedArrayCreate(&levels, &deep, 3));
  T(cuMipmappedArrayGetLevel(&level, levels, 1));
  T(cuArray3DGetDescriptor_v2(&answered, level));
  NUMBER(answered.Width);
  T(cuMipmappedArrayGetLevel(&level, levels, 3));
  T(cuMipmappedArrayDestroy(levels));
  deep.NumChannels = 3;
  T(cuArray3DCreate_v2(&row, &deep));
  T(cuArrayDestroy(array));
}

static void check_objects(void) {
  CUDA_ARRAY3D_DESCRIPTOR deep;
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC sampler;
  CUarray array = NULL;
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  memset(&deep, 0, sizeof deep);
  deep.Width = 32;
  deep.Height = 8;
  deep.Format = CU_AD_FORMAT_FLOAT;
  deep.NumChannels = 1;
  deep.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  T(cuArray3DCreate_v2(&array, &deep));
  memset(&resource, 0, sizeof resource);
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  memset(&sampler, 0, sizeof sampler);
  sampler.filterMode = CU_TR_FILTER_MODE_LINEAR;
  T(cuTexObjectCreate(&texture, &resource, &sampler, NULL));
  T(cuSurfObjectCreate(&surface, &resource));
  T(cuTexObjectDestroy(texture));
  T(cuSurfObjectDestroy(surface));
  T(cuArrayDestroy(array));
}

void check_textures(void) {
  for (int i = 0; i < 64; ++i) words[i] = (float)i;
  check_arrays();
  check_objects();
}
