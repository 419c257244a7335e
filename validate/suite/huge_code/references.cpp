#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

template <int WIDTH, int LAYERS>
void dense_unrolled(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t samples = count_of(arguments[2]);
  const auto* in = arguments[0].elements<float>(WIDTH * samples);
  auto* out = arguments[1].elements<float>(WIDTH * samples);
  std::vector<double> weights(LAYERS * WIDTH * WIDTH);
  std::size_t at = 0;
  for (int layer = 0; layer < LAYERS; ++layer) {
    for (int row = 0; row < WIDTH; ++row) {
      for (int col = 0; col < WIDTH; ++col) {
        weights[at++] = ((layer * 29 + row * 37 + col * 101 + row * col * 3) % 63 - 31) / 256.0;
      }
    }
  }
  for (std::size_t i = 0; i < samples; ++i) {
    double x[WIDTH];
    double y[WIDTH];
    for (std::size_t k = 0; k < WIDTH; ++k) x[k] = static_cast<double>(in[k * samples + i]);
    const double* weight = weights.data();
    for (int layer = 0; layer < LAYERS; ++layer) {
      for (double& result : y) {
        double sum = 0.125;
        for (const double value : x) sum += *weight++ * value;
        result = std::fmax(sum, 0.0);
      }
      std::copy(y, y + WIDTH, x);
    }
    for (std::size_t k = 0; k < WIDTH; ++k) out[k * samples + i] = static_cast<float>(x[k]);
  }
}

const Registration kHugeCode{{"dense_unrolled_2", dense_unrolled<48, 2>},
                             {"dense_unrolled_6", dense_unrolled<48, 6>}};

}  // namespace
}  // namespace foretrace::references
