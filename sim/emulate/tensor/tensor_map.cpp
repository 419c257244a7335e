#include "sim/emulate/tensor/tensor_map.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::emulate {

namespace {

struct TypeRow {
  const char* name;
  std::uint32_t bits, code;
  bool floating, tf32;
  bool padded = false;
};
/// By TensorType; `code` is the map's own number, which is not the driver interface's.
constexpr TypeRow kTypeRows[kTensorTypes] = {
    {"u8", 8, 0, false, false},
    {"u16", 16, 1, false, false},
    {"u32", 32, 2, false, false},
    {"s32", 32, 3, false, false},
    {"u64", 64, 4, false, false},
    {"s64", 64, 5, false, false},
    {"f16", 16, 6, true, false},
    {"f32", 32, 7, true, false},
    {"f64", 64, 9, true, false},
    {"bf16", 16, 10, true, false},
    {"f32_ftz", 32, 8, true, false},
    {"tf32", 32, 7, true, true},
    {"tf32_ftz", 32, 8, true, true},
    {"u4", 4, 13, false, false},
    {"u4_padded", 4, 14, false, false, true},
    {"u6_padded", 6, 15, false, false, true},
};
const TypeRow& row_of(TensorType type) { return kTypeRows[static_cast<int>(type)]; }

/// Fields of word 2: first bit and width.
struct Field {
  int first, width;
};
constexpr Field kIm2col{0, 1}, kRank{4, 3}, kType{7, 4}, kInterleave{11, 2}, kSwizzle{13, 2}, kNanFill{15, 1},
    kTf32{16, 1}, kPromotion{17, 2};
constexpr std::uint32_t kSwizzleWord[] = {0x10, 0x100, 0x200, 0x400};
constexpr std::uint32_t kSwizzleBytes[] = {0, 32, 64, 128};

constexpr std::uint64_t kAddressUnit = 16;
constexpr std::uint64_t kLargestStride = std::uint64_t{1} << 40, kLargestDim = std::uint64_t{1} << 32;
constexpr std::uint32_t kPaddedBox =
    128;  ///< elements of a padded box along dimension 0, and what a first coordinate is a multiple of
constexpr std::uint32_t kLargestBox = 256, kLargestElementStride = 8, kMostPixels = 1024;

std::uint32_t get(std::uint32_t word, const Field& f) { return word >> f.first & ((1u << f.width) - 1); }
std::uint32_t put(std::uint32_t value, const Field& f) { return (value & ((1u << f.width) - 1)) << f.first; }

/// Corners in each half of word 14.
struct Corners {
  int count, bits;
};
Corners corners_of(const TensorMap& map) {
  if (map.wide()) return {1, 16};
  return {map.rank - 2, map.rank == 3 ? 16 : map.rank == 4 ? 8 : 5};
}

/// Of our own: the word that tells the wide kinds apart.
constexpr std::size_t kWideWord = 31;
constexpr std::uint32_t kWideMark = 1, kWide128Mark = 2;

std::string tiled_problem(const TensorMap& map) {
  for (int d = 0; d < map.rank; ++d) {
    const std::uint32_t box = map.box[static_cast<std::size_t>(d)];
    if (box == 0 || box > kLargestBox)
      return fmt::format("box of {} in dimension {}; expected 1 to 256", box, d);
  }
  if (row_of(map.type).padded && map.box[0] != kPaddedBox)
    return fmt::format("box of {} padded elements in dimension 0; expected {}", map.box[0], kPaddedBox);
  const std::uint32_t inner = image_bytes(map.type, map.box[0]);
  if (map.interleave == 0 && inner % kAddressUnit != 0)
    return fmt::format("{} bytes of a box's inner row; expected a multiple of 16", inner);
  const std::uint32_t most = kSwizzleBytes[static_cast<int>(map.swizzle)];
  if (map.interleave == 0 && most != 0 && inner > most)
    return fmt::format("{} bytes of a box's inner row; at most {} with this swizzle", inner, most);
  return {};
}

/// What maps of one row of each image must be besides.
std::string wide_problem(const TensorMap& map) {
  if (map.swizzle != TensorSwizzle::bytes_64 && map.swizzle != TensorSwizzle::bytes_128)
    return "a swizzle that such a map does not have; expected 64 or 128 bytes";
  if (map.lower[0] >= static_cast<std::int64_t>(map.dims[1]) + map.upper[0])
    return fmt::format("a box of pixels from {} to before {}; expected one at least", map.lower[0],
                       static_cast<std::int64_t>(map.dims[1]) + map.upper[0]);
  return {};
}

std::string im2col_problem(const TensorMap& map) {
  if (map.rank < 3) return fmt::format("an im2col map of {} dimensions; expected 3 to 5", map.rank);
  if (map.channels == 0 || map.channels > kLargestBox)
    return fmt::format("{} channels per pixel; expected 1 to 256", map.channels);
  if (map.pixels == 0 || map.pixels > kMostPixels)
    return fmt::format("{} pixels per column; expected 1 to 1024", map.pixels);
  const Corners corners = corners_of(map);
  const std::int32_t most = 1 << (corners.bits - 1);
  for (int i = 0; i < corners.count; ++i) {
    for (const std::int32_t corner :
         {map.lower[static_cast<std::size_t>(i)], map.upper[static_cast<std::size_t>(i)]}) {
      if (corner < -most || corner >= most)
        return fmt::format("a corner of {}; expected {} to {} with {} dimensions", corner, -most, most - 1,
                           map.rank);
    }
  }
  const std::uint32_t inner = image_bytes(map.type, map.channels);
  if (map.interleave == 0 && inner % kAddressUnit != 0)
    return fmt::format("{} bytes of channels per pixel; expected a multiple of 16", inner);
  const std::uint32_t widest = kSwizzleBytes[static_cast<int>(map.swizzle)];
  if (map.interleave == 0 && widest != 0 && inner > widest)
    return fmt::format("{} bytes of channels per pixel; at most {} with this swizzle", inner, widest);
  return map.wide() ? wide_problem(map) : std::string();
}

/// Bytes of a box as the driver states them: with element strides rounded down, in dimension 0 too, while the copy itself rounds up.
std::uint32_t stated_bytes(const TensorMap& map) {
  if (map.im2col()) return static_cast<std::uint32_t>(map.box_bytes());
  std::uint64_t elements = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(map.rank); ++d)
    elements *= map.box[d] / map.element_strides[d];
  return static_cast<std::uint32_t>(tensor_bytes(map.type, elements));
}

}  // namespace

