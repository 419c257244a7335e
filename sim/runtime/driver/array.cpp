// Arrays, textures and surfaces of the driver's interface, on top of the runtime's.
#include <algorithm>

#include "sim/runtime/device/stop.h"
#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

cudaChannelFormatDesc format_of(CUarray_format format, unsigned channels) {
  int bits = 0;
  cudaChannelFormatKind kind = cudaChannelFormatKindNone;
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8: bits = 8, kind = cudaChannelFormatKindUnsigned; break;
    case CU_AD_FORMAT_UNSIGNED_INT16: bits = 16, kind = cudaChannelFormatKindUnsigned; break;
    case CU_AD_FORMAT_UNSIGNED_INT32: bits = 32, kind = cudaChannelFormatKindUnsigned; break;
    case CU_AD_FORMAT_SIGNED_INT8: bits = 8, kind = cudaChannelFormatKindSigned; break;
    case CU_AD_FORMAT_SIGNED_INT16: bits = 16, kind = cudaChannelFormatKindSigned; break;
    case CU_AD_FORMAT_SIGNED_INT32: bits = 32, kind = cudaChannelFormatKindSigned; break;
    case CU_AD_FORMAT_HALF: bits = 16, kind = cudaChannelFormatKindFloat; break;
    case CU_AD_FORMAT_FLOAT: bits = 32, kind = cudaChannelFormatKindFloat; break;
    default: break;
  }
  const auto of = [&](unsigned i) { return i < channels ? bits : 0; };
  return {of(0), of(1), of(2), of(3), kind};
}

CUarray_format format_back(const cudaChannelFormatDesc& f) {
  const bool is_signed = f.f == cudaChannelFormatKindSigned;
  if (f.f == cudaChannelFormatKindFloat) return f.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  switch (f.x) {
    case 8: return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
    case 16: return is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
    default: return is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
  }
}

/// The driver has no codes of its own for formats, filters and reads.
cudaError_t plain(cudaError_t error) {
  const bool own = error == cudaErrorInvalidChannelDescriptor || error == cudaErrorInvalidFilterSetting ||
                   error == cudaErrorInvalidNormSetting;
  return own ? cudaErrorInvalidValue : error;
}

