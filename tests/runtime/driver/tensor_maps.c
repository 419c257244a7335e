/* Tensor maps: what is encoded, word by word, and what is refused. */
#include "check.h"

static void print_map(const CUtensorMap* map) {
  unsigned words[32];
  memcpy(words, map, sizeof words);
  for (int i = 0; i < 32; ++i)
    printf("%s%08x", i % 8 == 0 ? "  " : " ", words[i]), i % 8 == 7 ? printf("\n") : 0;
}

void check_tensor_maps(void) {
  CUtensorMap map;
  void* const where = (void*)0x7f0000001000;
  const cuuint64_t dims[5] = {640, 384, 20, 6, 3}, strides[4] = {1280, 491520, 9830400, 58982400};
  const cuuint64_t odd_strides[4] = {1288, 491520, 9830400, 58982400};
  const cuuint32_t box[5] = {64, 128, 2, 1, 1}, wide[5] = {128, 64, 1, 1, 1}, ones[5] = {1, 1, 1, 1, 1},
                   steps[5] = {1, 2, 1, 1, 1};
  const cuuint32_t none[5] = {0, 128, 2, 1, 1};
  const int lower[3] = {-1, -1, -1}, upper[3] = {-1, -2, 0};
#define TILED(type, rank, where, strides, box, steps, swizzle, promotion, fill)       \
  memset(&map, 0, sizeof map);                                                        \
  T(cuTensorMapEncodeTiled(&map, type, rank, where, dims, strides, box, steps,        \
                           CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion, fill)); \
  print_map(&map)
  TILED(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, where, strides, box, ones, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TILED(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, where, strides, box, steps, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  TILED(CU_TENSOR_MAP_DATA_TYPE_UINT8, 5, where, strides, box, ones, CU_TENSOR_MAP_SWIZZLE_64B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TILED(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 1, where, NULL, box, ones, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TILED(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, where, strides, wide, ones, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TILED(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void*)0x7f0000001008, strides, box, ones,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TILED(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, where, odd_strides, box, ones, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TILED(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, where, strides, none, ones, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TILED(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 0, where, strides, box, ones, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TILED(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 6, where, strides, box, ones, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  memset(&map, 0, sizeof map);
  T(cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, where, dims, strides, lower, upper, 64,
                            128, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  print_map(&map);
  T(cuTensorMapReplaceAddress(&map, (void*)0x7f0000002000));
  print_map(&map);
  T(cuTensorMapReplaceAddress(&map, (void*)0x7f0000002008));
  /* From sm_100 on; its layout there is ours and is not printed. */
  const CUresult made = cuTensorMapEncodeIm2colWide(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, where, dims, strides, -1, -2, 64, 128, ones,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (made != CUDA_SUCCESS && made != CUDA_ERROR_INVALID_VALUE) printf("wide: %s\n", name_of(made));
}
