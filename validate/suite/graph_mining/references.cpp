#include "validate/kernels/references.h"

#include <iterator>
#include <utility>

namespace foretrace::references {
namespace {

/// The neighbours of each vertex: those of v are at first[v] to first[v + 1] of a list.
const std::int32_t* starts_of(const ArgumentView& argument, std::size_t vertices) {
  return argument.elements<std::int32_t>(vertices + 1);
}

void sort_lists(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t vertices = count_of(arguments[2]);
  const auto* first = starts_of(arguments[0], vertices);
  auto* to = static_cast<std::int32_t*>(arguments[1].data);
  for (std::size_t v = 0; v < vertices; ++v) std::sort(to + first[v], to + first[v + 1]);
}

void triangle_count(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t edges = count_of(arguments[6]);
  const auto* first = static_cast<const std::int32_t*>(arguments[0].data);
  const auto* to = static_cast<const std::int32_t*>(arguments[1].data);
  const auto* edge_a = arguments[2].elements<std::int32_t>(edges);
  const auto* edge_b = arguments[3].elements<std::int32_t>(edges);
  auto* common = arguments[4].elements<std::int32_t>(edges);
  auto* total = arguments[5].elements<std::uint64_t>(1);
  for (std::size_t e = 0; e < edges; ++e) {
    // A number that both lists have several times counts as often as the list that has it less often.
    std::vector<std::int32_t> both;
    std::set_intersection(to + first[edge_a[e]], to + first[edge_a[e] + 1], to + first[edge_b[e]],
                          to + first[edge_b[e] + 1], std::back_inserter(both));
    common[e] = static_cast<std::int32_t>(both.size());
    *total += both.size();
  }
}

std::uint32_t priority(std::uint32_t v) {
  v = (v ^ 61u) ^ v >> 16;
  v *= 9u;
  v ^= v >> 4;
  v *= 0x27d4eb2du;
  return v ^ v >> 15;
}

void colour_step(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t vertices = count_of(arguments[5]);
  const auto* first = starts_of(arguments[0], vertices);
  const auto* to = static_cast<const std::int32_t*>(arguments[1].data);
  const auto* before = arguments[2].elements<std::int32_t>(vertices);
  auto* after = arguments[3].elements<std::int32_t>(vertices);
  auto* left = arguments[4].elements<std::int32_t>(1);
  const auto rank = [](std::int32_t v) { return std::pair(priority(static_cast<std::uint32_t>(v)), v); };
  for (std::size_t i = 0; i < vertices; ++i) {
    const auto v = static_cast<std::int32_t>(i);
    after[i] = before[i];
    if (before[i] >= 0) continue;
    const std::int32_t *begin = to + first[i], *end = to + first[i + 1];
    const bool waits =
        std::any_of(begin, end, [&](std::int32_t u) { return before[u] < 0 && rank(u) > rank(v); });
    if (waits) {
      ++*left;
      continue;
    }
    std::int32_t colour = 0;
    while (std::any_of(begin, end, [&](std::int32_t u) { return before[u] == colour; })) ++colour;
    after[i] = colour;
  }
}

void label_votes(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t vertices = count_of(arguments[4]);
  const auto* first = starts_of(arguments[0], vertices);
  const auto* to = static_cast<const std::int32_t*>(arguments[1].data);
  const auto* label = arguments[2].elements<std::int32_t>(vertices);
  auto* next = arguments[3].elements<std::int32_t>(vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    std::int32_t counts[64] = {};
    for (std::int32_t e = first[v]; e < first[v + 1]; ++e) ++counts[label[to[e]]];
    next[v] = static_cast<std::int32_t>(std::max_element(counts, counts + 64) - counts);
  }
}

const Registration kRegistered{
    {"sort_lists", sort_lists},
    {"triangle_count", triangle_count},
    {"colour_step", colour_step},
    {"label_votes", label_votes},
};

}  // namespace
}  // namespace foretrace::references
