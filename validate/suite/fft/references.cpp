#include "validate/kernels/references.h"

#include <cmath>
#include <complex>

namespace foretrace::references {
namespace {

using Complex = std::complex<double>;

const double kPi = std::acos(-1.0);

/// exp(-2 pi i k / n)
Complex root_of_unity(std::size_t k, std::size_t n) {
  const double angle = -2 * kPi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

/// One stage of any radix by its definition: `radix` points, n / radix apart, each turned, then transformed.
void stage(const Arguments& arguments, std::size_t radix) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[2]);
  const std::size_t done = count_of(arguments[3]);
  const auto* in = arguments[0].elements<float>(2 * n);
  auto* out = arguments[1].elements<float>(2 * n);
  for (std::size_t i = 0; i < n / radix; ++i) {
    const std::size_t k = i % done;
    for (std::size_t result = 0; result < radix; ++result) {
      Complex sum = 0;
      for (std::size_t j = 0; j < radix; ++j) {
        const std::size_t from = 2 * (i + j * (n / radix));
        const Complex point(static_cast<double>(in[from]), static_cast<double>(in[from + 1]));
        sum += point * root_of_unity(j * (k + result * done), radix * done);
      }
      const std::size_t to = 2 * ((i - k) * radix + k + result * done);
      out[to] = static_cast<float>(sum.real());
      out[to + 1] = static_cast<float>(sum.imag());
    }
  }
}

void fft_stage_2(const Arguments& arguments, Dim3, Dim3) { stage(arguments, 2); }

void fft_stage_4(const Arguments& arguments, Dim3, Dim3) { stage(arguments, 4); }

/// The transform of `count` points, `step` apart, by halves.
void fourier_by_halves(const Complex* in, Complex* out, std::size_t count, std::size_t step) {
  if (count == 1) {
    *out = *in;
    return;
  }
  fourier_by_halves(in, out, count / 2, 2 * step);
  fourier_by_halves(in + step, out + count / 2, count / 2, 2 * step);
  for (std::size_t k = 0; k < count / 2; ++k) {
    const Complex turned = root_of_unity(k, count) * out[count / 2 + k];
    out[count / 2 + k] = out[k] - turned;
    out[k] += turned;
  }
}

void fft_shared(const Arguments& arguments, Dim3 grid, Dim3) {
  constexpr std::size_t kPoints = 1024;
  need(arguments, 2);
  const auto* in = arguments[0].elements<float>(2 * kPoints * grid.x);
  auto* out = arguments[1].elements<float>(2 * kPoints * grid.x);
  std::vector<Complex> before(kPoints), after(kPoints);
  for (std::size_t block = 0; block < grid.x; ++block, in += 2 * kPoints, out += 2 * kPoints) {
    for (std::size_t i = 0; i < kPoints; ++i) {
      before[i] = {static_cast<double>(in[2 * i]), static_cast<double>(in[2 * i + 1])};
    }
    fourier_by_halves(before.data(), after.data(), kPoints, 1);
    for (std::size_t i = 0; i < kPoints; ++i) {
      out[2 * i] = static_cast<float>(after[i].real());
      out[2 * i + 1] = static_cast<float>(after[i].imag());
    }
  }
}

const Registration kFft{
    {"fft_stage_2", fft_stage_2}, {"fft_stage_4", fft_stage_4}, {"fft_shared", fft_shared}};

}  // namespace
}  // namespace foretrace::references
