// Tensor maps of matrices of 16-bit elements, by the driver's own function.
#pragma once

#include <cuda.h>

#include "bench.cuh"

namespace bench {

/// A matrix of `rows` rows of `columns` elements, `pitch` bytes apart, in boxes of `box_columns` by `box_rows`. Ends the program where the driver
/// makes no map of it.
inline CUtensorMap map_of_matrix(void* data, cuuint64_t columns, cuuint64_t rows, cuuint64_t pitch, cuuint32_t box_columns, cuuint32_t box_rows,
                                 CUtensorMapSwizzle swizzle, CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                 CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult state;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &state));
  CUtensorMap map;
  const cuuint64_t sizes[2] = {columns, rows}, pitches[1] = {pitch};
  const cuuint32_t box[2] = {box_columns, box_rows}, steps[2] = {1, 1};
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(&map, type, 2, data, sizes, pitches, box, steps,
                                                                                     CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion,
                                                                                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d\n", static_cast<int>(result)), std::exit(1);
  return map;
}

}  // namespace bench
