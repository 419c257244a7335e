// A tile of a matrix product in a warp's registers: 16 rows, any number of columns, operands as bit patterns.
//
// Models:  accumulators as mma.sync and wgmma lay them out: thread t of a warp, register i holds row t/4 + 8*(i/2%2), column
//          8*(i/4) + 2*(t%4) + i%2; packed halves: register i rows t/4 + 8*(i%2), columns 8*(i/2) + 2*(t%4) and the next.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/emulate/execute/lanes/lane_table.h"
#include "sim/emulate/tensor/fused_sum.h"

namespace foretrace::emulate {

inline constexpr int kMostColumns = 256;
/// Columns that are taken apart together: what of B they need stays in a core's first cache.
inline constexpr int kColumnsAtOnce = 64;
inline constexpr int kMostDepth = 32;   ///< stored elements of A in a row
inline constexpr int kMostBDepth = 64;  ///< twice that, of a sparse product

/// Where column `n` stands in its block of 8 (product_tile.h).
inline int place_of_column(int n) { return (n & ~7) | (n % 2) * 4 | (n % 8) / 2; }
inline int column_of_place(int p) { return (p & ~7) | (p % 4) * 2 | (p % 8) / 4; }

/// Operands of a product. An instance is kept by whoever multiplies often (it is large).
struct ProductOperands {
  Element type_a = Element::f16, type_b = Element::f16;
  int depth = 0;    ///< stored elements of A in a row, a multiple of 8
  int depth_b = 0;  ///< elements of B in a column: depth, or more when sparse
  int columns = 0;  ///< a multiple of 8
  bool sparse = false;
  alignas(64) std::uint32_t a[kTileRows * kMostDepth];      ///< [row * depth + k]; tf32: the upper 19 bits
  alignas(64) std::uint32_t b[kMostBDepth * kMostColumns];  ///< [k * columns + place_of_column]
  std::uint8_t select[kTileRows * kMostDepth];              ///< sparse: [row * depth + k] is B's k
};

/// Which columns a row of a sparse A has, into `select`; types, depth and `sparse` are set. Four bits for each piece of K (4 elements, of
/// tf32 2). Elements of 16 and 32 bits: a register of lane 4g + h has four pieces of row g in its low and of row g + 8 in its high
/// half, the next four stand in lane h + 1; of 8 bits: lane 4g + h has eight pieces of row g, h + 1 of row g + 8, the next eight stand
/// in lane h + 2. The selector tells the first of the lanes where a row takes fewer than four. Asked of an H100, all of it.
void read_metadata(const std::uint32_t* meta, int selector, ProductOperands& operands);

/// d = a * b + c in floating point. c: null is zero. Registers are of 32 words; c and d may be the same, or must not overlap.
void multiply_floats(const LaneTable& lanes, const ProductOperands& operands, const SumRule& rule,
                     const std::uint32_t* c, std::uint32_t* d);
/// The same of elements of eight bits as integers, whose sum wraps, or is clamped where `saturates`.
void multiply_integers(const LaneTable& lanes, const ProductOperands& operands, bool saturates,
                       const std::uint32_t* c, std::uint32_t* d);

/// What a product of a warpgroup does beside multiplying, for one that is not computed. MicroOp::target: 1 where it ends a group.
void pass_product(Execution& x, const MicroOp& op, std::uint32_t mask);

}  // namespace foretrace::emulate
