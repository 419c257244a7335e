#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

/// An element has one float or four; which, the buffer tells.
void resident_sum(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 5);
  const std::size_t piece = count_of(arguments[2]);
  const std::size_t times = count_of(arguments[3]);
  const std::size_t step = count_of(arguments[4]);
  const std::size_t wide = arguments[0].bytes / sizeof(float) / (piece * grid.x);
  const auto* data = arguments[0].elements<float>(piece * grid.x * wide);
  auto* sums = arguments[1].elements<float>(grid.x * block.x);
  for (std::size_t b = 0; b < grid.x; ++b) {
    for (std::size_t t = 0; t < block.x; ++t) {
      double sum = 0;
      for (std::size_t time = 0; time < times; ++time) {
        const float* mine = data + (b + time * step) % grid.x * piece * wide;
        for (std::size_t i = t; i < piece; i += block.x) {
          for (std::size_t k = 0; k < wide; ++k) sum += static_cast<double>(mine[i * wide + k]);
        }
      }
      sums[b * block.x + t] = static_cast<float>(sum);
    }
  }
}

void resident_blocks(const Arguments& arguments, Dim3 grid, Dim3 block, std::size_t wide) {
  need(arguments, 4);
  const std::size_t reads = count_of(arguments[3]);
  const std::size_t threads = std::size_t{grid.x} * block.x;
  const std::size_t table_size = arguments[0].bytes / sizeof(float);
  const auto* table = arguments[0].elements<float>(table_size);
  const auto* places = arguments[1].elements<std::uint32_t>(threads / 32 * reads);
  auto* sums = arguments[2].elements<float>(threads);
  for (std::size_t thread = 0; thread < threads; ++thread) {
    double sum = 0;
    for (std::size_t i = 0; i < reads; ++i) {
      const std::size_t at = (places[thread / 32 * reads + i] * std::size_t{32} + thread % 32) * wide;
      if (at + wide > table_size) throw std::invalid_argument("resident_blocks: a place beyond the table");
      sum += static_cast<double>(*std::max_element(table + at, table + at + wide));
    }
    sums[thread] = static_cast<float>(sum);
  }
}

void resident_blocks_narrow(const Arguments& arguments, Dim3 grid, Dim3 block) {
  resident_blocks(arguments, grid, block, 1);
}

void resident_blocks_wide(const Arguments& arguments, Dim3 grid, Dim3 block) {
  resident_blocks(arguments, grid, block, 4);
}

const Registration kRegistered{
    {"resident_sum", resident_sum},
    {"resident_blocks_narrow", resident_blocks_narrow},
    {"resident_blocks_wide", resident_blocks_wide},
};

}  // namespace
}  // namespace foretrace::references
