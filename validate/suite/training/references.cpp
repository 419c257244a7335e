#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

// In double precision, rounded once.

void adam_step(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 12);
  const std::size_t n = 4 * count_of(arguments[4]);
  auto* parameters = arguments[0].elements<float>(n);
  const auto* gradients = arguments[1].elements<float>(n);
  auto* first = arguments[2].elements<float>(n);
  auto* second = arguments[3].elements<float>(n);
  const auto number = [&](std::size_t i) { return static_cast<double>(arguments[i].value<float>()); };
  const double rate = number(5), beta1 = number(6), beta2 = number(7), epsilon = number(8);
  const double decay = number(9), correction1 = number(10), correction2 = number(11);
  for (std::size_t i = 0; i < n; ++i) {
    const auto p = static_cast<double>(parameters[i]);
    const auto g = static_cast<double>(gradients[i]);
    const double m = beta1 * static_cast<double>(first[i]) + (1 - beta1) * g;
    const double v = beta2 * static_cast<double>(second[i]) + (1 - beta2) * g * g;
    const double step = m * correction1 / (std::sqrt(v * correction2) + epsilon);
    parameters[i] = static_cast<float>(p - rate * (step + decay * p));
    first[i] = static_cast<float>(m);
    second[i] = static_cast<float>(v);
  }
}

void cross_entropy(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t words = 4 * count_of(arguments[3]);
  const auto* logits = arguments[0].elements<float>(grid.x * words);
  const auto* targets = arguments[1].elements<std::int32_t>(grid.x);
  auto* losses = arguments[2].elements<float>(grid.x);
  for (std::size_t row = 0; row < grid.x; ++row, logits += words) {
    const auto largest = static_cast<double>(*std::max_element(logits, logits + words));
    double sum = 0;
    for (std::size_t i = 0; i < words; ++i) sum += std::exp(static_cast<double>(logits[i]) - largest);
    const auto right = static_cast<double>(logits[static_cast<std::size_t>(targets[row]) % words]);
    losses[row] = static_cast<float>(std::log(sum) + largest - right);
  }
}

const Registration kTraining{{"adam_step", adam_step}, {"cross_entropy", cross_entropy}};

}  // namespace
}  // namespace foretrace::references
