// Copies and fills; arrays take part in those of boxes and in those from and to host memory.
#include <cstdint>

#include "sim/runtime/device/clock.h"
#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

std::byte* bytes(CUdeviceptr address) { return static_cast<std::byte*>(pointer(address)); }

CUresult copy(void* to, const void* from, size_t size, cudaMemcpyKind kind, CUstream stream) {
  return in_context([&] { return cudaMemcpyAsync(to, from, size, kind, stream); });
}

/// The call that asked for the copy returns when it is done.
CUresult then_wait(CUresult result) {
  return result != CUDA_SUCCESS ? result : in_context([] { return waited(cudaSuccess); });
}

/// One side of a copy of boxes.
struct Side {
  std::byte* corner = nullptr;
  size_t pitch = 0, slice = 0;
  const Array* array = nullptr;
  CopyCall::Corner at{};
};

Side side_of(const State& s, CUmemorytype type, const void* host, CUdeviceptr device, CUarray array, size_t x,
             size_t y, size_t z, size_t pitch, size_t height) {
  Side side;
  if (type == CU_MEMORYTYPE_ARRAY) {
    side.array = s.arrays.find(reinterpret_cast<cudaArray_t>(array));
    side.at = {x, y, z};
    side.pitch = ~size_t{0};
    return side;
  }
  side.corner = type == CU_MEMORYTYPE_HOST ? static_cast<std::byte*>(const_cast<void*>(host)) : bytes(device);
  side.pitch = pitch;
  side.slice = pitch * height;
  side.corner += z * side.slice + y * pitch + x;
  return side;
}

cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_ARRAY) from = CU_MEMORYTYPE_DEVICE;
  if (to == CU_MEMORYTYPE_ARRAY) to = CU_MEMORYTYPE_DEVICE;
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (from == CU_MEMORYTYPE_HOST)
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

bool is_type(CUmemorytype type) { return type >= CU_MEMORYTYPE_HOST && type <= CU_MEMORYTYPE_UNIFIED; }

template <class Box>
CUresult copy_boxes(const Box* box, size_t depth, size_t from_z, size_t to_z, size_t from_height,
                    size_t to_height, CUstream stream) {
  return with_state([&](State& s) {
    if (!is_type(box->srcMemoryType) || !is_type(box->dstMemoryType)) return cudaErrorInvalidValue;
    // A pitch of 0 is that of rows without a gap.
    const size_t from_pitch = box->srcPitch == 0 ? box->srcXInBytes + box->WidthInBytes : box->srcPitch;
    const size_t to_pitch = box->dstPitch == 0 ? box->dstXInBytes + box->WidthInBytes : box->dstPitch;
    const Side from =
        side_of(s, box->srcMemoryType, box->srcHost, box->srcDevice, box->srcArray, box->srcXInBytes,
                box->srcY, from_z, from_pitch, from_height == 0 ? box->Height : from_height);
    const Side to =
        side_of(s, box->dstMemoryType, box->dstHost, box->dstDevice, box->dstArray, box->dstXInBytes,
                box->dstY, to_z, to_pitch, to_height == 0 ? box->Height : to_height);
    if (box->WidthInBytes > from.pitch || box->WidthInBytes > to.pitch) return cudaErrorInvalidValue;
    CopyCall copy{to.corner,
                  from.corner,
                  box->WidthInBytes,
                  box->Height,
                  depth,
                  to.pitch,
                  from.pitch,
                  to.slice,
                  from.slice,
                  kind_of(box->srcMemoryType, box->dstMemoryType)};
    copy.to_array = to.array, copy.to_at = to.at;
    copy.from_array = from.array, copy.from_at = from.at;
    return s.submit(stream, copy);
  });
}

/// One side of a copy of a row: an array from an offset on (bytes in its first row), or memory.
struct RowSide {
  CUarray array = nullptr;
  size_t offset = 0;
  std::byte* memory = nullptr;
};
RowSide memory_at(const void* pointer) {
  return {nullptr, 0, static_cast<std::byte*>(const_cast<void*>(pointer))};
}

CUresult copy_row(const RowSide& to, const RowSide& from, size_t size, cudaMemcpyKind kind, CUstream stream) {
  return with_state([&](State& s) {
    CopyCall copy{to.memory,
                  from.memory,
                  size,
                  1,
                  1,
                  to.memory == nullptr ? 0 : size,
                  from.memory == nullptr ? 0 : size,
                  0,
                  0,
                  kind};
    if (to.memory == nullptr) {
      copy.to_array = s.arrays.find(reinterpret_cast<cudaArray_t>(to.array));
      copy.to_at = {to.offset, 0, 0};
      if (copy.to_array == nullptr) return cudaErrorInvalidValue;
    }
    if (from.memory == nullptr) {
      copy.from_array = s.arrays.find(reinterpret_cast<cudaArray_t>(from.array));
      copy.from_at = {from.offset, 0, 0};
      if (copy.from_array == nullptr) return cudaErrorInvalidValue;
    }
    return s.submit(stream, copy);
  });
}

CUresult copy_2d(const CUDA_MEMCPY2D* box, CUstream stream) {
  return box == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_boxes(box, 1, 0, 0, 0, 0, stream);
}
template <class Box>
CUresult copy_3d(const Box* box, CUstream stream) {
  return box == nullptr
             ? CUDA_ERROR_INVALID_VALUE
             : copy_boxes(box, box->Depth, box->srcZ, box->dstZ, box->srcHeight, box->dstHeight, stream);
}

CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, size_t element, size_t width, size_t height,
              CUstream stream) {
  return with_state([&](State& s) {
    return s.submit(stream, FillCall{bytes(to), value, element, width, height, 1, pitch, 0});
  });
}

}  // namespace

