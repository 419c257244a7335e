#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void count_bytes(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = 16 * count_of(arguments[2]);
  const auto* bytes = arguments[0].elements<std::uint8_t>(n);
  auto* bins = arguments[1].elements<std::uint32_t>(256);
  for (std::size_t i = 0; i < n; ++i) ++bins[bytes[i]];
}

void count_keys(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const std::size_t size = arguments[1].bytes / sizeof(std::uint32_t);
  const auto* keys = arguments[0].elements<std::uint32_t>(n);
  auto* bins = arguments[1].elements<std::uint32_t>(size);
  for (std::size_t i = 0; i < n; ++i) {
    if (keys[i] >= size) throw std::invalid_argument("count_keys: a key beyond the bins");
    ++bins[keys[i]];
  }
}

const Registration kRegistered{{"count_bytes", count_bytes}, {"count_keys", count_keys}};

}  // namespace
}  // namespace foretrace::references
