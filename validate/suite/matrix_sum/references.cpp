#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// Sums are made in double precision: the kernels add in another order, and the launch files say how far that may go.

void sum_rows(const float* in, float* sums, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += static_cast<double>(in[r * columns + c]);
    sums[r] = static_cast<float>(sum);
  }
}

void row_sums_warp(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t rows = count_of(arguments[2]);
  const std::size_t columns = count_of(arguments[3]);
  sum_rows(arguments[0].elements<float>(rows * columns), arguments[1].elements<float>(rows), rows, columns);
}

void row_sums_block(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  const std::size_t columns = count_of(arguments[2]);
  sum_rows(arguments[0].elements<float>(grid.x * columns), arguments[1].elements<float>(grid.x), grid.x,
           columns);
}

void column_sums(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t rows = count_of(arguments[2]);
  const std::size_t columns = count_of(arguments[3]);
  const auto* in = arguments[0].elements<float>(rows * columns);
  auto* sums = arguments[1].elements<float>(columns);
  std::vector<double> wide(columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) wide[c] += static_cast<double>(in[r * columns + c]);
  }
  for (std::size_t c = 0; c < columns; ++c) sums[c] = static_cast<float>(wide[c]);
}

const Registration kRegistered{
    {"column_sums", column_sums},
    {"row_sums_block", row_sums_block},
    {"row_sums_warp", row_sums_warp},
};

}  // namespace
}  // namespace foretrace::references
