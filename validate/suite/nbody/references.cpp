#include <cmath>

#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// In double precision: the kernels' rsqrt and the order of their sums are what the launch files allow for.
void nbody(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* bodies = arguments[0].elements<float>(4 * n);
  auto* acceleration = arguments[1].elements<float>(4 * n);
  constexpr double kSoftening = 0.01;
  for (std::size_t i = 0; i < n; ++i) {
    double sum[3] = {0, 0, 0};
    for (std::size_t j = 0; j < n; ++j) {
      double away[3];
      double distance2 = kSoftening;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        away[axis] = static_cast<double>(bodies[4 * j + axis]) - static_cast<double>(bodies[4 * i + axis]);
        distance2 += away[axis] * away[axis];
      }
      const double strength = static_cast<double>(bodies[4 * j + 3]) / (distance2 * std::sqrt(distance2));
      for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += strength * away[axis];
    }
    for (std::size_t axis = 0; axis < 3; ++axis) acceleration[4 * i + axis] = static_cast<float>(sum[axis]);
    acceleration[4 * i + 3] = 0.0f;
  }
}

const Registration kRegistered{{"nbody", nbody}};

}  // namespace
}  // namespace foretrace::references