std::uint32_t element_bytes(TensorType type) { return row_of(type).bits / 8; }
std::uint32_t bytes_of_chunk(TensorType type) { return row_of(type).padded ? 2 * row_of(type).bits : 16; }
std::uint64_t tensor_bytes(TensorType type, std::uint64_t count) { return count * row_of(type).bits / 8; }
std::uint32_t image_bytes(TensorType type, std::uint32_t count) {
  return row_of(type).padded ? count : count * row_of(type).bits / 8;
}
bool is_floating(TensorType type) { return row_of(type).floating; }
const char* name_of(TensorType type) { return row_of(type).name; }
const char* name_of(BoxWalk walk) {
  constexpr const char* kNames[] = {"tiled", "im2col", "im2col::w", "im2col::w::128"};
  return kNames[static_cast<int>(walk)];
}

std::uint32_t TensorMap::count(int d) const {
  const auto i = static_cast<std::size_t>(d);
  if (im2col()) return d == 0 ? channels : d == 1 ? pixels : 1;
  // Dimension 0 has no element stride.
  const std::uint32_t stride = d == 0 ? 1 : element_strides[i];
  return (box[i] + stride - 1) / stride;
}

std::uint64_t TensorMap::box_bytes() const {
  std::uint64_t elements = 1;
  for (int d = 0; d < (im2col() ? 2 : rank); ++d) elements *= count(d);
  return tensor_bytes(type, elements);
}

std::string problem_of(const TensorMap& map) {
  if (static_cast<int>(map.type) >= kTensorTypes) return "an element type that is not known";
  if (map.rank < 1 || map.rank > kTensorRank) return fmt::format("{} dimensions; expected 1 to 5", map.rank);
  if (map.interleave > 2) return "an interleave that is not known";
  if (static_cast<int>(map.swizzle) > 3) return "a swizzle that is not known";
  if (map.l2_promotion > 3) return "an L2 promotion that is not known";
  if (map.interleave != 0 && map.rank < 3) return "an interleaved map of fewer than 3 dimensions";
  const bool padded = row_of(map.type).padded;
  const std::uint64_t unit = map.interleave == 2 || padded ? 2 * kAddressUnit : kAddressUnit;
  if (map.address % unit != 0)
    return fmt::format("address 0x{:x}; expected a multiple of {}", map.address, unit);
  for (int d = 0; d < map.rank; ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (map.dims[i] == 0 || map.dims[i] > kLargestDim)
      return fmt::format("size {} of dimension {}; expected 1 to 2^32", map.dims[i], d);
    if (d > 0 && (map.strides[i] % unit != 0 || map.strides[i] >= kLargestStride))
      return fmt::format("stride {} of dimension {}; expected a multiple of {} below 2^40", map.strides[i], d,
                         unit);
    if (map.element_strides[i] == 0 || map.element_strides[i] > kLargestElementStride)
      return fmt::format("element stride {} of dimension {}; expected 1 to 8", map.element_strides[i], d);
  }
  if (map.nan_fill && !is_floating(map.type)) return "a NaN fill of elements that are no floats";
  const std::uint32_t group = padded ? kPaddedBox : map.type == TensorType::u4 ? 2 : 1;
  if (map.dims[0] % group != 0)
    return fmt::format("size {} of dimension 0; expected a multiple of {} of such elements", map.dims[0],
                       group);
  return map.im2col() ? im2col_problem(map) : tiled_problem(map);
}

