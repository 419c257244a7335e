#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void binary_search(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t n = count_of(arguments[3]);
  const std::size_t count = count_of(arguments[4]);
  const auto* keys = arguments[0].elements<std::uint32_t>(n);
  const auto* queries = arguments[1].elements<std::uint32_t>(count);
  auto* places = arguments[2].elements<std::int32_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    places[i] = static_cast<std::int32_t>(std::lower_bound(keys, keys + n, queries[i]) - keys);
  }
}

// A node is a feature and a threshold, four bytes each.
void forest_split(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const auto* feature = arguments[0].elements<std::uint32_t>(n);
  const auto* threshold = arguments[1].elements<std::uint32_t>(n);
  auto* nodes = arguments[2].elements<std::uint32_t>(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    nodes[2 * i] = feature[i];
    nodes[2 * i + 1] = threshold[i];
  }
}

void forest_walk(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t count = count_of(arguments[4]);
  const std::size_t trees = count_of(arguments[5]);
  const std::size_t depth = count_of(arguments[6]);
  const std::size_t inner = (std::size_t{1} << depth) - 1;
  const auto* nodes = arguments[0].elements<std::uint32_t>(2 * trees * inner);
  const auto* votes = arguments[1].elements<std::int32_t>(trees * (inner + 1));
  const auto* samples = arguments[2].elements<float>(arguments[2].bytes / sizeof(float));
  auto* score = arguments[3].elements<std::int32_t>(count);
  for (std::size_t s = 0; s < count; ++s) {
    std::int32_t sum = 0;
    for (std::size_t t = 0; t < trees; ++t) {
      std::size_t at = 0;
      for (std::size_t d = 0; d < depth; ++d) {
        const std::uint32_t* node = nodes + 2 * (t * inner + at);
        float threshold = 0;
        std::memcpy(&threshold, node + 1, sizeof(threshold));
        at = 2 * at + (samples[node[0] * count + s] < threshold ? 1 : 2);
      }
      sum += votes[t * (inner + 1) + (at - inner)];
    }
    score[s] = sum;
  }
}

const Registration kRegistered{
    {"binary_search", binary_search},
    {"forest_split", forest_split},
    {"forest_walk", forest_walk},
};

}  // namespace
}  // namespace foretrace::references
