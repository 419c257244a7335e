// Arrays: allocating and freeing them, and asking what they are.
#include "sim/runtime/api/api.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

cudaError_t allocate(cudaArray_t* array, const cudaChannelFormatDesc* format, const cudaExtent& extent,
                     unsigned flags) {
  return call([&](State& s) {
    if (array == nullptr || format == nullptr) return cudaErrorInvalidValue;
    return s.arrays.make(s.memory, *format, extent, flags, array);
  });
}

}  // namespace

FORETRACE_API cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                          size_t width, size_t height, unsigned flags) {
  return allocate(array, format, {width, height, 0}, flags);
}
FORETRACE_API cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                            cudaExtent extent, unsigned flags) {
  return allocate(array, format, extent, flags);
}
FORETRACE_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmapped,
                                                   const cudaChannelFormatDesc* format, cudaExtent extent,
                                                   unsigned levels, unsigned flags) {
  return call([&](State& s) {
    if (mipmapped == nullptr || format == nullptr) return cudaErrorInvalidValue;
    return s.arrays.make(s.memory, *format, extent, flags, levels, mipmapped);
  });
}
FORETRACE_API cudaError_t cudaFreeArray(cudaArray_t array) {
  return call([&](State& s) { return array == nullptr ? cudaSuccess : s.arrays.release(s.memory, array); });
}
FORETRACE_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmapped) {
  return call(
      [&](State& s) { return mipmapped == nullptr ? cudaSuccess : s.arrays.release(s.memory, mipmapped); });
}
FORETRACE_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t mipmapped,
                                                     unsigned index) {
  return call([&](State& s) {
    const MipmappedArray* found = s.arrays.find(mipmapped);
    if (level == nullptr || found == nullptr || index >= found->levels.size()) return cudaErrorInvalidValue;
    *level = reinterpret_cast<cudaArray_t>(found->levels[index].get());
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                                           cudaArray_t array) {
  return call([&](State& s) {
    const Array* found = s.arrays.find(array);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    if (format != nullptr) *format = found->format;
    if (extent != nullptr) *extent = found->extent;
    if (flags != nullptr) *flags = found->flags;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return call([&](State& s) {
    const Array* found = s.arrays.find(array);
    if (found == nullptr || format == nullptr) return cudaErrorInvalidResourceHandle;
    *format = found->format;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaArrayGetPlane(cudaArray_t*, cudaArray_t, unsigned) {
  return call([](State&) { return cudaErrorInvalidValue; });  // no array has several planes
}
FORETRACE_API cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* requirements,
                                                         cudaArray_t array, int) {
  return call([&](State& s) {
    const Array* found = s.arrays.find(array);
    if (found == nullptr || requirements == nullptr) return cudaErrorInvalidValue;
    *requirements = {};
    requirements->size = found->bytes;
    requirements->alignment = emulate::kAllocationAlignment;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* requirements,
                                                                  cudaMipmappedArray_t mipmapped, int) {
  return call([&](State& s) {
    const MipmappedArray* found = s.arrays.find(mipmapped);
    if (found == nullptr || requirements == nullptr) return cudaErrorInvalidValue;
    *requirements = {};
    requirements->size = found->whole.bytes;
    requirements->alignment = emulate::kAllocationAlignment;
    return cudaSuccess;
  });
}
