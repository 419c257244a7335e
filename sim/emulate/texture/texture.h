// Images in global memory, how they are looked at, and the table of handles that kernels name them by.
//
// Models:  texels of 1, 2 or 4 components of 8, 16 or 32 bits; rows in memory of the program's (linear, pitched), or arrays in the order
//          of a GPU: pieces of 64 bytes x 8 rows (GOB), 16 bytes x 2 rows of which are a sector, in columns of up to 16 pieces.
// Ignores: depth blocks (slices of a volume lie behind each other), compressed formats, sparse and planar images, anisotropy.
// Source:  the order inside a GOB: NVIDIA, Tegra X1 Technical Reference Manual, "Block Linear Memory Format", and Mesa's NIL. Handles:
//          an H100 numbers objects from 1 on and uses the low word.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace foretrace::emulate {

enum class TexelKind : std::uint8_t { signed_integer, unsigned_integer, floating };

/// One mip level.
struct ImageLevel {
  std::uint64_t address = 0;
  std::uint32_t width = 1, height = 1, depth = 1;  ///< texels; a dimension that the image has not is 1
  std::uint64_t pitch = 0;                         ///< bytes from row to row, in arrays a multiple of 64
  std::uint32_t block_rows = 0;                    ///< rows of a column of GOBs; 0: plain rows
  std::uint64_t slice = 0;                         ///< bytes from slice to slice of a volume
};

struct Image {
  TexelKind kind = TexelKind::unsigned_integer;
  std::uint8_t components = 1;  ///< 1, 2, 4
  std::uint8_t bits = 8;        ///< a component: 8, 16, 32
  std::uint8_t dimensions = 1;  ///< of one layer
  bool layered = false, cube = false;
  bool buffer = false;             ///< linear memory: looked up by number alone, zero outside
  std::uint32_t layers = 1;        ///< those of a cube are its six faces
  std::uint64_t layer_bytes = 0;   ///< from layer to layer, all levels of it
  std::vector<ImageLevel> levels;  ///< at least one

  std::uint32_t texel_bytes() const { return std::uint32_t{components} * bits / 8; }
  /// Address of the byte `byte` of row `row`; `slice` counts a volume's slices or the layers.
  std::uint64_t address_of(const ImageLevel& level, std::uint64_t byte, std::uint64_t row,
                           std::uint64_t slice) const;
};

/// What an array takes in memory: fills levels (addresses from 0 on) and layer_bytes of an image whose other members are set; returns
/// the bytes of all of it.
std::uint64_t lay_out(Image& image, std::uint32_t width, std::uint32_t height, std::uint32_t depth,
                      std::uint32_t levels);

enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };

struct Sampler {
  std::array<AddressMode, 3> address{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  bool linear = false, linear_levels = false;
  bool normalized = false;        ///< coordinates from 0 to 1
  bool normalized_float = false;  ///< integers are read as floats from 0 or -1 to 1
  bool srgb = false;
  std::array<float, 4> border{};
  float bias = 0, least_level = 0, greatest_level = 0;
};

struct Texture {
  Image image;
  Sampler sampler;
  bool surface = false;
};

class TextureTable {
 public:
  /// Null: no object has that handle.
  const Texture* find(std::uint32_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : &found->second;
  }
  std::uint32_t add(Texture texture) {
    objects_.emplace(next_, std::move(texture));
    return next_++;
  }
  bool remove(std::uint32_t handle) { return objects_.erase(handle) != 0; }

 private:
  std::uint32_t next_ = 1;
  std::map<std::uint32_t, Texture> objects_;
};

}  // namespace foretrace::emulate
