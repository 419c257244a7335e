#include "sim/emulate/tensor/products.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/emulate/execute/number.h"

namespace foretrace::emulate {

namespace {

/// The parts of one operand's elements.
template <int kCount>
struct PartArrays {
  alignas(64) std::int32_t significand[kCount], exponent[kCount], sign[kCount];
  alignas(64) std::uint32_t special[kCount];
  alignas(64) float value[kCount];
  Parts parts() { return from(0); }
  Parts from(int at) { return {significand + at, exponent + at, sign + at, special + at, value + at}; }
};

std::int32_t integer_of(std::uint32_t byte, Element e) {
  return e == Element::s8 ? static_cast<std::int32_t>(static_cast<std::int8_t>(byte))
                          : static_cast<std::int32_t>(byte);
}

/// An accumulator as f32 bits.
std::uint32_t accumulator(const std::uint32_t* c, bool half, int row, int column) {
  if (c == nullptr) return 0;
  const int lane = row % 8 * 4 + column % 8 / 2;
  if (!half) return c[(column / 8 * 4 + row / 8 * 2 + column % 2) * 32 + lane];
  const std::uint32_t pair = c[(column / 8 * 2 + row / 8) * 32 + lane];
  return std::bit_cast<std::uint32_t>(half_to_float(static_cast<std::uint16_t>(pair >> (16 * (column % 2)))));
}
void put_accumulator(std::uint32_t* d, bool half, int row, int column, std::uint32_t bits) {
  const int lane = row % 8 * 4 + column % 8 / 2;
  if (!half) {
    d[(column / 8 * 4 + row / 8 * 2 + column % 2) * 32 + lane] = bits;
    return;
  }
  std::uint32_t& pair = d[(column / 8 * 2 + row / 8) * 32 + lane];
  const int shift = 16 * (column % 2);
  pair = (pair & ~(0xffffu << shift)) | (bits & 0xffff) << shift;
}

/// One element, exactly as fused_sum() says. `c` was read before its register was overwritten.
std::uint32_t element(const ProductOperands& o, const SumRule& rule, int row, int place, std::uint32_t c) {
  const FloatLayout la = layout_of(o.type_a), lb = layout_of(o.type_b);
  Term a[kMostDepth], b[kMostDepth];
  for (int k = 0; k < o.depth; ++k) {
    const int at = row * o.depth + k;
    a[k] = term(o.a[at], la);
    b[k] = term(o.b[(o.sparse ? o.select[at] : k) * o.columns + place], lb);
  }
  return fused_sum(a, b, o.depth, la.fraction + lb.fraction, c, rule);
}

/// Columns [first, first + count) of the product.
void multiply_block(const LaneTable& lanes, const ProductOperands& o, const SumRule& rule, ProductTile& tile,
                    int first, int count, const std::uint32_t* c, std::uint32_t* d) {
  static thread_local PartArrays<kMostBDepth * kColumnsAtOnce> parts;
  std::uint32_t special[kColumnsAtOnce] = {};
  std::uint8_t left[kTileRows * kColumnsAtOnce / 8];
  const FloatLayout layout = layout_of(o.type_b);
  const bool wide = tile.wide;
  // Rows of B that follow each other are taken apart together.
  const int at_once = count == o.columns ? o.depth_b : 1;
  for (int k = 0; k < o.depth_b; k += at_once) {
    const int at = k * count, elements = at_once * count;
    const PartsFound found =
        lanes.take_apart(layout, o.b + k * o.columns + first, elements, 0, parts.from(at));
    tile.wide |= found.wide;
    if (found.special)
      for (int i = 0; i < elements; ++i) special[i % count] |= parts.special[at + i];
  }
  const int registers = first / (rule.half ? 4 : 2);
  tile.columns = count;
  tile.b = parts.parts();
  tile.b_stride = count;
  tile.special_columns = special;
  tile.c = c == nullptr ? nullptr : c + registers * 32;
  tile.d = d + registers * 32;
  tile.left = left;
  lanes.multiply(tile);
  tile.wide = wide;
  for (int row = 0; row < kTileRows; ++row) {
    for (int block = 0; block < count / 8; ++block) {
      for (unsigned m = left[row * (count / 8) + block]; m != 0; m &= m - 1) {
        const int place = first + 8 * block + std::countr_zero(m), column = column_of_place(place);
        put_accumulator(d, rule.half, row, column,
                        element(o, rule, row, place, accumulator(c, rule.half, row, column)));
      }
    }
  }
}

}  // namespace

void read_metadata(const std::uint32_t* meta, int selector, ProductOperands& o) {
  const bool words = o.type_a == Element::tf32, bytes = bits_of(o.type_a) == 8;
  const int lanes = std::max(1, (words ? o.depth : o.depth / 2) / 4);
  for (int row = 0; row < kTileRows; ++row) {
    for (int k = 0; k < o.depth; ++k) {
      const int piece = words ? k : k / 2;
      const int lane = bytes ? row / 8 + 2 * (piece / 8) + 2 * selector : piece / 4 + lanes * selector;
      const int shift = bytes ? 4 * (piece % 8) : 16 * (row / 8) + 4 * (piece % 4);
      const std::uint32_t bits = meta[row % 8 * 4 + lane % 4] >> shift;
      const int column = words ? 2 * piece + static_cast<int>(bits >> 1 & 1)
                               : 4 * piece + static_cast<int>(bits >> (2 * (k % 2)) & 3);
      o.select[row * o.depth + k] = static_cast<std::uint8_t>(column);
    }
  }
}

void multiply_floats(const LaneTable& lanes, const ProductOperands& o, const SumRule& rule,
                     const std::uint32_t* c, std::uint32_t* d) {
  static thread_local PartArrays<kTileRows * kMostDepth> parts;
  const FloatLayout la = layout_of(o.type_a);
  const int fraction = la.fraction + layout_of(o.type_b).fraction;
  std::uint32_t special[kTileRows] = {};
  const PartsFound found =
      lanes.take_apart(la, o.a, kTileRows * o.depth, rule.kept - fraction, parts.parts());
  if (found.special)
    for (int i = 0; i < kTileRows * o.depth; ++i) special[i / o.depth] |= parts.special[i];
  ProductTile tile;
  tile.depth = o.depth;
  tile.kept = rule.kept;
  tile.result_bits = rule.result_bits;
  tile.half = rule.half;
  tile.wide = found.wide;
  tile.a = parts.parts();
  tile.a_stride = o.depth;
  tile.select = o.sparse ? o.select : nullptr;
  tile.special_rows = special;
  for (int first = 0; first < o.columns; first += kColumnsAtOnce)
    multiply_block(lanes, o, rule, tile, first, std::min(kColumnsAtOnce, o.columns - first), c, d);
}

void multiply_integers(const LaneTable& lanes, const ProductOperands& o, bool saturates,
                       const std::uint32_t* c, std::uint32_t* d) {
  static thread_local std::int32_t a[kTileRows * kMostDepth], b[kMostBDepth * kMostColumns];
  for (int i = 0; i < kTileRows * o.depth; ++i) a[i] = integer_of(o.a[i], o.type_a);
  for (int i = 0; i < o.depth_b * o.columns; ++i) b[i] = integer_of(o.b[i], o.type_b);
  lanes.multiply_integers({o.columns, o.depth, a, b, o.sparse ? o.select : nullptr, saturates, c, d});
}

}  // namespace foretrace::emulate
