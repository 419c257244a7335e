#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

struct Sizes {
  std::int32_t n[4];
};

void permute_4d(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const auto sizes = arguments[2].value<Sizes>();
  const auto order = arguments[3].value<Sizes>();
  const std::size_t count = count_of(arguments[4]);
  const auto* in = arguments[0].elements<float>(count);
  auto* out = arguments[1].elements<float>(count);
  std::size_t stride[4];  // of an input axis in the output
  std::size_t step = 1;
  for (std::size_t axis = 4; axis-- > 0; step *= static_cast<std::size_t>(sizes.n[order.n[axis]])) {
    stride[order.n[axis]] = step;
  }
  if (step != count) throw std::invalid_argument("permute_4d: the sizes are not the count");
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    std::size_t to = 0;
    for (std::size_t axis = 4; axis-- > 0; rest /= static_cast<std::size_t>(sizes.n[axis])) {
      to += rest % static_cast<std::size_t>(sizes.n[axis]) * stride[axis];
    }
    out[to] = in[i];
  }
}

void channels_last(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t channels = count_of(arguments[2]);
  const std::size_t pixels = count_of(arguments[3]);
  const auto* in = arguments[0].elements<std::uint16_t>(grid.z * channels * pixels);
  auto* out = arguments[1].elements<std::uint16_t>(grid.z * channels * pixels);
  for (std::size_t image = 0; image < grid.z; ++image, in += channels * pixels, out += channels * pixels) {
    for (std::size_t i = 0; i < channels * pixels; ++i) out[i % pixels * channels + i / pixels] = in[i];
  }
}

const Registration kPermute{{"permute_4d", permute_4d}, {"channels_last", channels_last}};

}  // namespace
}  // namespace foretrace::references
