// Texture and surface objects.
#include "sim/runtime/api/api.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

/// What an object was made of; `use` copies it out.
template <class Use>
cudaError_t ask(std::uint64_t handle, bool surface, const void* out, Use&& use) {
  return call([&](State& s) {
    const TextureObject* object = s.arrays.object(handle, surface);
    if (object == nullptr || out == nullptr) return cudaErrorInvalidValue;
    return use(*object);
  });
}

}  // namespace

FORETRACE_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture,
                                                  const cudaResourceDesc* resource,
                                                  const cudaTextureDesc* description,
                                                  const cudaResourceViewDesc* view) {
  return call([&](State& s) {
    if (texture == nullptr || resource == nullptr || description == nullptr) return cudaErrorInvalidValue;
    TextureObject object{*resource, *description, {}, view != nullptr, false};
    if (view != nullptr) object.view = *view;
    std::uint64_t handle = 0;
    const cudaError_t result = s.arrays.make_texture(s.memory, object, &handle);
    if (result == cudaSuccess) *texture = handle;
    return result;
  });
}
FORETRACE_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return call([&](State& s) {
    return texture == 0 || s.arrays.remove(texture, false) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
FORETRACE_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out,
                                                           cudaTextureObject_t texture) {
  return ask(texture, false, out, [&](const TextureObject& object) {
    *out = object.resource;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t texture) {
  return ask(texture, false, out, [&](const TextureObject& object) {
    *out = object.texture;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out,
                                                               cudaTextureObject_t texture) {
  return ask(texture, false, out, [&](const TextureObject& object) {
    if (!object.has_view) return cudaErrorInvalidValue;
    *out = object.view;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                                  const cudaResourceDesc* resource) {
  return call([&](State& s) {
    if (surface == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    std::uint64_t handle = 0;
    const cudaError_t result = s.arrays.make_surface(*resource, &handle);
    if (result == cudaSuccess) *surface = handle;
    return result;
  });
}
FORETRACE_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return call([&](State& s) {
    return surface == 0 || s.arrays.remove(surface, true) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
FORETRACE_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out,
                                                           cudaSurfaceObject_t surface) {
  return ask(surface, true, out, [&](const TextureObject& object) {
    *out = object.resource;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* most,
                                                               const cudaChannelFormatDesc* format,
                                                               int device) {
  return call([&](State&) {
    if (most == nullptr || format == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *most = std::size_t{1} << 28;  // texels, whatever their size
    return cudaSuccess;
  });
}