FORETRACE_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return then_wait(copy(pointer(to), pointer(from), size, cudaMemcpyDefault, nullptr));
}
FORETRACE_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy(pointer(to), pointer(from), size, cudaMemcpyDefault, stream);
}
FORETRACE_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t size) {
  return then_wait(copy(pointer(to), from, size, cudaMemcpyHostToDevice, nullptr));
}
FORETRACE_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  return copy(pointer(to), from, size, cudaMemcpyHostToDevice, stream);
}
FORETRACE_API CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t size) {
  return then_wait(copy(to, pointer(from), size, cudaMemcpyDeviceToHost, nullptr));
}
FORETRACE_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy(to, pointer(from), size, cudaMemcpyDeviceToHost, stream);
}
FORETRACE_API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return then_wait(copy(pointer(to), pointer(from), size, cudaMemcpyDeviceToDevice, nullptr));
}
FORETRACE_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy(pointer(to), pointer(from), size, cudaMemcpyDeviceToDevice, stream);
}
FORETRACE_API CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t size) {
  return copy_row({to, offset}, memory_at(from), size, cudaMemcpyHostToDevice, nullptr);
}
FORETRACE_API CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t size) {
  return copy_row(memory_at(to), {from, offset}, size, cudaMemcpyDeviceToHost, nullptr);
}
FORETRACE_API CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t size,
                                            CUstream stream) {
  return copy_row({to, offset}, memory_at(from), size, cudaMemcpyHostToDevice, stream);
}
FORETRACE_API CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t size,
                                            CUstream stream) {
  return copy_row(memory_at(to), {from, offset}, size, cudaMemcpyDeviceToHost, stream);
}
FORETRACE_API CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t size) {
  return copy_row({to, offset}, memory_at(pointer(from)), size, cudaMemcpyDeviceToDevice, nullptr);
}
FORETRACE_API CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t size) {
  return copy_row(memory_at(pointer(to)), {from, offset}, size, cudaMemcpyDeviceToDevice, nullptr);
}
FORETRACE_API CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                                       size_t size) {
  return copy_row({to, to_offset}, {from, from_offset}, size, cudaMemcpyDeviceToDevice, nullptr);
}
FORETRACE_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t size) {
  return cuMemcpyDtoD_v2(to, from, size);
}
FORETRACE_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t size,
                                         CUstream stream) {
  return cuMemcpyDtoDAsync_v2(to, from, size, stream);
}
FORETRACE_SAME(cuMemcpy_ptds, cuMemcpy);
FORETRACE_SAME(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2);
FORETRACE_SAME(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2);
FORETRACE_SAME(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2);
FORETRACE_SAME(cuMemcpyPeer_ptds, cuMemcpyPeer);

FORETRACE_API CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* box) { return then_wait(copy_2d(box, nullptr)); }
FORETRACE_API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* box, CUstream stream) {
  return copy_2d(box, stream);
}
FORETRACE_API CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* box) { return then_wait(copy_3d(box, nullptr)); }
FORETRACE_API CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* box, CUstream stream) {
  return copy_3d(box, stream);
}
FORETRACE_API CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* box) {
  return then_wait(copy_3d(box, nullptr));
}
FORETRACE_API CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* box, CUstream stream) {
  return copy_3d(box, stream);
}
FORETRACE_SAME(cuMemcpy2DUnaligned_v2, cuMemcpy2D_v2);
FORETRACE_SAME(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2D_v2);
FORETRACE_SAME(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2);
FORETRACE_SAME(cuMemcpy3D_v2_ptds, cuMemcpy3D_v2);
FORETRACE_SAME(cuMemcpy3DPeer_ptds, cuMemcpy3DPeer);

FORETRACE_API CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return fill(to, count, value, 1, count, 1, nullptr);
}
FORETRACE_API CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return fill(to, 2 * count, value, 2, count, 1, nullptr);
}
FORETRACE_API CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return fill(to, 4 * count, value, 4, count, 1, nullptr);
}
FORETRACE_API CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                       size_t height) {
  return fill(to, pitch, value, 1, width, height, nullptr);
}
FORETRACE_API CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                                        size_t height) {
  return fill(to, pitch, value, 2, width, height, nullptr);
}
FORETRACE_API CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                        size_t height) {
  return fill(to, pitch, value, 4, width, height, nullptr);
}
FORETRACE_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fill(to, count, value, 1, count, 1, stream);
}
FORETRACE_API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fill(to, 2 * count, value, 2, count, 1, stream);
}
FORETRACE_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fill(to, 4 * count, value, 4, count, 1, stream);
}
FORETRACE_API CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                         size_t height, CUstream stream) {
  return fill(to, pitch, value, 1, width, height, stream);
}
FORETRACE_API CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                                          size_t height, CUstream stream) {
  return fill(to, pitch, value, 2, width, height, stream);
}
FORETRACE_API CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                          size_t height, CUstream stream) {
  return fill(to, pitch, value, 4, width, height, stream);
}
FORETRACE_SAME(cuMemsetD8_v2_ptds, cuMemsetD8_v2);
FORETRACE_SAME(cuMemsetD16_v2_ptds, cuMemsetD16_v2);
FORETRACE_SAME(cuMemsetD32_v2_ptds, cuMemsetD32_v2);
FORETRACE_SAME(cuMemsetD2D8_v2_ptds, cuMemsetD2D8_v2);
FORETRACE_SAME(cuMemsetD2D16_v2_ptds, cuMemsetD2D16_v2);
FORETRACE_SAME(cuMemsetD2D32_v2_ptds, cuMemsetD2D32_v2);
