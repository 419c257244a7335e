#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

void nearest_centre(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t points = count_of(arguments[5]);
  const std::size_t centres = count_of(arguments[6]);
  const auto* px = arguments[0].elements<float>(points);
  const auto* py = arguments[1].elements<float>(points);
  const auto* cx = arguments[2].elements<float>(centres);
  const auto* cy = arguments[3].elements<float>(centres);
  auto* nearest = arguments[4].elements<float>(points);
  for (std::size_t p = 0; p < points; ++p) {
    double smallest = HUGE_VAL;
    for (std::size_t c = 0; c < centres; ++c) {
      const double dx = static_cast<double>(cx[c]) - static_cast<double>(px[p]);
      const double dy = static_cast<double>(cy[c]) - static_cast<double>(py[p]);
      smallest = std::min(smallest, dx * dx + dy * dy);
    }
    nearest[p] = static_cast<float>(smallest);
  }
}

void mbarrier_ring(const Arguments& arguments, Dim3 grid, Dim3) {
  constexpr std::size_t kTile = 384;
  constexpr std::size_t kWorkers = 96;
  need(arguments, 3);
  const std::size_t tiles = count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(grid.x * tiles * kTile);
  auto* sums = arguments[1].elements<float>(grid.x * kWorkers);
  for (std::size_t block = 0; block < grid.x; ++block) {
    double sum[kWorkers] = {};
    for (std::size_t i = 0; i < tiles * kTile; ++i) {
      const auto x = static_cast<double>(in[block * tiles * kTile + i]);
      sum[i % kWorkers] += ((0.25 * x + 0.5) * x + 0.75) * x + 1;
    }
    for (std::size_t w = 0; w < kWorkers; ++w) sums[block * kWorkers + w] = static_cast<float>(sum[w]);
  }
}

const Registration kProducerConsumer{{"nearest_centre", nearest_centre}, {"mbarrier_ring", mbarrier_ring}};

}  // namespace
}  // namespace foretrace::references
