#include "validate/kernels/references.h"

#include <numeric>

namespace foretrace::references {
namespace {

void scan_pieces(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 3);
  const auto* in = arguments[0].elements<std::uint32_t>(grid.x * std::size_t{2048});
  auto* out = arguments[1].elements<std::uint32_t>(grid.x * std::size_t{2048});
  auto* totals = arguments[2].elements<std::uint32_t>(grid.x);
  for (std::size_t b = 0; b < grid.x; ++b, in += 2048, out += 2048) {
    std::partial_sum(in, in + 2048, out);
    totals[b] = out[2047];
  }
}

void scan_totals(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 2);
  const std::size_t pieces = count_of(arguments[1]);
  auto* totals = arguments[0].elements<std::uint32_t>(pieces);
  std::partial_sum(totals, totals + pieces, totals);
}

void add_totals(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 2);
  auto* out = arguments[0].elements<std::uint32_t>(grid.x * std::size_t{2048});
  const auto* totals = arguments[1].elements<std::uint32_t>(grid.x);
  for (std::size_t i = 2048; i < grid.x * std::size_t{2048}; ++i) out[i] += totals[i / 2048 - 1];
}

const Registration kRegistered{
    {"scan_pieces", scan_pieces},
    {"scan_totals", scan_totals},
    {"add_totals", add_totals},
};

}  // namespace
}  // namespace foretrace::references
