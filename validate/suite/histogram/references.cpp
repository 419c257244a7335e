#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void histogram_global(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* keys = arguments[0].elements<std::uint32_t>(n);
  const std::size_t bins = arguments[1].bytes / sizeof(std::uint32_t);
  auto* counts = arguments[1].elements<std::uint32_t>(bins);
  for (std::size_t i = 0; i < n; ++i) {
    if (keys[i] >= bins) throw std::invalid_argument("histogram_global: a key beyond the bins");
    ++counts[keys[i]];
  }
}

void histogram_shared(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = 4 * count_of(arguments[2]);
  const auto* bytes = arguments[0].elements<std::uint8_t>(n);
  auto* counts = arguments[1].elements<std::uint32_t>(256);
  for (std::size_t i = 0; i < n; ++i) ++counts[bytes[i]];
}

const Registration kRegistered{
    {"histogram_global", histogram_global},
    {"histogram_shared", histogram_shared},
};

}  // namespace
}  // namespace foretrace::references
