#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

using Word = std::uint32_t;  // int with sums modulo 2^32, as the machine has them

void scan_hillis_steele(const Arguments& arguments, Dim3, Dim3 block) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* in = arguments[0].elements<Word>(n);
  auto* out = arguments[1].elements<Word>(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = in[i] + (i % block.x == 0 ? 0 : out[i - 1]);
}

void scan_blelloch(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const auto* in = arguments[0].elements<Word>(n);
  auto* out = arguments[1].elements<Word>(n);
  auto* totals = arguments[2].elements<Word>(grid.x);
  const std::size_t piece = 2 * std::size_t{block.x};
  for (std::size_t b = 0; b < grid.x; ++b) {
    Word sum = 0;
    for (std::size_t i = b * piece; i < std::min(n, (b + 1) * piece); ++i) {
      out[i] = sum;
      sum += in[i];
    }
    totals[b] = sum;
  }
}

void scan_warp(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const auto* in = arguments[0].elements<Word>(n);
  auto* out = arguments[1].elements<Word>(n);
  auto* totals = arguments[2].elements<Word>(grid.x);
  const std::size_t piece = 4 * std::size_t{block.x};
  for (std::size_t b = 0; b < grid.x; ++b) {
    Word sum = 0;
    for (std::size_t i = b * piece; i < std::min(n, (b + 1) * piece); ++i) out[i] = sum += in[i];
    totals[b] = sum;
  }
}

void scan_add_totals(const Arguments& arguments, Dim3, Dim3 block) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  auto* out = arguments[0].elements<Word>(n);
  const std::size_t piece = 4 * std::size_t{block.x};
  const auto* totals = arguments[1].elements<Word>((n - 1) / piece);
  for (std::size_t i = piece; i < n; ++i) out[i] += totals[i / piece - 1];
}

const Registration kRegistered{
    {"scan_add_totals", scan_add_totals},
    {"scan_blelloch", scan_blelloch},
    {"scan_hillis_steele", scan_hillis_steele},
    {"scan_warp", scan_warp},
};

}  // namespace
}  // namespace foretrace::references
