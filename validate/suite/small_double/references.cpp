#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

struct State {
  double v[4];  // place, velocity
};

State change(const State& s) {
  const double square = s.v[0] * s.v[0] + s.v[1] * s.v[1];
  const double factor = -1 / (square * std::sqrt(square));
  return {{s.v[2], s.v[3], s.v[0] * factor, s.v[1] * factor}};
}

State moved(const State& s, const State& by, double h) {
  State result = s;
  for (std::size_t k = 0; k < 4; ++k) result.v[k] += h * by.v[k];
  return result;
}

void orbit_rk4(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t count = count_of(arguments[1]);
  const std::size_t steps = count_of(arguments[2]);
  const double h = arguments[3].value<double>();
  auto* planets = arguments[0].elements<State>(count);
  for (std::size_t i = 0; i < count; ++i) {
    State p = planets[i];
    p.v[0] += 1;
    p.v[3] += 1;
    for (std::size_t step = 0; step < steps; ++step) {
      const State k1 = change(p), k2 = change(moved(p, k1, h / 2));
      const State k3 = change(moved(p, k2, h / 2)), k4 = change(moved(p, k3, h));
      for (std::size_t k = 0; k < 4; ++k) p.v[k] += h / 6 * (k1.v[k] + 2 * (k2.v[k] + k3.v[k]) + k4.v[k]);
    }
    planets[i] = p;
  }
}

/// The roots of the characteristic polynomial by their trigonometric form, ascending.
void jacobi_eigen(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t count = count_of(arguments[2]);
  const auto* m = arguments[0].elements<double>(6 * count);
  auto* values = arguments[1].elements<double>(3 * count);
  const double turn = 2 * std::acos(-1.0) / 3;
  for (std::size_t i = 0; i < count; ++i) {
    const double a = m[i], b = m[3 * count + i], c = m[5 * count + i];
    const double d = m[count + i], e = m[4 * count + i], f = m[2 * count + i];
    const double mean = (a + b + c) / 3;
    const double squares = (a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean) +
                           2 * (d * d + e * e + f * f);
    const double p = std::sqrt(squares / 6);
    const double x = (a - mean) / p, y = (b - mean) / p, z = (c - mean) / p, u = d / p, v = e / p, w = f / p;
    const double half = (x * (y * z - v * v) - u * (u * z - v * w) + w * (u * v - y * w)) / 2;
    const double angle = std::acos(std::clamp(half, -1.0, 1.0)) / 3;
    values[2 * count + i] = mean + 2 * p * std::cos(angle);
    values[i] = mean + 2 * p * std::cos(angle + turn);
    values[count + i] = 3 * mean - values[i] - values[2 * count + i];
  }
}

void kepler_newton(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t count = count_of(arguments[3]);
  const std::size_t steps = count_of(arguments[4]);
  const auto* mean = arguments[0].elements<double>(count);
  const auto* eccentricity = arguments[1].elements<double>(count);
  auto* anomaly = arguments[2].elements<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double m = mean[i], e = eccentricity[i];
    double guess = m;
    for (std::size_t step = 0; step < steps; ++step) {
      guess -= (guess - e * std::sin(guess) - m) / (1 - e * std::cos(guess));
    }
    anomaly[i] = guess;
  }
}

const Registration kRegistered{
    {"orbit_rk4", orbit_rk4},
    {"jacobi_eigen", jacobi_eigen},
    {"kepler_newton", kepler_newton},
};

}  // namespace
}  // namespace foretrace::references
