#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// Cell by cell, on a torus.
void life_bits(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t words = count_of(arguments[2]);
  const std::size_t rows = count_of(arguments[3]);
  const std::size_t columns = 32 * words;
  const auto* cells = arguments[0].elements<std::uint32_t>(words * rows);
  auto* next = arguments[1].elements<std::uint32_t>(words * rows);
  std::vector<std::uint8_t> alive(columns * rows);
  for (std::size_t i = 0; i < alive.size(); ++i) alive[i] = cells[i / 32] >> (i % 32) & 1u;
  for (std::size_t y = 0; y < rows; ++y) {
    const std::uint8_t* near[3] = {&alive[(y + rows - 1) % rows * columns], &alive[y * columns],
                                   &alive[(y + 1) % rows * columns]};
    for (std::size_t x = 0; x < columns; ++x) {
      const std::size_t west = x == 0 ? columns - 1 : x - 1, east = x + 1 == columns ? 0 : x + 1;
      int sum = 0;
      for (const std::uint8_t* row : near) sum += row[west] + row[x] + row[east];
      const bool lives = sum == 3 || (sum == 4 && near[1][x] != 0);
      std::uint32_t& word = next[y * words + x / 32];
      word = (word & ~(1u << x % 32)) | static_cast<std::uint32_t>(lives) << x % 32;
    }
  }
}

const Registration kAutomata{{"life_bits", life_bits}};

}  // namespace
}  // namespace foretrace::references
