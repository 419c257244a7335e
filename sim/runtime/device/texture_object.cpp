// Textures and surfaces made of what the program describes.
#include <algorithm>

#include "sim/runtime/device/array.h"

namespace foretrace::runtime {

namespace {

using emulate::AddressMode;
using emulate::Image;
using emulate::TexelKind;
using emulate::Texture;

/// Looks at texels of the same size in another format (cudaResourceViewFormat: 24 plain ones, three widths of each kind).
cudaError_t look_as(Image& image, cudaResourceViewFormat format, bool& normalized) {
  if (format == cudaResViewFormatNone) return cudaSuccess;
  if (format > cudaResViewFormatFloat4) return cudaErrorNotSupported;
  struct Kind {
    TexelKind kind;
    std::uint8_t bits;
  };
  static constexpr Kind kKinds[] = {{TexelKind::unsigned_integer, 8},  {TexelKind::signed_integer, 8},
                                    {TexelKind::unsigned_integer, 16}, {TexelKind::signed_integer, 16},
                                    {TexelKind::unsigned_integer, 32}, {TexelKind::signed_integer, 32},
                                    {TexelKind::floating, 16},         {TexelKind::floating, 32}};
  const auto index = static_cast<std::size_t>(format) - 1;
  const std::uint32_t before = image.texel_bytes();
  image.kind = kKinds[index / 3].kind;
  image.bits = kKinds[index / 3].bits;
  image.components = static_cast<std::uint8_t>(1 << index % 3);
  normalized = false;
  return image.texel_bytes() == before ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t apply_view(Image& image, const cudaResourceViewDesc& view, bool& normalized) {
  if (const cudaError_t refused = look_as(image, view.format, normalized); refused != cudaSuccess)
    return refused;
  if (view.lastMipmapLevel < view.firstMipmapLevel || view.lastMipmapLevel >= image.levels.size())
    return cudaErrorInvalidValue;
  image.levels = {image.levels.begin() + view.firstMipmapLevel,
                  image.levels.begin() + view.lastMipmapLevel + 1};
  if (image.layered || image.cube) {
    if (view.lastLayer < view.firstLayer || view.lastLayer >= image.layers) return cudaErrorInvalidValue;
    for (emulate::ImageLevel& level : image.levels) level.address += view.firstLayer * image.layer_bytes;
    image.layers = view.lastLayer - view.firstLayer + 1;
  }
  return cudaSuccess;
}

cudaError_t linear_image(const DeviceMemory& memory, const cudaResourceDesc& resource, Image& image,
                         bool& normalized) {
  const bool pitched = resource.resType == cudaResourceTypePitch2D;
  const cudaChannelFormatDesc& format = pitched ? resource.res.pitch2D.desc : resource.res.linear.desc;
  if (const cudaError_t refused = set_format(image, format, normalized); refused != cudaSuccess)
    return refused;
  emulate::ImageLevel level;
  const void* const at = pitched ? resource.res.pitch2D.devPtr : resource.res.linear.devPtr;
  level.address = reinterpret_cast<std::uint64_t>(at);
  std::size_t bytes = 0;
  if (pitched) {
    const auto& p = resource.res.pitch2D;
    image.dimensions = 2;
    level.width = static_cast<std::uint32_t>(p.width);
    level.height = static_cast<std::uint32_t>(p.height);
    level.pitch = p.pitchInBytes;
    constexpr std::size_t kPitchAlignment = 32;  // bytes: cudaDevAttrTexturePitchAlignment
    if (p.width == 0 || p.height == 0 || p.pitchInBytes < p.width * image.texel_bytes() ||
        p.pitchInBytes % kPitchAlignment != 0) {
      return cudaErrorInvalidValue;
    }
    bytes = (p.height - 1) * p.pitchInBytes + p.width * image.texel_bytes();
  } else {
    constexpr std::size_t kMostTexels = std::size_t{1} << 28;  // cudaDevAttrMaxTexture1DLinearWidth
    bytes = resource.res.linear.sizeInBytes;
    image.buffer = true;
    image.dimensions = 1;
    level.width = static_cast<std::uint32_t>(bytes / image.texel_bytes());
    if (level.width == 0 || bytes / image.texel_bytes() > kMostTexels) return cudaErrorInvalidValue;
  }
  if (!memory.holds(at, bytes)) return cudaErrorInvalidValue;
  image.levels = {level};
  return cudaSuccess;
}

cudaError_t image_of(const Arrays& arrays, const DeviceMemory& memory, const cudaResourceDesc& resource,
                     Image& image, bool& normalized) {
  const Array* array = nullptr;
  switch (resource.resType) {
    case cudaResourceTypeArray: array = arrays.find(resource.res.array.array); break;
    case cudaResourceTypeMipmappedArray:
      if (const MipmappedArray* m = arrays.find(resource.res.mipmap.mipmap)) array = &m->whole;
      break;
    case cudaResourceTypeLinear:
    case cudaResourceTypePitch2D: return linear_image(memory, resource, image, normalized);
  }
  if (array == nullptr) return cudaErrorInvalidValue;
  image = array->image;
  return set_format(image, array->format, normalized);
}

cudaError_t sampler_of(const cudaTextureDesc& d, bool normalized, Texture& texture) {
  emulate::Sampler& sampler = texture.sampler;
  for (std::size_t i = 0; i < 3; ++i) {
    if (d.addressMode[i] < cudaAddressModeWrap || d.addressMode[i] > cudaAddressModeBorder)
      return cudaErrorInvalidValue;
    sampler.address[i] = static_cast<AddressMode>(d.addressMode[i]);
  }
  sampler.linear = d.filterMode == cudaFilterModeLinear;
  sampler.linear_levels = d.mipmapFilterMode == cudaFilterModeLinear;
  sampler.normalized = d.normalizedCoords != 0;
  sampler.normalized_float = normalized || d.readMode == cudaReadModeNormalizedFloat;
  sampler.srgb = d.sRGB != 0;
  std::copy_n(d.borderColor, 4, sampler.border.begin());
  sampler.bias = d.mipmapLevelBias;
  sampler.least_level = d.minMipmapLevelClamp;
  sampler.greatest_level = d.maxMipmapLevelClamp;
  const Image& image = texture.image;
  const bool integers = image.kind != TexelKind::floating;
  if (!integers) sampler.normalized_float = false;
  if (sampler.normalized_float && image.bits == 32) return cudaErrorInvalidNormSetting;
  if (sampler.linear && integers && !sampler.normalized_float) return cudaErrorInvalidFilterSetting;
  return cudaSuccess;
}

}  // namespace

cudaError_t Arrays::make_texture(const DeviceMemory& memory, const TextureObject& object,
                                 std::uint64_t* handle) {
  Texture texture;
  bool normalized = false;
  if (const cudaError_t refused = image_of(*this, memory, object.resource, texture.image, normalized);
      refused != cudaSuccess) {
    return refused;
  }
  if (object.has_view) {
    if (const cudaError_t refused = apply_view(texture.image, object.view, normalized);
        refused != cudaSuccess)
      return refused;
  }
  if (const cudaError_t refused = sampler_of(object.texture, normalized, texture); refused != cudaSuccess)
    return refused;
  *handle = table_.add(std::move(texture));
  objects_[*handle] = object;
  ++changes_;
  return cudaSuccess;
}

cudaError_t Arrays::make_surface(const cudaResourceDesc& resource, std::uint64_t* handle) {
  if (resource.resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
  const Array* array = find(resource.res.array.array);
  if (array == nullptr || (array->flags & cudaArraySurfaceLoadStore) == 0) return cudaErrorInvalidValue;
  Texture texture;
  texture.image = array->image;
  texture.surface = true;
  *handle = table_.add(std::move(texture));
  TextureObject object;
  object.resource = resource;
  object.surface = true;
  objects_[*handle] = object;
  ++changes_;
  return cudaSuccess;
}

bool Arrays::remove(std::uint64_t handle, bool surface) {
  if (object(handle, surface) == nullptr) return false;
  objects_.erase(handle);
  ++changes_;
  return table_.remove(static_cast<std::uint32_t>(handle));
}

const TextureObject* Arrays::object(std::uint64_t handle, bool surface) const {
  const auto found = objects_.find(handle);
  return found == objects_.end() || found->second.surface != surface ? nullptr : &found->second;
}

}  // namespace foretrace::runtime
