// Which bytes of a tensor a box is: rows of it, and where they stand in global and shared memory.
//
// Models:  tiled boxes of 1 to 5 dimensions with element strides, im2col columns of pixels, coordinates outside the tensor, the
//          swizzle of shared memory. Source: 32 tile loads, 5 im2col loads and 6 reductions, byte for byte on an H100; element strides
//          as the PTX ISA has them. Four rows of a matrix (tile::gather4, tile::scatter4) and rows of images with a halo (im2col::w,
//          im2col::w::128) as the PTX ISA has them, not asked of a device.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/emulate/tensor/tensor_map.h"

namespace foretrace::emulate {

/// A row of the box, in bytes of its image: `before` bytes outside the tensor, `bytes` in it, `after` outside again.
struct TensorRow {
  std::uint32_t image = 0;  ///< byte offset in the box's dense image in shared memory, before the swizzle
  std::uint32_t before = 0, bytes = 0, after = 0;
  std::uint64_t global = 0;  ///< address of the bytes in the tensor; 0: none
};

using TensorCoordinates = std::array<std::int32_t, kTensorRank>;

/// In ascending order of `image`. `offsets`: im2col's, of dimension 1 and on.
void rows_of(const TensorMap& map, const TensorCoordinates& coordinates,
             const std::array<std::uint32_t, 3>& offsets, std::vector<TensorRow>& rows);

/// Pixels of one row of each image, and behind all of them, or behind each 32 of 128, as many more of the same row as the halo has.
struct WideOffsets {
  std::uint32_t halo = 0, offset = 0;
};
/// An instruction's, from its register.
WideOffsets wide_offsets(std::uint32_t packed);
/// "": done; or why it was not: the PTX ISA says in a figure alone what a halo is that goes beyond the box of pixels.
std::string wide_rows_of(const TensorMap& map, const TensorCoordinates& coordinates,
                         const WideOffsets& offsets, std::vector<TensorRow>& rows);

/// Four rows of a matrix, each as long as the map's box from `column` on; they stand one behind the other.
inline constexpr std::size_t kScatteredRows = 4;
void scattered_rows_of(const TensorMap& map, std::int32_t column,
                       const std::array<std::int32_t, kScatteredRows>& numbers, std::vector<TensorRow>& rows);

/// An instruction's im2col offsets: 16 bits, one, two or three numbers by the map's dimensions.
std::array<std::uint32_t, 3> im2col_offsets(std::uint32_t packed, int rank);

/// Where 16 bytes at a shared-memory address stand.
std::uint32_t swizzled(TensorSwizzle swizzle, std::uint32_t address);

}  // namespace foretrace::emulate
