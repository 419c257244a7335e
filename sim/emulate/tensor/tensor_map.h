// The 128 bytes that describe a tensor in global memory to the copy engine of sm_90 and later, in the driver's layout.
//
// Models:  CUtensorMap as CUDA driver 580 encodes it (compared with 40 maps made on an H100) and as tensormap.replace edits it: tiled
//          and im2col maps of 1 to 5 dimensions.
//          Of sm_100 and later: elements of 4 and 6 bits, packed 16 at a time in the tensor, which in shared memory stand packed as well
//          or each 16 in 16 bytes of their own (PTX ISA, .b4x16, .b4x16_p64, .b6x16_p32; their codes in the map are assumed).
//          im2col along W alone (cuTensorMapEncodeIm2colWide): nothing public says how the driver lays these out, so they have a layout of
//          our own, which was not asked of a device: an im2col map of three dimensions' corners, and word 31 says which kind.
// Ignores: swizzles with larger atoms: refused, as on an H100.
// Units:   bytes for address and strides, elements for all else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace foretrace::emulate {

inline constexpr int kTensorRank = 5;  ///< dimensions at most
inline constexpr std::size_t kTensorMapBytes = 128;
inline constexpr std::uint32_t kTensorMapAlignment = 64;

/// In the order of CUtensorMapDataType.
enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  u4,         ///< two per byte
  u4_padded,  ///< 16 in 8 bytes of the tensor, 16 of shared memory
  u6_padded   ///< 16 in 12 and 16
};
inline constexpr int kTensorTypes = 16;
inline constexpr int kByteTensorTypes = 13;    ///< those of whole bytes, which sm_90 knows
std::uint32_t element_bytes(TensorType type);  ///< of those
/// Bytes of the tensor that 16 bytes of its image in shared memory hold.
std::uint32_t bytes_of_chunk(TensorType type);
/// Bytes of `count` elements in the tensor, and of their image.
std::uint64_t tensor_bytes(TensorType type, std::uint64_t count);
std::uint32_t image_bytes(TensorType type, std::uint32_t count);
bool is_floating(TensorType type);
/// "f16"; as in launch files.
const char* name_of(TensorType type);

/// How a map's boxes are walked: tiles; pixels of an image between two corners; pixels of one row of each image (sm_100), as many as the
/// map says or always 128.
enum class BoxWalk : std::uint8_t { tiled, im2col, wide, wide_128 };
inline constexpr std::uint32_t kWide128Pixels = 128;
/// "tiled", "im2col", ..
const char* name_of(BoxWalk walk);

/// In the order of CUtensorMapSwizzle.
enum class TensorSwizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

struct TensorMap {
  std::uint64_t address = 0;
  TensorType type = TensorType::u8;
  int rank = 1;
  std::array<std::uint64_t, kTensorRank> dims{1, 1, 1, 1, 1};  ///< innermost first; at most 2^32
  std::array<std::uint64_t, kTensorRank> strides{};            ///< of dimension 1 and on; [0] is not used
  std::array<std::uint32_t, kTensorRank> box{1, 1, 1, 1, 1};   ///< tiled
  std::array<std::uint32_t, kTensorRank> element_strides{1, 1, 1, 1, 1};
  std::uint8_t interleave = 0;  ///< 0 none, 1 16 bytes, 2 32 bytes
  TensorSwizzle swizzle = TensorSwizzle::none;
  std::uint8_t l2_promotion = 0;  ///< 0 none, 1 64, 2 128, 3 256 bytes
  bool nan_fill = false;
  BoxWalk walk = BoxWalk::tiled;  ///< if not tiled, `channels` and `pixels` are the box
  std::array<std::int32_t, 3> lower{},
      upper{};  ///< corners of the pixel box, of dimension 1 and on; wide: of dimension 1
  std::uint32_t channels = 1, pixels = 1;

  bool im2col() const { return walk != BoxWalk::tiled; }
  bool wide() const { return walk == BoxWalk::wide || walk == BoxWalk::wide_128; }
  /// Elements of the box along dimension `d`, element strides counted.
  std::uint32_t count(int d) const;
  /// Bytes of a whole box, without padding.
  std::uint64_t box_bytes() const;
};

/// Why the driver would not encode this map (CUDA_ERROR_INVALID_VALUE); "": it would.
std::string problem_of(const TensorMap& map);

using TensorMapBytes = std::array<std::byte, kTensorMapBytes>;
/// A map without a problem.
TensorMapBytes encode(const TensorMap& map);

/// The map in 128 bytes. Fields that say the same twice are read once: the box's bytes come from the box, the swizzle from its code.
TensorMap decode_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes);

}  // namespace foretrace::emulate
