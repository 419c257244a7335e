#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

double normal(double x) { return 0.5 * std::erfc(-std::sqrt(0.5) * x); }

void black_scholes(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t n = count_of(arguments[5]);
  const auto rate = static_cast<double>(arguments[6].value<float>());
  const auto volatility = static_cast<double>(arguments[7].value<float>());
  const auto* price = arguments[0].elements<float>(n);
  const auto* strike = arguments[1].elements<float>(n);
  const auto* years = arguments[2].elements<float>(n);
  auto* call = arguments[3].elements<float>(n);
  auto* put = arguments[4].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto s = static_cast<double>(price[i]);
    const auto k = static_cast<double>(strike[i]);
    const auto t = static_cast<double>(years[i]);
    const double spread = volatility * std::sqrt(t);
    const double d1 = (std::log(s / k) + (rate + 0.5 * volatility * volatility) * t) / spread;
    const double discounted = k * std::exp(-rate * t);
    call[i] = static_cast<float>(s * normal(d1) - discounted * normal(d1 - spread));
    put[i] = static_cast<float>(discounted * normal(spread - d1) - s * normal(-d1));
  }
}

void binomial_option(const Arguments& arguments, Dim3 grid, Dim3) {
  constexpr int kLevels = 255;
  need(arguments, 6);
  const auto* price = arguments[0].elements<float>(grid.x);
  const auto* strike = arguments[1].elements<float>(grid.x);
  auto* value = arguments[2].elements<float>(grid.x);
  const double dt = static_cast<double>(arguments[3].value<float>()) / kLevels;
  const auto rate = static_cast<double>(arguments[4].value<float>());
  const double step = static_cast<double>(arguments[5].value<float>()) * std::sqrt(dt);
  const double up = std::exp(step);
  const double discount = std::exp(-rate * dt);
  const double chance = (1 / discount - 1 / up) / (up - 1 / up);
  double power[2 * kLevels + 1];  // up to the power of i - kLevels
  for (int i = 0; i <= 2 * kLevels; ++i) power[i] = std::exp(step * (i - kLevels));
  double tree[kLevels + 1];
  for (std::size_t option = 0; option < grid.x; ++option) {
    const auto s = static_cast<double>(price[option]);
    const auto k = static_cast<double>(strike[option]);
    for (int i = 0; i <= kLevels; ++i) tree[i] = std::fmax(k - s * power[2 * i], 0.0);
    for (int level = kLevels - 1; level >= 0; --level) {
      for (int i = 0; i <= level; ++i) {
        const double wait = discount * (chance * tree[i + 1] + (1 - chance) * tree[i]);
        tree[i] = std::fmax(wait, k - s * power[2 * i - level + kLevels]);
      }
    }
    value[option] = static_cast<float>(tree[0]);
  }
}

const Registration kFinance{{"black_scholes", black_scholes}, {"binomial_option", binomial_option}};

}  // namespace
}  // namespace foretrace::references