cudaArray_t runtime_array(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

CUresult create(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR& d) {
  return with_state([&](State& s) {
    return plain(s.arrays.make(s.memory, format_of(d.Format, d.NumChannels), {d.Width, d.Height, d.Depth},
                               d.Flags, reinterpret_cast<cudaArray_t*>(array)));
  });
}

CUresult describe(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
  return with_state([&](State& s) {
    const Array* found = s.arrays.find(runtime_array(array));
    if (found == nullptr || out == nullptr) return cudaErrorInvalidValue;
    *out = {found->extent.width,        found->extent.height,    found->extent.depth,
            format_back(found->format), found->image.components, found->flags};
    return cudaSuccess;
  });
}

cudaResourceDesc resource_of(const CUDA_RESOURCE_DESC& r) {
  cudaResourceDesc out{};
  out.flags = r.flags;
  switch (r.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      out.resType = cudaResourceTypeArray;
      out.res.array.array = runtime_array(r.res.array.hArray);
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      out.resType = cudaResourceTypeMipmappedArray;
      out.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(r.res.mipmap.hMipmappedArray);
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      out.resType = cudaResourceTypeLinear;
      out.res.linear = {pointer(r.res.linear.devPtr),
                        format_of(r.res.linear.format, r.res.linear.numChannels), r.res.linear.sizeInBytes};
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      out.resType = cudaResourceTypePitch2D;
      out.res.pitch2D = {pointer(r.res.pitch2D.devPtr),
                         format_of(r.res.pitch2D.format, r.res.pitch2D.numChannels), r.res.pitch2D.width,
                         r.res.pitch2D.height, r.res.pitch2D.pitchInBytes};
      break;
  }
  return out;
}

/// The driver reads integers of 8 and 16 bits as floats unless the flags say otherwise.
cudaTextureDesc sampler_of(const CUDA_TEXTURE_DESC& d, const cudaChannelFormatDesc& format) {
  cudaTextureDesc out{};
  for (int i = 0; i < 3; ++i) out.addressMode[i] = static_cast<cudaTextureAddressMode>(d.addressMode[i]);
  out.filterMode = static_cast<cudaTextureFilterMode>(d.filterMode);
  const bool integers = format.f == cudaChannelFormatKindSigned || format.f == cudaChannelFormatKindUnsigned;
  const bool as_floats = integers && format.x < 32 && (d.flags & CU_TRSF_READ_AS_INTEGER) == 0;
  out.readMode = as_floats ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  out.normalizedCoords = (d.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  out.sRGB = (d.flags & CU_TRSF_SRGB) != 0;
  out.maxAnisotropy = d.maxAnisotropy;
  out.mipmapFilterMode = static_cast<cudaTextureFilterMode>(d.mipmapFilterMode);
  out.mipmapLevelBias = d.mipmapLevelBias;
  out.minMipmapLevelClamp = d.minMipmapLevelClamp;
  out.maxMipmapLevelClamp = d.maxMipmapLevelClamp;
  std::copy_n(d.borderColor, 4, out.borderColor);
  return out;
}

cudaResourceViewDesc view_of(const CUDA_RESOURCE_VIEW_DESC& v) {
  cudaResourceViewDesc out{};
  out.format = static_cast<cudaResourceViewFormat>(v.format);
  out.width = v.width, out.height = v.height, out.depth = v.depth;
  out.firstMipmapLevel = v.firstMipmapLevel, out.lastMipmapLevel = v.lastMipmapLevel;
  out.firstLayer = v.firstLayer, out.lastLayer = v.lastLayer;
  return out;
}

cudaChannelFormatDesc format_of_resource(const State& s, const cudaResourceDesc& r) {
  if (r.resType == cudaResourceTypeLinear) return r.res.linear.desc;
  if (r.resType == cudaResourceTypePitch2D) return r.res.pitch2D.desc;
  if (r.resType == cudaResourceTypeMipmappedArray) {
    const MipmappedArray* m = s.arrays.find(r.res.mipmap.mipmap);
    return m == nullptr ? cudaChannelFormatDesc{} : m->whole.format;
  }
  const Array* array = s.arrays.find(r.res.array.array);
  return array == nullptr ? cudaChannelFormatDesc{} : array->format;
}

}  // namespace

FORETRACE_API CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* d) {
  if (array == nullptr || d == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return create(array, {d->Width, d->Height, 0, d->Format, d->NumChannels, 0});
}
FORETRACE_API CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  if (array == nullptr || d == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return create(array, *d);
}
FORETRACE_API CUresult cuArrayDestroy(CUarray array) {
  return with_state([&](State& s) { return s.arrays.release(s.memory, runtime_array(array)); });
}
FORETRACE_API CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
  return describe(out, array);
}
FORETRACE_API CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* out, CUarray array) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR all{};
  const CUresult result = describe(&all, array);
  if (result == CUDA_SUCCESS) *out = {all.Width, all.Height, all.Format, all.NumChannels};
  return result;
}
FORETRACE_API CUresult cuMipmappedArrayCreate(CUmipmappedArray* mipmapped, const CUDA_ARRAY3D_DESCRIPTOR* d,
                                              unsigned levels) {
  return with_state([&](State& s) {
    if (mipmapped == nullptr || d == nullptr) return cudaErrorInvalidValue;
    return plain(s.arrays.make(s.memory, format_of(d->Format, d->NumChannels),
                               {d->Width, d->Height, d->Depth}, d->Flags, levels,
                               reinterpret_cast<cudaMipmappedArray_t*>(mipmapped)));
  });
}
FORETRACE_API CUresult cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray mipmapped, unsigned index) {
  return in_context([&] {
    return cudaGetMipmappedArrayLevel(reinterpret_cast<cudaArray_t*>(level),
                                      reinterpret_cast<cudaMipmappedArray_t>(mipmapped), index);
  });
}
FORETRACE_API CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmapped) {
  return with_state([&](State& s) {
    return s.arrays.release(s.memory, reinterpret_cast<cudaMipmappedArray_t>(mipmapped));
  });
}
FORETRACE_API CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                                         const CUDA_TEXTURE_DESC* d, const CUDA_RESOURCE_VIEW_DESC* view) {
  return with_state([&](State& s) {
    if (texture == nullptr || resource == nullptr || d == nullptr) return cudaErrorInvalidValue;
    TextureObject object;
    object.resource = resource_of(*resource);
    object.texture = sampler_of(*d, format_of_resource(s, object.resource));
    object.has_view = view != nullptr;
    if (view != nullptr) object.view = view_of(*view);
    std::uint64_t handle = 0;
    const cudaError_t result = s.arrays.make_texture(s.memory, object, &handle);
    if (result ==
        cudaErrorInvalidFilterSetting) {  // refused by the runtime's interface, taken by the driver's
      stop(
          "cuTexObjectCreate: a linear filter of integers that are read as integers is not provided: "
          "what a GPU gives for it has not been measured");
    }
    if (result == cudaSuccess) *texture = handle;
    return plain(result);
  });
}
FORETRACE_API CUresult cuTexObjectDestroy(CUtexObject texture) {
  return in_context([&] { return cudaDestroyTextureObject(texture); });
}
FORETRACE_API CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
  return in_context([&] {
    if (surface == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    const cudaResourceDesc same = resource_of(*resource);
    cudaSurfaceObject_t made = 0;
    const cudaError_t result = cudaCreateSurfaceObject(&made, &same);
    if (result == cudaSuccess) *surface = made;
    return result;
  });
}
FORETRACE_API CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  return in_context([&] { return cudaDestroySurfaceObject(surface); });
}
