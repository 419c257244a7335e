#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void bitonic_shared(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 1);
  constexpr std::size_t kPiece = 1024;
  auto* keys = arguments[0].elements<std::uint32_t>(grid.x * kPiece);
  for (std::size_t b = 0; b < grid.x; ++b) std::sort(keys + b * kPiece, keys + (b + 1) * kPiece);
}

void bitonic_global(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t pairs = count_of(arguments[1]);
  const std::size_t stride = count_of(arguments[2]);
  const std::size_t size = count_of(arguments[3]);
  auto* keys = arguments[0].elements<std::uint32_t>(2 * pairs);
  for (std::size_t i = 0; i < 2 * pairs; ++i) {
    const std::size_t other = i ^ stride;
    if (other < i) continue;
    const bool ascending = (i & size) == 0;
    if ((keys[i] > keys[other]) == ascending) std::swap(keys[i], keys[other]);
  }
}

constexpr std::size_t kPiece = 2048;  // keys of a block in a radix pass
constexpr std::size_t kDigits = 16;

void radix_count(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[2]);
  const auto shift = arguments[3].value<std::int32_t>();
  const auto* keys = arguments[0].elements<std::uint32_t>(n);
  auto* counts = arguments[1].elements<std::uint32_t>(kDigits * grid.x);
  std::fill(counts, counts + kDigits * grid.x, 0u);
  for (std::size_t i = 0; i < n; ++i) ++counts[(keys[i] >> shift & (kDigits - 1)) * grid.x + i / kPiece];
}

void radix_scan(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 2);
  const std::size_t n = count_of(arguments[1]);
  auto* counts = arguments[0].elements<std::uint32_t>(n);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t own = counts[i];
    counts[i] = sum;
    sum += own;
  }
}

void radix_scatter(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[3]);
  const auto shift = arguments[4].value<std::int32_t>();
  const auto* keys = arguments[0].elements<std::uint32_t>(n);
  auto* sorted = arguments[2].elements<std::uint32_t>(n);
  std::copy(keys, keys + n, sorted);
  std::stable_sort(sorted, sorted + n, [&](std::uint32_t a, std::uint32_t b) {
    return (a >> shift & (kDigits - 1)) < (b >> shift & (kDigits - 1));
  });
}

void merge_lists(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t a_count = count_of(arguments[1]);
  const std::size_t b_count = count_of(arguments[3]);
  const auto* a = arguments[0].elements<std::int32_t>(a_count);
  const auto* b = arguments[2].elements<std::int32_t>(b_count);
  std::merge(a, a + a_count, b, b + b_count, arguments[4].elements<std::int32_t>(a_count + b_count));
}

const Registration kRegistered{
    {"bitonic_global", bitonic_global}, {"bitonic_shared", bitonic_shared}, {"radix_count", radix_count},
    {"radix_scan", radix_scan},         {"radix_scatter", radix_scatter},   {"merge_lists", merge_lists},
};

}  // namespace
}  // namespace foretrace::references
