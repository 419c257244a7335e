#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

/// The place that an index names, within `places`.
std::size_t place(std::int32_t index, std::size_t places) {
  if (index < 0 || static_cast<std::size_t>(index) >= places) {
    throw std::invalid_argument("an index outside its buffer: " + std::to_string(index));
  }
  return static_cast<std::size_t>(index);
}

void gather(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const std::size_t places = arguments[0].bytes / sizeof(float);
  const auto* in = arguments[0].elements<float>(places);
  const auto* index = arguments[1].elements<std::int32_t>(n);
  auto* out = arguments[2].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = in[place(index[i], places)];
}

void scatter(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const std::size_t places = arguments[2].bytes / sizeof(float);
  const auto* in = arguments[0].elements<float>(n);
  const auto* index = arguments[1].elements<std::int32_t>(n);
  auto* out = arguments[2].elements<float>(places);
  for (std::size_t i = 0; i < n; ++i) out[place(index[i], places)] = in[i];
}

void scatter_add(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const std::size_t places = arguments[2].bytes / sizeof(std::uint32_t);
  const auto* in = arguments[0].elements<std::uint32_t>(n);
  const auto* index = arguments[1].elements<std::int32_t>(n);
  auto* out = arguments[2].elements<std::uint32_t>(places);
  for (std::size_t i = 0; i < n; ++i) out[place(index[i], places)] += in[i];
}

const Registration kRegistered{
    {"gather", gather},
    {"scatter", scatter},
    {"scatter_add", scatter_add},
};

}  // namespace
}  // namespace foretrace::references
