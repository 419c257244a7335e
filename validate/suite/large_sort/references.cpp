#include "validate/kernels/references.h"

#include <functional>
#include <numeric>

namespace foretrace::references {
namespace {

void sort_tiles(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 1);
  auto* keys = arguments[0].elements<std::uint32_t>(grid.x * std::size_t{1024});
  for (std::size_t b = 0; b < grid.x; ++b, keys += 1024) {
    if (b % 2 == 0) {
      std::sort(keys, keys + 1024);
    } else {
      std::sort(keys, keys + 1024, std::greater<>());
    }
  }
}

void exchange_all(std::uint32_t* keys, std::size_t n, std::size_t size, std::size_t step) {
  for (std::size_t low = 0; low < n; ++low) {
    if ((low & step) != 0) continue;
    const bool up = (low & size) == 0;
    if ((keys[low] > keys[low + step]) == up) std::swap(keys[low], keys[low + step]);
  }
}

void exchange_far(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 3);
  const std::size_t n = std::size_t{2} * grid.x * block.x;
  exchange_all(arguments[0].elements<std::uint32_t>(n), n, arguments[1].value<std::uint32_t>(),
               arguments[2].value<std::uint32_t>());
}

void merge_tiles(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 2);
  const std::size_t n = grid.x * std::size_t{1024};
  auto* keys = arguments[0].elements<std::uint32_t>(n);
  for (std::size_t step = 512; step > 0; step /= 2)
    exchange_all(keys, n, arguments[1].value<std::uint32_t>(), step);
}

constexpr std::size_t kKeys = 4096;

void digit_count(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  const std::size_t shift = count_of(arguments[2]);
  const auto* keys = arguments[0].elements<std::uint32_t>(grid.x * kKeys);
  auto* counts = arguments[1].elements<std::uint32_t>(grid.x * std::size_t{256});
  std::fill(counts, counts + grid.x * std::size_t{256}, 0u);
  for (std::size_t i = 0; i < grid.x * kKeys; ++i) ++counts[(keys[i] >> shift & 255) * grid.x + i / kKeys];
}

void digit_places(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 2);
  const std::size_t size = count_of(arguments[1]);
  auto* counts = arguments[0].elements<std::uint32_t>(size);
  std::exclusive_scan(counts, counts + size, counts, 0u);
}

void digit_scatter(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t shift = count_of(arguments[3]);
  const auto* keys = arguments[0].elements<std::uint32_t>(grid.x * kKeys);
  const auto* places = arguments[1].elements<std::uint32_t>(grid.x * std::size_t{256});
  auto* out = arguments[2].elements<std::uint32_t>(grid.x * kKeys);
  std::vector<std::uint32_t> next(places, places + grid.x * std::size_t{256});
  for (std::size_t i = 0; i < grid.x * kKeys; ++i) {
    const std::size_t to = next[(keys[i] >> shift & 255) * grid.x + i / kKeys]++;
    if (to >= grid.x * kKeys) throw std::invalid_argument("digit_scatter: a place beyond the keys");
    out[to] = keys[i];
  }
}

const Registration kRegistered{
    {"sort_tiles", sort_tiles},   {"exchange_far", exchange_far}, {"merge_tiles", merge_tiles},
    {"digit_count", digit_count}, {"digit_places", digit_places}, {"digit_scatter", digit_scatter},
};

}  // namespace
}  // namespace foretrace::references
