#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

double product(float a, float b) { return static_cast<double>(a) * static_cast<double>(b); }

void atax_rows(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t rows = count_of(arguments[3]), cols = count_of(arguments[4]);
  const auto* a = arguments[0].elements<float>(rows * cols);
  const auto* x = arguments[1].elements<float>(cols);
  auto* tmp = arguments[2].elements<float>(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < cols; ++j) sum += product(a[i * cols + j], x[j]);
    tmp[i] = static_cast<float>(sum);
  }
}

void atax_columns(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t rows = count_of(arguments[3]), cols = count_of(arguments[4]);
  const auto* a = arguments[0].elements<float>(rows * cols);
  auto* y = arguments[1].elements<float>(cols);
  const auto* tmp = arguments[2].elements<float>(rows);
  std::vector<double> sums(cols);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) sums[j] += product(a[i * cols + j], tmp[i]);
  }
  for (std::size_t j = 0; j < cols; ++j) y[j] = static_cast<float>(sums[j]);
}

void gemver_update(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t n = count_of(arguments[5]);
  auto* a = arguments[0].elements<float>(n * n);
  const auto* u1 = arguments[1].elements<float>(n);
  const auto* v1 = arguments[2].elements<float>(n);
  const auto* u2 = arguments[3].elements<float>(n);
  const auto* v2 = arguments[4].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      a[i * n + j] = static_cast<float>(static_cast<double>(a[i * n + j]) + product(u1[i], v1[j]) +
                                        product(u2[i], v2[j]));
    }
  }
}

/// The sizes of a step of Gram-Schmidt; k is the column.
struct Step {
  std::size_t rows, cols, k;
};

Step step_of(const Arguments& arguments, std::size_t first) {
  return {count_of(arguments[first]), count_of(arguments[first + 1]), count_of(arguments[first + 2])};
}

void gram_norm(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const Step s = step_of(arguments, 2);
  const auto* a = arguments[0].elements<float>(s.rows * s.cols);
  double sum = 0;
  for (std::size_t i = 0; i < s.rows; ++i) sum += product(a[i * s.cols + s.k], a[i * s.cols + s.k]);
  arguments[1].elements<float>(s.cols * s.cols)[s.k * s.cols + s.k] = static_cast<float>(std::sqrt(sum));
}

void gram_divide(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const Step s = step_of(arguments, 3);
  const auto* a = arguments[0].elements<float>(s.rows * s.cols);
  const auto* r = arguments[1].elements<float>(s.cols * s.cols);
  auto* q = arguments[2].elements<float>(s.rows * s.cols);
  for (std::size_t i = 0; i < s.rows; ++i) q[i * s.cols + s.k] = a[i * s.cols + s.k] / r[s.k * s.cols + s.k];
}

void gram_project(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const Step s = step_of(arguments, 3);
  auto* a = arguments[0].elements<float>(s.rows * s.cols);
  auto* r = arguments[1].elements<float>(s.cols * s.cols);
  const auto* q = arguments[2].elements<float>(s.rows * s.cols);
  for (std::size_t j = s.k + 1; j < s.cols; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < s.rows; ++i) sum += product(q[i * s.cols + s.k], a[i * s.cols + j]);
    r[s.k * s.cols + j] = static_cast<float>(sum);
    for (std::size_t i = 0; i < s.rows; ++i) {
      float& one = a[i * s.cols + j];
      one = static_cast<float>(static_cast<double>(one) - static_cast<double>(q[i * s.cols + s.k]) * sum);
    }
  }
}

void corr_moments(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[3]), m = count_of(arguments[4]);
  const auto* data = arguments[0].elements<float>(n * m);
  auto* mean = arguments[1].elements<float>(m);
  auto* deviation = arguments[2].elements<float>(m);
  for (std::size_t j = 0; j < m; ++j) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(data[i * m + j]);
    const double middle = sum / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double d = static_cast<double>(data[i * m + j]) - middle;
      squares += d * d;
    }
    const double root = std::sqrt(squares / static_cast<double>(n));
    mean[j] = static_cast<float>(middle);
    deviation[j] = root <= 0.1 ? 1.0f : static_cast<float>(root);
  }
}

