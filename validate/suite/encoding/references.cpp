#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void run_lengths(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[3]);
  const std::size_t width = count_of(arguments[4]);
  const auto threshold = arguments[5].value<std::int32_t>();
  const auto* pixels = arguments[0].elements<std::uint8_t>(rows * width);
  auto* changes = arguments[1].elements<std::uint16_t>(rows * width);
  auto* count = arguments[2].elements<std::int32_t>(rows);
  for (std::size_t row = 0; row < rows; ++row, pixels += width, changes += width) {
    bool was_black = false;
    count[row] = 0;
    for (std::size_t column = 0; column < width; ++column) {
      const bool is_black = pixels[column] < threshold;
      if (is_black != was_black) changes[count[row]++] = static_cast<std::uint16_t>(column);
      was_black = is_black;
    }
  }
}

const Registration kEncoding{{"run_lengths", run_lengths}};

}  // namespace
}  // namespace foretrace::references
