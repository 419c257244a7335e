#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

std::size_t below(std::uint32_t index, std::size_t size) {
  if (index >= size) throw std::invalid_argument("graph_steps: an index beyond its buffer");
  return index;
}

void search_level(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t nodes = count_of(arguments[3]);
  const std::int32_t current = arguments[4].value<std::int32_t>();
  const auto* first = arguments[0].elements<std::uint32_t>(nodes + 1);
  const std::size_t edges = arguments[1].bytes / sizeof(std::uint32_t);
  const auto* to = arguments[1].elements<std::uint32_t>(edges);
  auto* level = arguments[2].elements<std::int32_t>(nodes);
  for (std::size_t v = 0; v < nodes; ++v) {
    if (level[v] != current) continue;
    for (std::uint32_t e = first[v]; e < first[v + 1]; ++e) {
      std::int32_t& there = level[below(to[below(e, edges)], nodes)];
      there = std::min(there, current + 1 > there ? there : current + 1);
    }
  }
}

void rank_step(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t nodes = count_of(arguments[4]);
  const double base = static_cast<double>(arguments[5].value<float>());
  const auto* first = arguments[0].elements<std::uint32_t>(nodes + 1);
  const std::size_t edges = arguments[1].bytes / sizeof(std::uint32_t);
  const auto* from = arguments[1].elements<std::uint32_t>(edges);
  const auto* given = arguments[2].elements<float>(nodes);
  auto* rank = arguments[3].elements<float>(nodes);
  for (std::size_t v = 0; v < nodes; ++v) {
    double sum = 0;
    for (std::uint32_t e = first[v]; e < first[v + 1]; ++e) {
      sum += static_cast<double>(given[below(from[below(e, edges)], nodes)]);
    }
    rank[v] = static_cast<float>(base + 0.85 * sum);
  }
}

void relax_edges(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t edges = count_of(arguments[5]);
  const std::size_t nodes = arguments[3].bytes / sizeof(std::uint32_t);
  const auto* from = arguments[0].elements<std::uint32_t>(edges);
  const auto* to = arguments[1].elements<std::uint32_t>(edges);
  const auto* weight = arguments[2].elements<std::uint32_t>(edges);
  const auto* distance = arguments[3].elements<std::uint32_t>(nodes);
  auto* next = arguments[4].elements<std::uint32_t>(nodes);
  for (std::size_t e = 0; e < edges; ++e) {
    const std::uint32_t around = distance[below(from[e], nodes)] + weight[e];
    const std::size_t target = below(to[e], nodes);
    if (around < distance[target]) next[target] = std::min(next[target], around);
  }
}

const Registration kRegistered{
    {"search_level", search_level},
    {"rank_step", rank_step},
    {"relax_edges", relax_edges},
};

}  // namespace
}  // namespace foretrace::references