TensorMapBytes encode(const TensorMap& map) {
  FORETRACE_ASSERT(problem_of(map).empty(), "only a map that the driver would make is encoded");
  std::array<std::uint32_t, 32> w{};
  w[0] = static_cast<std::uint32_t>(map.address);
  w[1] = static_cast<std::uint32_t>(map.address >> 32);
  const TypeRow& type = row_of(map.type);
  w[2] = put(map.im2col(), kIm2col) | put(static_cast<std::uint32_t>(map.rank - 1), kRank) |
         put(type.code, kType) | put(map.interleave, kInterleave) |
         put(static_cast<std::uint32_t>(map.swizzle), kSwizzle) | put(map.nan_fill, kNanFill) |
         put(type.tf32, kTf32) | put(map.l2_promotion, kPromotion);
  for (int d = 0; d < map.rank; ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (d > 0) {
      w[2 + i] = static_cast<std::uint32_t>(map.strides[i] >> 4);
      w[7] |= static_cast<std::uint32_t>(map.strides[i] >> 36) << (4 * (i - 1));
    }
    w[8 + i] = static_cast<std::uint32_t>(map.dims[i] - 1);
    w[13] |= (map.element_strides[i] - 1) << (3 * i);
    if (!map.im2col() && d > 0) w[14] |= (map.box[i] - 1) << (8 * (i - 1));
  }
  w[13] |= ((map.im2col() ? map.channels : map.box[0]) - 1) << 24;
  if (map.im2col()) {
    const auto [corners, bits] = corners_of(map);
    for (int i = 0; i < corners; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::uint32_t mask = (1u << bits) - 1;
      w[14] |= (static_cast<std::uint32_t>(map.lower[at]) & mask) << (bits * i);
      w[14] |= (static_cast<std::uint32_t>(map.upper[at]) & mask) << (16 + bits * i);
    }
    w[15] = map.pixels - 1;
    if (map.wide()) w[kWideWord] = map.walk == BoxWalk::wide ? kWideMark : kWide128Mark;
  }
  w[16] = stated_bytes(map);
  w[18] = kSwizzleWord[static_cast<int>(map.swizzle)];
  TensorMapBytes bytes;
  std::memcpy(bytes.data(), w.data(), bytes.size());
  return bytes;
}

TensorMap decode_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes) {
  std::array<std::uint32_t, 32> w;
  std::memcpy(w.data(), bytes.data(), bytes.size());
  TensorMap map;
  map.address = w[0] | std::uint64_t{w[1]} << 32;
  if (get(w[2], kIm2col) != 0)
    map.walk = w[kWideWord] == kWideMark      ? BoxWalk::wide
               : w[kWideWord] == kWide128Mark ? BoxWalk::wide_128
                                              : BoxWalk::im2col;
  map.rank = static_cast<int>(std::min(get(w[2], kRank), 4u)) + 1;
  for (int t = 0; t < kTensorTypes; ++t) {
    if (kTypeRows[t].code == get(w[2], kType) && kTypeRows[t].tf32 == (get(w[2], kTf32) != 0))
      map.type = static_cast<TensorType>(t);
  }
  map.interleave = static_cast<std::uint8_t>(get(w[2], kInterleave));
  map.swizzle = static_cast<TensorSwizzle>(get(w[2], kSwizzle));
  map.nan_fill = get(w[2], kNanFill) != 0;
  map.l2_promotion = static_cast<std::uint8_t>(get(w[2], kPromotion));
  for (std::size_t i = 0; i < static_cast<std::size_t>(map.rank); ++i) {
    if (i > 0) map.strides[i] = (w[2 + i] | std::uint64_t{w[7] >> (4 * (i - 1)) & 15} << 32) << 4;
    map.dims[i] = std::uint64_t{w[8 + i]} + 1;
    map.element_strides[i] = (w[13] >> (3 * i) & 7) + 1;
    map.box[i] = i == 0 ? (w[13] >> 24) + 1 : (w[14] >> (8 * (i - 1)) & 0xff) + 1;
  }
  map.channels = (w[13] >> 24) + 1;
  if (!map.im2col()) return map;
  map.pixels = w[15] + 1;
  const Corners corners = corners_of(map);
  const auto corner = [&](int first) {
    return static_cast<std::int32_t>(w[14] << (32 - corners.bits - first)) >> (32 - corners.bits);
  };
  for (int i = 0; i < corners.count; ++i) {
    map.lower[static_cast<std::size_t>(i)] = corner(corners.bits * i);
    map.upper[static_cast<std::size_t>(i)] = corner(16 + corners.bits * i);
  }
  return map;
}

}  // namespace foretrace::emulate
