// Arrays, mipmapped arrays and the objects by which kernels look at them.
//
// Models:  arrays of one to three dimensions, with layers and cube faces, and their levels; they take device memory in the order of
//          emulate::Image. Textures on arrays, linear and pitched memory; surfaces on arrays. Handles are numbers from 1 on.
// Ignores: compressed, planar and sparse arrays; anisotropy.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include "sim/emulate/texture/texture.h"
#include "sim/runtime/device/memory.h"

namespace foretrace::runtime {

/// What a cudaArray_t points to: an array, or one level of a mipmapped one.
struct Array {
  emulate::Image image;  ///< its addresses are the memory's; one level
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  ///< as the program gave it: texels; 0 in dimensions that it has not
  unsigned flags = 0;
  std::uint64_t bytes = 0;

  /// Dimensions as copies count them: rows of a one-dimensional array are 1, slices are layers where it has layers.
  std::size_t rows() const { return image.levels.front().height; }
  std::size_t slices() const {
    return image.layered || image.cube ? image.layers : image.levels.front().depth;
  }
  std::size_t row_bytes() const { return std::size_t{image.levels.front().width} * image.texel_bytes(); }
};

/// What a cudaMipmappedArray_t points to.
struct MipmappedArray {
  Array whole;  ///< with all levels
  std::vector<std::unique_ptr<Array>> levels;
};

/// A texture or surface as it was made.
struct TextureObject {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  cudaResourceViewDesc view{};
  bool has_view = false, surface = false;
};

class Arrays {
 public:
  /// `levels` 1 and `mipmapped` null: an array; else a mipmapped one. cudaErrorInvalidValue, cudaErrorInvalidChannelDescriptor or
  /// cudaErrorMemoryAllocation.
  cudaError_t make(DeviceMemory& memory, const cudaChannelFormatDesc& format, const cudaExtent& extent,
                   unsigned flags, cudaArray_t* array);
  cudaError_t make(DeviceMemory& memory, const cudaChannelFormatDesc& format, const cudaExtent& extent,
                   unsigned flags, unsigned levels, cudaMipmappedArray_t* mipmapped);
  cudaError_t release(DeviceMemory& memory, cudaArray_t array);
  cudaError_t release(DeviceMemory& memory, cudaMipmappedArray_t mipmapped);
  /// Null: there is no such array.
  Array* find(cudaArray_const_t array) const;
  MipmappedArray* find(cudaMipmappedArray_const_t mipmapped) const;
  /// All of them are gone: their memory has been released.
  void forget_all();

  cudaError_t make_texture(const DeviceMemory& memory, const TextureObject& object, std::uint64_t* handle);
  cudaError_t make_surface(const cudaResourceDesc& resource, std::uint64_t* handle);
  bool remove(std::uint64_t handle, bool surface);
  /// Null: no texture (surface) has the handle.
  const TextureObject* object(std::uint64_t handle, bool surface) const;
  const emulate::TextureTable& table() const { return table_; }
  /// Another number whenever an object was made or removed.
  std::uint64_t changes() const { return changes_; }

 private:
  std::map<const void*, std::unique_ptr<Array>> arrays_;
  std::map<const void*, std::unique_ptr<MipmappedArray>> mipmapped_;
  std::map<std::uint64_t, TextureObject> objects_;
  emulate::TextureTable table_;
  std::uint64_t changes_ = 0;
};

/// cudaErrorInvalidChannelDescriptor: no texels of that kind. Sets kind, components and bits; `normalized`: integers that are always read
/// as floats.
cudaError_t set_format(emulate::Image& image, const cudaChannelFormatDesc& format, bool& normalized);

}  // namespace foretrace::runtime
