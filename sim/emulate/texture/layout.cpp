#include <algorithm>
#include <bit>

#include "sim/emulate/texture/texture.h"

namespace foretrace::emulate {

namespace {

constexpr std::uint32_t kGobBytes = 64, kGobRows = 8, kMostGobs = 16;  // a row of a GOB; GOBs of a column

std::uint64_t up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

std::uint64_t Image::address_of(const ImageLevel& level, std::uint64_t byte, std::uint64_t row,
                                std::uint64_t slice) const {
  const std::uint64_t base = level.address + slice * (layered || cube ? layer_bytes : level.slice);
  if (level.block_rows == 0) return base + row * level.pitch + byte;
  const std::uint64_t column = std::uint64_t{level.block_rows} * kGobBytes;  // bytes of a column of GOBs
  const std::uint64_t in_gob =
      byte % 64 / 32 * 256 + row % kGobRows / 2 * 64 + byte % 32 / 16 * 32 + row % 2 * 16 + byte % 16;
  return base + row / level.block_rows * (level.pitch / kGobBytes) * column + byte / kGobBytes * column +
         row % level.block_rows / kGobRows * (kGobBytes * kGobRows) + in_gob;
}

std::uint64_t lay_out(Image& image, std::uint32_t width, std::uint32_t height, std::uint32_t depth,
                      std::uint32_t levels) {
  image.levels.clear();
  std::uint64_t at = 0;
  for (std::uint32_t l = 0; l < levels; ++l) {
    ImageLevel level;
    level.address = at;
    level.width = std::max(1u, width >> l);
    level.height = image.dimensions > 1 ? std::max(1u, height >> l) : 1;
    level.depth = image.dimensions > 2 ? std::max(1u, depth >> l) : 1;
    level.pitch = up(std::uint64_t{level.width} * image.texel_bytes(), kGobBytes);
    std::uint64_t rows = level.height;
    if (image.dimensions > 1) {
      const std::uint32_t gobs = (level.height + kGobRows - 1) / kGobRows;
      level.block_rows = kGobRows * std::min(kMostGobs, std::bit_ceil(gobs));
      rows = up(level.height, level.block_rows);
    }
    level.slice = up(level.pitch * rows, 512);
    at += level.slice * level.depth;
    image.levels.push_back(level);
  }
  image.layer_bytes = at;
  return at * image.layers;
}

}  // namespace foretrace::emulate
