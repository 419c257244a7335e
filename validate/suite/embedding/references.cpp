#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void embedding_lookup(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t count = count_of(arguments[4]);
  const std::size_t sequence = count_of(arguments[5]);
  const std::size_t width = 4 * count_of(arguments[6]);
  const auto* tokens = arguments[0].elements<std::int32_t>(count);
  const std::size_t rows = arguments[1].bytes / sizeof(float) / width;
  const auto* table = arguments[1].elements<float>(rows * width);
  const auto* positions = arguments[2].elements<float>(sequence * width);
  auto* out = arguments[3].elements<float>(count * width);
  for (std::size_t token = 0; token < count; ++token) {
    const float* row = table + static_cast<std::size_t>(tokens[token]) % rows * width;
    const float* position = positions + token % sequence * width;
    for (std::size_t i = 0; i < width; ++i) out[token * width + i] = row[i] + position[i];
  }
}

// In the kernel's order: the same bits.
void embedding_bag(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t bags = count_of(arguments[3]);
  const std::size_t per_bag = count_of(arguments[4]);
  const auto* indices = arguments[0].elements<std::int32_t>(bags * per_bag);
  const std::size_t rows = arguments[1].bytes / sizeof(float) / 64;
  const auto* table = arguments[1].elements<float>(rows * 64);
  auto* out = arguments[2].elements<float>(bags * 64);
  std::fill(out, out + bags * 64, 0.0f);
  for (std::size_t bag = 0; bag < bags; ++bag) {
    for (std::size_t i = 0; i < per_bag; ++i) {
      const float* row = table + static_cast<std::size_t>(indices[bag * per_bag + i]) % rows * 64;
      for (std::size_t k = 0; k < 64; ++k) out[bag * 64 + k] += row[k];
    }
  }
}

// In double precision, rounded once.
void embedding_gradient(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t sequence = count_of(arguments[4]);
  const std::size_t width = 4 * count_of(arguments[5]);
  const auto* out_gradient = arguments[2].elements<float>(grid.x * width);
  const auto* tokens = arguments[3].elements<std::int32_t>(grid.x);
  for (std::size_t target = 0; target < 2; ++target) {
    const std::size_t rows = arguments[target].bytes / sizeof(float) / width;
    auto* gradient = arguments[target].elements<float>(rows * width);
    std::vector<double> sum(gradient, gradient + rows * width);
    for (std::size_t token = 0; token < grid.x; ++token) {
      const std::size_t row = target == 0 ? static_cast<std::size_t>(tokens[token]) : token % sequence;
      for (std::size_t i = 0; i < width; ++i) {
        sum[row % rows * width + i] += static_cast<double>(out_gradient[token * width + i]);
      }
    }
    for (std::size_t i = 0; i < rows * width; ++i) gradient[i] = static_cast<float>(sum[i]);
  }
}

const Registration kEmbedding{
    {"embedding_lookup", embedding_lookup},
    {"embedding_bag", embedding_bag},
    {"embedding_gradient", embedding_gradient},
};

}  // namespace
}  // namespace foretrace::references