void corr_center(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[3]), m = count_of(arguments[4]);
  auto* data = arguments[0].elements<float>(n * m);
  const auto* mean = arguments[1].elements<float>(m);
  const auto* deviation = arguments[2].elements<float>(m);
  const double root = std::sqrt(static_cast<double>(n));
  for (std::size_t i = 0; i < n * m; ++i) {
    data[i] = static_cast<float>((static_cast<double>(data[i]) - static_cast<double>(mean[i % m])) /
                                 (root * static_cast<double>(deviation[i % m])));
  }
}

void corr_matrix(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[2]), m = count_of(arguments[3]);
  const auto* data = arguments[0].elements<float>(n * m);
  auto* matrix = arguments[1].elements<float>(m * m);
  for (std::size_t j = 0; j < m; ++j) {
    matrix[j * m + j] = 1.0f;
    for (std::size_t k = j + 1; k < m; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += product(data[i * m + j], data[i * m + k]);
      matrix[j * m + k] = matrix[k * m + j] = static_cast<float>(sum);
    }
  }
}

void field_ey(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t h = count_of(arguments[4]), w = count_of(arguments[5]);
  const std::size_t t = count_of(arguments[3]);
  const auto* source = arguments[0].elements<float>(t + 1);
  auto* ey = arguments[1].elements<float>(h * w);
  const auto* hz = arguments[2].elements<float>(h * w);
  for (std::size_t j = 0; j < w; ++j) ey[j] = source[t];
  for (std::size_t i = w; i < h * w; ++i) ey[i] = std::fma(-0.5f, hz[i] - hz[i - w], ey[i]);
}

void field_ex(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t h = count_of(arguments[2]), w = count_of(arguments[3]);
  auto* ex = arguments[0].elements<float>(h * w);
  const auto* hz = arguments[1].elements<float>(h * w);
  for (std::size_t i = 0; i < h * w; ++i) {
    if (i % w != 0) ex[i] = std::fma(-0.5f, hz[i] - hz[i - 1], ex[i]);
  }
}

void field_hz(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t h = count_of(arguments[3]), w = count_of(arguments[4]);
  const auto* ex = arguments[0].elements<float>(h * w);
  const auto* ey = arguments[1].elements<float>(h * w);
  auto* hz = arguments[2].elements<float>(h * w);
  for (std::size_t i = 0; i + 1 < h; ++i) {
    for (std::size_t j = 0; j + 1 < w; ++j) {
      const std::size_t at = i * w + j;
      hz[at] = std::fma(-0.7f, ex[at + 1] - ex[at] + ey[at + w] - ey[at], hz[at]);
    }
  }
}

/// Lines of `length` numbers, `along` apart; line l begins at l * across.
void sweep(const Arguments& arguments, std::size_t lines, std::size_t length, std::size_t across,
           std::size_t along) {
  const auto* from = arguments[0].elements<double>(lines * length);
  auto* below = arguments[1].elements<double>(lines * length);
  auto* wanted = arguments[2].elements<double>(lines * length);
  for (std::size_t l = 0; l < lines; ++l) {
    const double* a = from + l * across;
    double* b = below + l * across;
    double* x = wanted + l * across;
    for (std::size_t i = 1; i < length; ++i) {
      const std::size_t at = i * along, last = at - along;
      x[at] -= x[last] * a[at] / b[last];
      b[at] -= a[at] * a[at] / b[last];
    }
    x[(length - 1) * along] /= b[(length - 1) * along];
    for (std::size_t i = length - 1; i-- > 0;) {
      const std::size_t at = i * along;
      x[at] = (x[at] - x[at + along] * a[at + along]) / b[at];
    }
  }
}

void adi_rows(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  sweep(arguments, count_of(arguments[3]), count_of(arguments[4]), count_of(arguments[4]), 1);
}

void adi_columns(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  sweep(arguments, count_of(arguments[4]), count_of(arguments[3]), 1, count_of(arguments[4]));
}

const Registration kRegistered{
    {"atax_rows", atax_rows},       {"atax_columns", atax_columns}, {"gemver_update", gemver_update},
    {"gram_norm", gram_norm},       {"gram_divide", gram_divide},   {"gram_project", gram_project},
    {"corr_moments", corr_moments}, {"corr_center", corr_center},   {"corr_matrix", corr_matrix},
    {"field_ey", field_ey},         {"field_ex", field_ex},         {"field_hz", field_hz},
    {"adi_rows", adi_rows},         {"adi_columns", adi_columns},
};

}  // namespace
}  // namespace foretrace::references
