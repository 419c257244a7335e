#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

// By rows, where the kernel goes by anti-diagonals.
void smith_waterman(const Arguments& arguments, Dim3 grid, Dim3) {
  constexpr std::size_t kLength = 128;
  need(arguments, 4);
  const std::size_t length = count_of(arguments[3]);
  const auto* first = arguments[0].elements<std::uint8_t>(grid.x * kLength);
  const auto* second = arguments[1].elements<std::uint8_t>(grid.x * length);
  auto* best = arguments[2].elements<std::int32_t>(grid.x);
  std::vector<std::int32_t> row(length + 1);
  for (std::size_t pair = 0; pair < grid.x; ++pair) {
    std::fill(row.begin(), row.end(), 0);
    std::int32_t largest = 0;
    for (std::size_t i = 0; i < kLength; ++i) {
      std::int32_t diagonal = 0;
      for (std::size_t j = 1; j <= length; ++j) {
        const bool same = first[pair * kLength + i] % 4 == second[pair * length + j - 1] % 4;
        const std::int32_t score = std::max({0, diagonal + (same ? 3 : -2), row[j - 1] - 2, row[j] - 2});
        diagonal = row[j];
        row[j] = score;
        largest = std::max(largest, score);
      }
    }
    best[pair] = largest;
  }
}

void step(std::int32_t* distance, std::size_t n, std::size_t via) {
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      distance[from * n + to] =
          std::min(distance[from * n + to], distance[from * n + via] + distance[via * n + to]);
    }
  }
}

void floyd_step(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[1]);
  step(arguments[0].elements<std::int32_t>(n * n), n, count_of(arguments[2]));
}

void floyd_block(const Arguments& arguments, Dim3 grid, Dim3) {
  constexpr std::size_t kVertices = 64;
  need(arguments, 2);
  const auto* graphs = arguments[0].elements<std::int32_t>(grid.x * kVertices * kVertices);
  auto* distances = arguments[1].elements<std::int32_t>(grid.x * kVertices * kVertices);
  std::copy(graphs, graphs + grid.x * kVertices * kVertices, distances);
  for (std::size_t block = 0; block < grid.x; ++block, distances += kVertices * kVertices) {
    for (std::size_t via = 0; via < kVertices; ++via) step(distances, kVertices, via);
  }
}

// With the whole table.
void edit_distance(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t pairs = count_of(arguments[3]);
  const std::size_t length = count_of(arguments[4]);
  const auto* first = arguments[0].elements<std::uint8_t>(pairs * length);
  const auto* second = arguments[1].elements<std::uint8_t>(pairs * length);
  auto* distance = arguments[2].elements<std::int32_t>(pairs);
  const std::size_t width = length + 1;
  std::vector<std::int32_t> table(width * width);
  for (std::size_t pair = 0; pair < pairs; ++pair, first += length, second += length) {
    for (std::size_t i = 0; i < width; ++i) {
      table[i] = static_cast<std::int32_t>(i);
      table[i * width] = static_cast<std::int32_t>(i);
    }
    for (std::size_t i = 1; i < width; ++i) {
      for (std::size_t j = 1; j < width; ++j) {
        const std::size_t at = i * width + j;
        const std::int32_t replaced = table[at - width - 1] + (first[i - 1] % 8 == second[j - 1] % 8 ? 0 : 1);
        table[at] = std::min({replaced, table[at - 1] + 1, table[at - width] + 1});
      }
    }
    distance[pair] = table[width * width - 1];
  }
}

void path_rows(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t rows = count_of(arguments[0]);
  const std::size_t cols = count_of(arguments[4]);
  const auto* wall = arguments[1].elements<std::int32_t>(rows * cols);
  const auto* start = arguments[2].elements<std::int32_t>(cols);
  auto* after = arguments[3].elements<std::int32_t>(cols);
  std::vector<std::int32_t> before(start, start + cols);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      const auto first = before.begin() + static_cast<std::ptrdiff_t>(col == 0 ? 0 : col - 1);
      const auto end = before.begin() + static_cast<std::ptrdiff_t>(std::min(col + 2, cols));
      after[col] = *std::min_element(first, end) + wall[row * cols + col];
    }
    before.assign(after, after + cols);
  }
}

/// The tiles of one diagonal; a tile is as wide as the block.
void align_tiles(const Arguments& arguments, Dim3 grid, Dim3 block) {
  need(arguments, 5);
  const std::size_t size = count_of(arguments[2]);
  const std::size_t diagonal = count_of(arguments[3]);
  const std::size_t pitch = size + 1;
  const auto penalty = arguments[4].value<std::int32_t>();
  const auto* substitution = arguments[0].elements<std::int32_t>(grid.y * size * size);
  auto* score = arguments[1].elements<std::int32_t>(grid.y * pitch * pitch);
  for (std::size_t pair = 0; pair < grid.y; ++pair) {
    const std::int32_t* costs = substitution + pair * size * size;
    std::int32_t* scores = score + pair * pitch * pitch;
    for (std::size_t tile = 0; tile < grid.x; ++tile) {
      for (std::size_t row = (diagonal - tile) * block.x; row < (diagonal - tile + 1) * block.x; ++row) {
        for (std::size_t col = tile * block.x; col < (tile + 1) * block.x; ++col) {
          const std::int32_t* above = scores + row * pitch + col;
          const std::int32_t gap = std::max(above[1], above[pitch]) - penalty;
          scores[(row + 1) * pitch + col + 1] = std::max(above[0] + costs[row * size + col], gap);
        }
      }
    }
  }
}

const Registration kDynamicProgramming{
    {"smith_waterman", smith_waterman}, {"floyd_step", floyd_step}, {"floyd_block", floyd_block},
    {"edit_distance", edit_distance},   {"path_rows", path_rows},   {"align_tiles", align_tiles},
};

}  // namespace
}  // namespace foretrace::references
