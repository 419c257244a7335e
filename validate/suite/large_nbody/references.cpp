#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

void gravity(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 5);
  const std::size_t targets = std::size_t{grid.x} * block.x;
  const std::size_t count = count_of(arguments[3]);
  const double soft = static_cast<double>(arguments[4].value<float>());
  const auto* at = arguments[0].elements<float>(4 * targets);
  const auto* source = arguments[1].elements<float>(4 * count);
  auto* pull = arguments[2].elements<float>(4 * targets);
  for (std::size_t i = 0; i < targets; ++i) {
    double sums[4] = {};
    for (std::size_t j = 0; j < count; ++j) {
      double way[3], square = soft;
      for (std::size_t k = 0; k < 3; ++k) {
        way[k] = static_cast<double>(source[4 * j + k]) - static_cast<double>(at[4 * i + k]);
        square += way[k] * way[k];
      }
      const double inverse = 1 / std::sqrt(square);
      const double near = static_cast<double>(source[4 * j + 3]) * inverse;
      for (std::size_t k = 0; k < 3; ++k) sums[k] += way[k] * near * inverse * inverse;
      sums[3] += near;
    }
    for (std::size_t k = 0; k < 4; ++k) pull[4 * i + k] = static_cast<float>(sums[k]);
  }
}

const Registration kRegistered{{"gravity", gravity}};

}  // namespace
}  // namespace foretrace::references
