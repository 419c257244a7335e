#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// Sums are made in double precision: the kernels add in another order, and the launch files say how far that may go.

float element(const ArgumentView& x, std::int32_t column) {
  return x.elements<float>(static_cast<std::size_t>(column) + 1)[column];
}

void spmv_csr(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[5]);
  const auto* start = arguments[0].elements<std::int32_t>(rows + 1);
  const auto elements = static_cast<std::size_t>(start[rows]);
  const auto* column = arguments[1].elements<std::int32_t>(elements);
  const auto* value = arguments[2].elements<float>(elements);
  auto* y = arguments[4].elements<float>(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::int32_t k = start[row]; k < start[row + 1]; ++k) {
      sum += static_cast<double>(value[k]) * static_cast<double>(element(arguments[3], column[k]));
    }
    y[row] = static_cast<float>(sum);
  }
}

void spmv_ell(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[4]);
  const std::size_t width = count_of(arguments[5]);
  const auto* column = arguments[0].elements<std::int32_t>(rows * width);
  const auto* value = arguments[1].elements<float>(rows * width);
  auto* y = arguments[3].elements<float>(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t k = row; k < rows * width; k += rows) {
      if (column[k] < 0) continue;
      sum += static_cast<double>(value[k]) * static_cast<double>(element(arguments[2], column[k]));
    }
    y[row] = static_cast<float>(sum);
  }
}

void spmm_csr(const Arguments& arguments, Dim3, Dim3) {
  constexpr std::size_t kColumns = 128;
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[5]);
  const auto* start = arguments[0].elements<std::int32_t>(rows + 1);
  const auto entries = static_cast<std::size_t>(start[rows]);
  const auto* column = arguments[1].elements<std::int32_t>(entries);
  const auto* value = arguments[2].elements<float>(entries);
  auto* out = arguments[4].elements<float>(rows * kColumns);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum[kColumns] = {};
    for (std::int32_t k = start[row]; k < start[row + 1]; ++k) {
      const std::size_t from = static_cast<std::size_t>(column[k]) * kColumns;
      const float* dense = arguments[3].elements<float>(from + kColumns) + from;
      for (std::size_t i = 0; i < kColumns; ++i) {
        sum[i] += static_cast<double>(value[k]) * static_cast<double>(dense[i]);
      }
    }
    for (std::size_t i = 0; i < kColumns; ++i) out[row * kColumns + i] = static_cast<float>(sum[i]);
  }
}

const Registration kRegistered{{"spmv_csr", spmv_csr}, {"spmv_ell", spmv_ell}, {"spmm_csr", spmm_csr}};

}  // namespace
}  // namespace foretrace::references
