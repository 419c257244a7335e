// Matrices between shared memory and fragments: LDSM (ldmatrix) and STSM (stmatrix).
//
// Models:  tiles of 8 x 8 halves; of sm_120 tiles of 8 or 16 rows of 16 bytes, which hold 16 elements of 8, 6 or 4 bits: the narrow ones
//          stand packed from the row's first byte on and become bytes. Lanes 8 i to 8 i + 7 (of tiles of 16 rows 16 i to 16 i + 15)
//          give the rows of tile i.
// Source:  PTX ISA, ldmatrix and stmatrix; of transposed bytes which lane gets what as public kernels for sm_120 use them, not asked of
//          a device.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/translate/address_form.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

namespace {

/// index2 of a tile of bytes: bits of an element in memory.
constexpr int kRowBytes = 16;
using Row = std::array<std::uint8_t, kRowBytes>;

/// ldmatrix: lanes 8 i .. 8 i + 7 give the rows of tile i; a lane receives two halves of each.
void load_matrix(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint32_t tiles = op.flags >> kMatricesShift & 7;
  std::uint32_t* d = x.result(op);
  std::uint16_t rows[4][8][8] = {};
  for (std::uint32_t t = 0; t < tiles; ++t) {
    for (std::uint32_t r = 0; r < 8; ++r) {
      const std::uint32_t l = t * 8 + r;
      if ((mask >> l & 1) == 0) continue;
      std::memcpy(rows[t][r], x.memory.shared_at(x.addresses[0][l], 16, static_cast<int>(l)), 16);
    }
  }
  const bool transposed = (op.flags & kTransposed) != 0;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<std::uint32_t>(std::countr_zero(m));
    const std::uint32_t row = l / 4, col = l % 4 * 2;
    for (std::uint32_t t = 0; t < tiles; ++t) {
      const std::uint32_t low = transposed ? rows[t][col][row] : rows[t][row][col];
      const std::uint32_t high = transposed ? rows[t][col + 1][row] : rows[t][row][col + 1];
      d[l + 32 * t] = low | high << 16;
    }
  }
}

/// stmatrix: the opposite of ldmatrix.
void store_matrix(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint32_t tiles = op.flags >> kMatricesShift & 7;
  const std::uint32_t* s = x.words(op.c);
  const bool transposed = (op.flags & kTransposed) != 0;
  for (std::uint32_t t = 0; t < tiles; ++t) {
    std::uint16_t rows[8][8];
    for (std::uint32_t l = 0; l < 32; ++l) {
      const std::uint32_t row = l / 4, col = l % 4 * 2, v = s[l + 32 * t];
      (transposed ? rows[col][row] : rows[row][col]) = static_cast<std::uint16_t>(v);
      (transposed ? rows[col + 1][row] : rows[row][col + 1]) = static_cast<std::uint16_t>(v >> 16);
    }
    for (std::uint32_t r = 0; r < 8; ++r) {
      const std::uint32_t l = t * 8 + r;
      if ((mask >> l & 1) == 0) continue;
      std::memcpy(x.memory.shared_at(x.addresses[0][l], 16, static_cast<int>(l)), rows[r], 16);
    }
  }
}

/// Lanes' rows of bytes, elements unpacked.
std::array<Row, 32> byte_rows(Execution& x, const MicroOp& op, std::uint32_t rows, std::uint32_t mask) {
  std::array<Row, 32> out{};
  const std::uint32_t bits = op.index2;
  for (std::uint32_t l = 0; l < rows; ++l) {
    if ((mask >> l & 1) == 0) continue;
    Row packed;
    std::memcpy(packed.data(), x.memory.shared_at(x.addresses[0][l], kRowBytes, static_cast<int>(l)),
                kRowBytes);
    for (std::uint32_t i = 0; i < kRowBytes; ++i) {
      const std::uint32_t at = i * bits / 8, next = std::min<std::uint32_t>(at + 1, kRowBytes - 1);
      const std::uint32_t two = packed[at] | static_cast<std::uint32_t>(packed[next]) << 8;
      out[l][i] = static_cast<std::uint8_t>(two >> (i * bits % 8) & ((1u << bits) - 1));
    }
  }
  return out;
}

