#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void pointer_chase(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 3);
  const std::size_t places = arguments[0].bytes / sizeof(std::uint32_t);
  const std::size_t threads = std::size_t{grid.x} * block.x;
  const auto* next = arguments[0].elements<std::uint32_t>(places);
  auto* last = arguments[1].elements<std::uint32_t>(threads);
  const std::size_t steps = count_of(arguments[2]);
  for (std::size_t i = 0; i < threads; ++i) {
    std::size_t place = i;
    for (std::size_t s = 0; s < std::max<std::size_t>(steps, 1); ++s) place = next[place];
    last[i] = static_cast<std::uint32_t>(place);
  }
}

constexpr std::size_t kNodeWords = 4;  // next, number, two unused

void list_link(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* next = arguments[0].elements<std::uint32_t>(n);
  auto* nodes = arguments[1].elements<std::uint32_t>(kNodeWords * n);
  for (std::size_t i = 0; i < n; ++i) {
    nodes[kNodeWords * i] = next[i];
    nodes[kNodeWords * i + 1] = static_cast<std::uint32_t>(i) * 2654435761u;
    nodes[kNodeWords * i + 2] = nodes[kNodeWords * i + 3] = 0;
  }
}

void list_sum(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t lists = count_of(arguments[3]);
  const std::size_t steps = count_of(arguments[4]);
  const auto* nodes = arguments[0].elements<std::uint32_t>(arguments[0].bytes / sizeof(std::uint32_t));
  const auto* heads = arguments[1].elements<std::uint32_t>(lists);
  auto* sums = arguments[2].elements<std::uint32_t>(lists);
  for (std::size_t i = 0; i < lists; ++i) {
    std::size_t at = heads[i];
    std::uint32_t sum = 0;
    for (std::size_t s = 0; s < steps; ++s) {
      sum += nodes[kNodeWords * at + 1];
      at = nodes[kNodeWords * at];
    }
    sums[i] = sum;
  }
}

const Registration kRegistered{
    {"list_link", list_link},
    {"list_sum", list_sum},
    {"pointer_chase", pointer_chase},
};

}  // namespace
}  // namespace foretrace::references
