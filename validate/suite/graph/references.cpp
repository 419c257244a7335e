#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

const std::int32_t* edges_of(const ArgumentView& neighbours, const std::int32_t* start,
                             std::size_t vertices) {
  return neighbours.elements<std::int32_t>(static_cast<std::size_t>(start[vertices]));
}

void bfs_level(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t vertices = count_of(arguments[4]);
  const auto current = arguments[5].value<std::int32_t>();
  const auto* start = arguments[0].elements<std::int32_t>(vertices + 1);
  const auto* neighbour = edges_of(arguments[1], start, vertices);
  auto* level = arguments[2].elements<std::int32_t>(vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    if (level[v] != current) continue;
    for (std::int32_t e = start[v]; e < start[v + 1]; ++e) {
      if (level[neighbour[e]] >= 0) continue;
      level[neighbour[e]] = current + 1;
      *arguments[3].elements<std::int32_t>(1) = 1;
    }
  }
}

void bfs_queue(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t length = count_of(arguments[6]);
  const auto next_level = arguments[7].value<std::int32_t>();
  const std::size_t vertices = arguments[3].bytes / sizeof(std::int32_t);
  const auto* start = arguments[0].elements<std::int32_t>(vertices + 1);
  const auto* neighbour = edges_of(arguments[1], start, vertices);
  const auto* frontier = arguments[2].elements<std::int32_t>(length);
  auto* level = arguments[3].elements<std::int32_t>(vertices);
  auto* next = arguments[4].elements<std::int32_t>(vertices);
  auto* next_length = arguments[5].elements<std::int32_t>(1);
  for (std::size_t q = 0; q < length; ++q) {
    for (std::int32_t e = start[frontier[q]]; e < start[frontier[q] + 1]; ++e) {
      if (level[neighbour[e]] >= 0) continue;
      level[neighbour[e]] = next_level;
      next[(*next_length)++] = neighbour[e];
    }
  }
}

void page_rank(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t vertices = count_of(arguments[5]);
  const auto damping = static_cast<double>(arguments[6].value<float>());
  const auto* start = arguments[0].elements<std::int32_t>(vertices + 1);
  const auto* predecessor = edges_of(arguments[1], start, vertices);
  const auto* rank = arguments[2].elements<float>(vertices);
  const auto* degree = arguments[3].elements<std::int32_t>(vertices);
  auto* result = arguments[4].elements<float>(vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    double sum = 0;
    for (std::int32_t e = start[v]; e < start[v + 1]; ++e) {
      sum += static_cast<double>(rank[predecessor[e]]) / degree[predecessor[e]];
    }
    result[v] = static_cast<float>((1 - damping) / static_cast<double>(vertices) + damping * sum);
  }
}

std::int32_t root_of(const std::int32_t* parent, std::int32_t vertex) {
  while (parent[vertex] != vertex) vertex = parent[vertex];
  return vertex;
}

// One edge after the other: the same roots in the end, if not the same ways to them.
void union_edges(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t edges = count_of(arguments[4]);
  const auto* from = arguments[0].elements<std::int32_t>(edges);
  const auto* to = arguments[1].elements<std::int32_t>(edges);
  auto* parent = arguments[2].elements<std::int32_t>(arguments[2].bytes / sizeof(std::int32_t));
  auto* joined = arguments[3].elements<std::int32_t>(1);
  for (std::size_t e = 0; e < edges; ++e) {
    const std::int32_t a = root_of(parent, from[e]), b = root_of(parent, to[e]);
    if (a == b) continue;
    parent[std::max(a, b)] = std::min(a, b);
    ++*joined;
  }
}

void component_roots(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t vertices = count_of(arguments[2]);
  const auto* parent = arguments[0].elements<std::int32_t>(vertices);
  auto* label = arguments[1].elements<std::int32_t>(vertices);
  for (std::size_t v = 0; v < vertices; ++v) label[v] = root_of(parent, static_cast<std::int32_t>(v));
}

const Registration kRegistered{
    {"bfs_level", bfs_level},
    {"bfs_queue", bfs_queue},
    {"page_rank", page_rank},
    {"union_edges", union_edges},
    {"component_roots", component_roots},
};

}  // namespace
}  // namespace foretrace::references