/// Tiles of 8 rows: a lane receives four neighbours of a row.
void load_bytes(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint32_t tiles = op.flags >> kMatricesShift & 7;
  const auto rows = byte_rows(x, op, 8 * tiles, mask);
  std::uint32_t* d = x.result(op);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<std::uint32_t>(std::countr_zero(m));
    for (std::uint32_t t = 0; t < tiles; ++t)
      std::memcpy(d + l + 32 * t, rows[8 * t + l / 4].data() + l % 4 * 4, 4);
  }
}

/// Tiles of 16 rows, transposed: a lane's first register of a tile holds rows 4 (lane % 4) and on of a column, its second those of the
/// column eight further.
void load_transposed_bytes(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint32_t tiles = op.flags >> kMatricesShift & 7;
  const auto rows = byte_rows(x, op, 16 * tiles, mask);
  std::uint32_t* d = x.result(op);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<std::uint32_t>(std::countr_zero(m));
    for (std::uint32_t r = 0; r < 2 * tiles; ++r) {
      std::uint32_t word = 0;
      for (std::uint32_t b = 0; b < 4; ++b) {
        const std::uint32_t row = r / 2 * 16 + l % 4 * 4 + b, column = l / 4 + r % 2 * 8;
        word |= static_cast<std::uint32_t>(rows[row][column]) << (8 * b);
      }
      d[l + 32 * r] = word;
    }
  }
}

/// Tiles of 16 x 8 bytes as a lane holds a product's sums (rows l / 4 and 8 on, two neighbouring columns), stored a column per row.
void store_transposed_bytes(Execution& x, const MicroOp& op, std::uint32_t mask) {
  x.form_addresses(op.a, op.b, op.flags, op.immediate, 0);
  const std::uint32_t tiles = op.flags >> kMatricesShift & 7;
  const std::uint32_t* s = x.words(op.c);
  std::array<Row, 32> rows{};
  for (std::uint32_t l = 0; l < 32; ++l)
    for (std::uint32_t i = 0; i < 4 * tiles; ++i)
      rows[i / 4 * 8 + l % 4 * 2 + i % 2][l / 4 + i % 4 / 2 * 8] =
          static_cast<std::uint8_t>(s[l + 32 * (i / 4)] >> (8 * (i % 4)));
  for (std::uint32_t l = 0; l < 8 * tiles; ++l)
    if ((mask >> l & 1) != 0)
      std::memcpy(x.memory.shared_at(x.addresses[0][l], kRowBytes, static_cast<int>(l)), rows[l].data(),
                  kRowBytes);
}

/// The form of a tile of bytes.
WarpFunction byte_form(Decoder& d, bool loads) {
  MicroOp& op = d.op();
  if (!loads) {
    if (!d.printed.take("8") || !d.printed.take("MT168")) PrintedForm::refuse("another form of tiles");
    return store_transposed_bytes;
  }
  const std::uint32_t bits[] = {8, 6, 4};
  op.index2 = bits[d.printed.need_one({"8", "U6x16P32TO8", "U4x16P64TO8"})];
  return d.printed.need_one({"M816", "MT1616"}) == 1 ? load_transposed_bytes : load_bytes;
}

}  // namespace

void translate_matrix(Decoder& d, bool loads) {
  MicroOp& op = d.op();
  WarpFunction function = loads ? load_matrix : store_matrix;
  if (!d.printed.take("16")) {
    function = byte_form(d, loads);
  } else if (d.printed.need_one({"M88", "MT88"}) == 1) {
    op.flags |= kTransposed;
  }
  const std::uint32_t tiles[] = {2, 4, 1};
  op.flags |= tiles[d.printed.take_one({"2", "4"}, 2)] << kMatricesShift;
  if (loads) d.destination();
  take_memory_address(d, op.flags, MemorySpace::shared);
  if (!loads) {
    op.c = d.source(Style::raw);
    op.progress = true;
  }
  op.address_sets = 1;
  d.warp(function);
}

}  // namespace foretrace::emulate
