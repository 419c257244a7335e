#include "sim/runtime/device/array.h"

#include <algorithm>
#include <bit>

namespace foretrace::runtime {

namespace {

/// Components of equal size, without gaps: 1, 2 or 4 of them. 0: not so.
int components_of(const cudaChannelFormatDesc& f) {
  const int bits[] = {f.x, f.y, f.z, f.w};
  int count = 0;
  while (count < 4 && bits[count] != 0) ++count;
  for (int i = 0; i < 4; ++i) {
    if (bits[i] != (i < count ? f.x : 0)) return 0;
  }
  return count == 3 ? 0 : count;
}

/// The levels of an image and where they are, one by one.
std::uint64_t place(emulate::Image& image, const cudaExtent& extent, unsigned levels) {
  return emulate::lay_out(image, static_cast<std::uint32_t>(extent.width),
                          static_cast<std::uint32_t>(std::max<std::size_t>(extent.height, 1)),
                          static_cast<std::uint32_t>(std::max<std::size_t>(extent.depth, 1)), levels);
}

cudaError_t shape(emulate::Image& image, const cudaExtent& extent, unsigned flags) {
  // The largest sizes of all dimensions since compute capability 7.0: CUDA C++ Programming Guide, "Technical Specifications".
  constexpr std::size_t kMostWidth = 131072, kMostRows = 65536, kMostSlices = 16384, kMostLayers = 2048;
  image.layered = (flags & cudaArrayLayered) != 0;
  image.cube = (flags & cudaArrayCubemap) != 0;
  if (extent.width == 0 || extent.width > kMostWidth || extent.height > kMostRows)
    return cudaErrorInvalidValue;
  if (image.cube && (extent.width != extent.height || extent.depth == 0 || extent.depth % 6 != 0 ||
                     (!image.layered && extent.depth != 6))) {
    return cudaErrorInvalidValue;
  }
  if (image.layered || image.cube) {
    if (extent.depth == 0 || extent.depth > kMostLayers) return cudaErrorInvalidValue;
    image.layers = static_cast<std::uint32_t>(extent.depth);
    image.dimensions = extent.height == 0 ? 1 : 2;
    return cudaSuccess;
  }
  if ((extent.depth != 0 && extent.height == 0) || extent.depth > kMostSlices) return cudaErrorInvalidValue;
  image.dimensions = extent.depth != 0 ? 3 : extent.height != 0 ? 2 : 1;
  return cudaSuccess;
}

cudaError_t build(DeviceMemory& memory, const cudaChannelFormatDesc& format, const cudaExtent& extent,
                  unsigned flags, unsigned levels, Array& array) {
  bool normalized = false;
  if (const cudaError_t refused = set_format(array.image, format, normalized); refused != cudaSuccess)
    return refused;
  constexpr unsigned kKnown = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                              cudaArrayTextureGather | cudaArrayColorAttachment;
  if ((flags & ~kKnown) != 0) return cudaErrorNotSupported;
  if (const cudaError_t refused = shape(array.image, extent, flags); refused != cudaSuccess) return refused;
  array.format = format;
  array.extent = extent;
  array.flags = flags;
  array.bytes = place(array.image, extent, levels);
  void* const at = memory.allocate(array.bytes, MemoryKind::device);
  if (at == nullptr) return cudaErrorMemoryAllocation;
  for (emulate::ImageLevel& level : array.image.levels) level.address += reinterpret_cast<std::uint64_t>(at);
  return cudaSuccess;
}

void release_memory(DeviceMemory& memory, const Array& array) {
  memory.release(reinterpret_cast<void*>(array.image.levels.front().address), MemoryKind::device);
}

}  // namespace

cudaError_t set_format(emulate::Image& image, const cudaChannelFormatDesc& format, bool& normalized) {
  using emulate::TexelKind;
  const int components = components_of(format);
  if (components == 0 || (format.x != 8 && format.x != 16 && format.x != 32))
    return cudaErrorInvalidChannelDescriptor;
  image.components = static_cast<std::uint8_t>(components);
  image.bits = static_cast<std::uint8_t>(format.x);
  normalized = false;
  const int kind = format.f;
  if (kind == cudaChannelFormatKindFloat) {
    image.kind = TexelKind::floating;
    return format.x == 8 ? cudaErrorInvalidChannelDescriptor : cudaSuccess;
  }
  normalized =
      kind >= cudaChannelFormatKindUnsignedNormalized8X1 && kind <= cudaChannelFormatKindSignedNormalized16X4;
  if (kind == cudaChannelFormatKindUnsigned ||
      (normalized && kind <= cudaChannelFormatKindUnsignedNormalized16X4)) {
    image.kind = TexelKind::unsigned_integer;
  } else if (kind == cudaChannelFormatKindSigned || normalized) {
    image.kind = TexelKind::signed_integer;
  } else {
    return cudaErrorNotSupported;
  }
  return cudaSuccess;
}

cudaError_t Arrays::make(DeviceMemory& memory, const cudaChannelFormatDesc& format, const cudaExtent& extent,
                         unsigned flags, cudaArray_t* array) {
  auto made = std::make_unique<Array>();
  if (const cudaError_t refused = build(memory, format, extent, flags, 1, *made); refused != cudaSuccess)
    return refused;
  *array = reinterpret_cast<cudaArray_t>(made.get());
  arrays_[made.get()] = std::move(made);
  return cudaSuccess;
}

cudaError_t Arrays::make(DeviceMemory& memory, const cudaChannelFormatDesc& format, const cudaExtent& extent,
                         unsigned flags, unsigned levels, cudaMipmappedArray_t* mipmapped) {
  const std::size_t layers = flags & (cudaArrayLayered | cudaArrayCubemap) ? 1 : extent.depth;
  const std::size_t longest = std::max({extent.width, extent.height, layers});
  const auto most = static_cast<unsigned>(std::bit_width(longest));
  levels = std::clamp(levels, 1u, std::max(1u, most));
  auto made = std::make_unique<MipmappedArray>();
  Array& whole = made->whole;
  if (const cudaError_t refused = build(memory, format, extent, flags, levels, whole); refused != cudaSuccess)
    return refused;
  for (const emulate::ImageLevel& level : whole.image.levels) {
    auto one = std::make_unique<Array>(whole);
    one->image.levels = {level};
    one->extent = {level.width, extent.height == 0 ? 0 : std::size_t{level.height},
                   whole.image.layered || whole.image.cube ? extent.depth
                   : extent.depth == 0                     ? 0
                                                           : std::size_t{level.depth}};
    arrays_[one.get()] = nullptr;  // it belongs to the mipmapped array
    made->levels.push_back(std::move(one));
  }
  *mipmapped = reinterpret_cast<cudaMipmappedArray_t>(made.get());
  mipmapped_[made.get()] = std::move(made);
  return cudaSuccess;
}

cudaError_t Arrays::release(DeviceMemory& memory, cudaArray_t array) {
  const auto found = arrays_.find(array);
  if (found == arrays_.end() || found->second == nullptr) return cudaErrorInvalidValue;
  release_memory(memory, *found->second);
  arrays_.erase(found);
  return cudaSuccess;
}

cudaError_t Arrays::release(DeviceMemory& memory, cudaMipmappedArray_t mipmapped) {
  const auto found = mipmapped_.find(mipmapped);
  if (found == mipmapped_.end()) return cudaErrorInvalidValue;
  release_memory(memory, found->second->whole);
  for (const auto& level : found->second->levels) arrays_.erase(level.get());
  mipmapped_.erase(found);
  return cudaSuccess;
}

Array* Arrays::find(cudaArray_const_t array) const {
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) return nullptr;
  return const_cast<Array*>(static_cast<const Array*>(found->first));
}

MipmappedArray* Arrays::find(cudaMipmappedArray_const_t mipmapped) const {
  const auto found = mipmapped_.find(mipmapped);
  return found == mipmapped_.end() ? nullptr : found->second.get();
}

void Arrays::forget_all() {
  arrays_.clear();
  mipmapped_.clear();
  objects_.clear();
  table_ = {};
}

}  // namespace foretrace::runtime
