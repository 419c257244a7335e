#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

void row_length(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  const std::size_t columns = count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(grid.x * columns);
  auto* out = arguments[1].elements<float>(grid.x * columns);
  for (std::size_t row = 0; row < grid.x; ++row, in += columns, out += columns) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += static_cast<double>(in[i]) * static_cast<double>(in[i]);
    for (std::size_t i = 0; i < columns; ++i)
      out[i] = static_cast<float>(static_cast<double>(in[i]) / std::sqrt(sum));
  }
}

void ragged_sort(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 2);
  const auto* lengths = arguments[0].elements<std::uint32_t>(grid.x);
  auto* lists = arguments[1].elements<std::uint32_t>(grid.x * std::size_t{128});
  for (std::size_t list = 0; list < grid.x; ++list) {
    std::sort(lists + list * 128, lists + list * 128 + std::min(lengths[list], 128u));
  }
}

const Registration kSmallBlocks{{"row_length", row_length}, {"ragged_sort", ragged_sort}};

}  // namespace
}  // namespace foretrace::references
