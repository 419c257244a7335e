#include "sim/emulate/tensor/tensor_copy.h"

#include <algorithm>

namespace foretrace::emulate {

namespace {

/// Row `index` of the image, whose elements along dimension 0 start at coordinate `first`; `base` is the address of coordinate 0 there.
TensorRow row_at(const TensorMap& map, std::uint32_t index, std::int64_t first, std::uint64_t base,
                 bool inside) {
  const std::uint32_t count = map.count(0);
  const auto image = [&](std::int64_t elements) {
    return image_bytes(map.type, static_cast<std::uint32_t>(elements));
  };
  TensorRow row;
  row.image = index * image(count);
  if (!inside) {
    row.before = image(count);
    return row;
  }
  const std::int64_t n = count;
  const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, n);
  const std::int64_t end = std::clamp<std::int64_t>(static_cast<std::int64_t>(map.dims[0]) - first, begin, n);
  row.before = image(begin);
  row.bytes = image(end - begin);
  row.after = image(n - end);
  if (row.bytes != 0) row.global = base + tensor_bytes(map.type, static_cast<std::uint64_t>(first + begin));
  return row;
}

bool inside(const TensorMap& map, std::size_t d, std::int64_t coordinate) {
  return coordinate >= 0 && coordinate < static_cast<std::int64_t>(map.dims[d]);
}

void tiled_rows(const TensorMap& map, const TensorCoordinates& c, std::vector<TensorRow>& rows) {
  std::array<std::uint32_t, kTensorRank> count{1, 1, 1, 1, 1}, i{};
  for (int d = 1; d < map.rank; ++d) count[static_cast<std::size_t>(d)] = map.count(d);
  const std::uint32_t all = count[1] * count[2] * count[3] * count[4];
  for (std::uint32_t index = 0; index < all; ++index) {
    std::uint64_t base = map.address;
    bool in = true;
    for (std::size_t d = 1; d < static_cast<std::size_t>(map.rank); ++d) {
      const std::int64_t at = std::int64_t{c[d]} + std::int64_t{i[d]} * map.element_strides[d];
      in = in && inside(map, d, at);
      base += static_cast<std::uint64_t>(at) * map.strides[d];
    }
    rows.push_back(row_at(map, index, c[0], base, in));
    for (std::size_t d = 1; d < kTensorRank && ++i[d] == count[d]; ++d) i[d] = 0;
  }
}

/// Pixels of the box between the corners, W first; then the next image.
void im2col_rows(const TensorMap& map, const TensorCoordinates& c,
                 const std::array<std::uint32_t, 3>& offsets, std::vector<TensorRow>& rows) {
  const auto last = static_cast<std::size_t>(map.rank) - 1;
  TensorCoordinates current = c;
  for (std::uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    bool in = inside(map, last, current[last]);
    std::uint64_t base =
        map.address + static_cast<std::uint64_t>(std::int64_t{current[last]}) * map.strides[last];
    for (std::size_t d = 1; d < last; ++d) {
      const std::int64_t at = std::int64_t{current[d]} + offsets[d - 1];
      in = in && inside(map, d, at);
      base += static_cast<std::uint64_t>(at) * map.strides[d];
    }
    rows.push_back(row_at(map, pixel, c[0], base, in));
    for (std::size_t d = 1; d <= last; ++d) {
      current[d] += d == last ? 1 : static_cast<std::int32_t>(map.element_strides[d]);
      if (d == last || current[d] < static_cast<std::int64_t>(map.dims[d]) + map.upper[d - 1]) break;
      current[d] = map.lower[d - 1];
    }
  }
}

}  // namespace

void rows_of(const TensorMap& map, const TensorCoordinates& coordinates,
             const std::array<std::uint32_t, 3>& offsets, std::vector<TensorRow>& rows) {
  rows.clear();
  if (map.im2col()) {
    im2col_rows(map, coordinates, offsets, rows);
  } else {
    tiled_rows(map, coordinates, rows);
  }
}

WideOffsets wide_offsets(std::uint32_t packed) {
  constexpr int kOffsetBit = 11, kOffsetEnd = 16;
  return {packed & ((1u << kOffsetBit) - 1), (packed & ((1u << kOffsetEnd) - 1)) >> kOffsetBit};
}

std::string wide_rows_of(const TensorMap& map, const TensorCoordinates& c, const WideOffsets& offsets,
                         std::vector<TensorRow>& rows) {
  rows.clear();
  constexpr std::uint32_t kGroup = 32;
  const auto last = static_cast<std::size_t>(map.rank) - 1;
  const std::uint32_t pixels = map.walk == BoxWalk::wide_128 ? kWide128Pixels : map.pixels;
  const std::uint32_t group = map.walk == BoxWalk::wide_128 ? kGroup : pixels;
  const std::int64_t end = static_cast<std::int64_t>(map.dims[1]) + map.upper[0];
  std::int64_t w = c[1], image = c[last];
  const auto add = [&](std::int64_t x) {
    const std::int64_t column = x + offsets.offset;
    bool in = inside(map, 1, column) && inside(map, last, image);
    std::uint64_t base = map.address + static_cast<std::uint64_t>(column) * map.strides[1] +
                         static_cast<std::uint64_t>(image) * map.strides[last];
    for (std::size_t d = 2; d < last; ++d) {
      in = in && inside(map, d, c[d]);
      base += static_cast<std::uint64_t>(std::int64_t{c[d]}) * map.strides[d];
    }
    rows.push_back(row_at(map, static_cast<std::uint32_t>(rows.size()), c[0], base, in));
  };
  for (std::uint32_t pixel = 1; pixel <= pixels; ++pixel) {
    add(w);
    w += map.element_strides[1];
    for (std::uint32_t i = 0; pixel % group == 0 && i < offsets.halo; ++i) {
      const std::int64_t beside = w + std::int64_t{i} * map.element_strides[1];
      if (beside >= end)
        return "a halo beyond the box of pixels, of which the PTX ISA shows in a figure alone what it holds";
      add(beside);
    }
    if (w < end) continue;
    w = map.lower[0];
    ++image;
  }
  return {};
}

void scattered_rows_of(const TensorMap& map, std::int32_t column,
                       const std::array<std::int32_t, kScatteredRows>& numbers,
                       std::vector<TensorRow>& rows) {
  rows.clear();
  for (std::uint32_t i = 0; i < kScatteredRows; ++i) {
    const std::int64_t number = numbers[i];
    rows.push_back(row_at(map, i, column, map.address + static_cast<std::uint64_t>(number) * map.strides[1],
                          inside(map, 1, number)));
  }
}

std::array<std::uint32_t, 3> im2col_offsets(std::uint32_t packed, int rank) {
  const int bits = rank == 3 ? 16 : rank == 4 ? 8 : 5;
  std::array<std::uint32_t, 3> offsets{};
  for (int i = 0; i < rank - 2; ++i)
    offsets[static_cast<std::size_t>(i)] = (packed & 0xffff) >> (bits * i) & ((1u << bits) - 1);
  return offsets;
}

std::uint32_t swizzled(TensorSwizzle swizzle, std::uint32_t address) {
  constexpr std::uint32_t kMask[] = {0, 1, 3, 7};
  return address ^ (address >> 7 & kMask[static_cast<int>(swizzle)]) << 4;
}

}  // namespace foretrace::emulate
