// Tensor maps: what the driver encodes for the copy engine of sm_90 and later.
//
// Models:  emulate::TensorMap has the layout and the rules; here they get the driver's form.
#include "sim/emulate/tensor/tensor_map.h"

#include <algorithm>
#include <cstring>

#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

bool sm_100_or_later() {
  bool later = false;
  with_state([&](State& s) {
    later = s.spec->sm_number >= 100;
    return CUDA_SUCCESS;
  });
  return later;
}

/// Elements of 4 and 6 bits: from sm_100 on.
bool knows(CUtensorMapDataType type) {
  return static_cast<int>(type) < emulate::kByteTensorTypes || sm_100_or_later();
}

/// What both kinds of maps have; false: an argument is missing or out of its range.
bool read(emulate::TensorMap& map, CUtensorMapDataType type, cuuint32_t rank, void* where,
          const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* element_strides,
          CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
          CUtensorMapFloatOOBfill fill) {
  if (rank == 0 || rank > emulate::kTensorRank || dims == nullptr || strides == nullptr ||
      element_strides == nullptr)
    return false;
  if (static_cast<int>(type) < 0 || static_cast<int>(type) >= emulate::kTensorTypes || !knows(type))
    return false;
  if (swizzle < CU_TENSOR_MAP_SWIZZLE_NONE || swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return false;
  if (interleave < CU_TENSOR_MAP_INTERLEAVE_NONE || interleave > CU_TENSOR_MAP_INTERLEAVE_32B) return false;
  if (promotion < CU_TENSOR_MAP_L2_PROMOTION_NONE || promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
    return false;
  map.type = static_cast<emulate::TensorType>(type);
  map.rank = static_cast<int>(rank);
  map.address = driver::address(where);
  std::copy_n(dims, rank, map.dims.begin());
  if (rank > 1) std::copy_n(strides, rank - 1, map.strides.begin() + 1);
  std::copy_n(element_strides, rank, map.element_strides.begin());
  map.interleave = static_cast<std::uint8_t>(interleave);
  map.swizzle = static_cast<emulate::TensorSwizzle>(swizzle);
  map.l2_promotion = static_cast<std::uint8_t>(promotion);
  map.nan_fill = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  return true;
}

CUresult write(CUtensorMap* out, const emulate::TensorMap& map) {
  if (out == nullptr || !emulate::problem_of(map).empty()) return CUDA_ERROR_INVALID_VALUE;
  const emulate::TensorMapBytes bytes = emulate::encode(map);
  static_assert(sizeof *out == sizeof bytes);
  std::memcpy(out, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

}  // namespace

FORETRACE_API CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                              void* where, const cuuint64_t* dims, const cuuint64_t* strides,
                                              const cuuint32_t* box, const cuuint32_t* element_strides,
                                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                              CUtensorMapL2promotion promotion,
                                              CUtensorMapFloatOOBfill fill) {
  return in_context([&] {
    emulate::TensorMap map;
    if (box == nullptr ||
        !read(map, type, rank, where, dims, strides, element_strides, interleave, swizzle, promotion, fill))
      return CUDA_ERROR_INVALID_VALUE;
    std::copy_n(box, rank, map.box.begin());
    return write(out, map);
  });
}

FORETRACE_API CUresult cuTensorMapEncodeIm2col(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                               void* where, const cuuint64_t* dims, const cuuint64_t* strides,
                                               const int* lower, const int* upper, cuuint32_t channels,
                                               cuuint32_t pixels, const cuuint32_t* element_strides,
                                               CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                               CUtensorMapL2promotion promotion,
                                               CUtensorMapFloatOOBfill fill) {
  return in_context([&] {
    emulate::TensorMap map;
    if (lower == nullptr || upper == nullptr || rank < 3 ||
        !read(map, type, rank, where, dims, strides, element_strides, interleave, swizzle, promotion, fill))
      return CUDA_ERROR_INVALID_VALUE;
    map.walk = emulate::BoxWalk::im2col;
    std::copy_n(lower, rank - 2, map.lower.begin());
    std::copy_n(upper, rank - 2, map.upper.begin());
    map.channels = channels;
    map.pixels = pixels;
    return write(out, map);
  });
}

FORETRACE_API CUresult cuTensorMapEncodeIm2colWide(
    CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* where, const cuuint64_t* dims,
    const cuuint64_t* strides, int lower, int upper, cuuint32_t channels, cuuint32_t pixels,
    const cuuint32_t* element_strides, CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return in_context([&] {
    emulate::TensorMap map;
    if (rank < 3 || !sm_100_or_later() || mode < CU_TENSOR_MAP_IM2COL_WIDE_MODE_W ||
        mode > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 ||
        !read(map, type, rank, where, dims, strides, element_strides, interleave, swizzle, promotion, fill))
      return CUDA_ERROR_INVALID_VALUE;
    const bool all_128 = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    map.walk = all_128 ? emulate::BoxWalk::wide_128 : emulate::BoxWalk::wide;
    map.lower[0] = lower;
    map.upper[0] = upper;
    map.channels = channels;
    map.pixels = all_128 ? emulate::kWide128Pixels : pixels;
    return write(out, map);
  });
}

FORETRACE_API CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* where) {
  return in_context([&] {
    if (map == nullptr) return CUDA_ERROR_INVALID_VALUE;
    emulate::TensorMapBytes bytes;
    std::memcpy(bytes.data(), map, bytes.size());
    emulate::TensorMap fields = emulate::decode_tensor_map(bytes);
    fields.address = driver::address(where);
    return write(map, fields);
  });
}
