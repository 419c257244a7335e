#include <cmath>

#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// Distances by the kernel's own chain of fused multiply-adds: the nearest centre is exact.
template <std::size_t kDimensions>
void kmeans_assign(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[3]);
  const std::size_t k = count_of(arguments[4]);
  const auto* points = arguments[0].elements<float>(n * kDimensions);
  const auto* centres = arguments[1].elements<float>(k * kDimensions);
  auto* cluster = arguments[2].elements<std::int32_t>(n);
  for (std::size_t p = 0; p < n; ++p) {
    float nearest = 3.0e38f;
    for (std::size_t c = 0; c < k; ++c) {
      float distance = 0.0f;
      for (std::size_t d = 0; d < kDimensions; ++d) {
        const float away = points[d * n + p] - centres[c * kDimensions + d];
        distance = std::fma(away, away, distance);
      }
      if (distance < nearest) {
        nearest = distance;
        cluster[p] = static_cast<std::int32_t>(c);
      }
    }
  }
}

void kmeans_count(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[2]);
  const std::size_t k = count_of(arguments[3]);
  const auto* cluster = arguments[0].elements<std::int32_t>(n);
  auto* sizes = arguments[1].elements<std::int32_t>(k);
  for (std::size_t p = 0; p < n; ++p) ++sizes[cluster[p]];
}

const Registration kRegistered{
    {"kmeans_assign_3", kmeans_assign<3>},
    {"kmeans_assign_8", kmeans_assign<8>},
    {"kmeans_count", kmeans_count},
};

}  // namespace
}  // namespace foretrace::references
