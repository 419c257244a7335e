// Clusters: how many run at a time, and where the dispatcher puts their blocks.

#include <gtest/gtest.h>

#include <algorithm>

#include "model/config/load.h"
#include "model/gpu/dispatcher.h"
#include "model/gpu/gpu.h"

namespace foretrace::gpu_tests {
namespace {

spec::GpuSpec h100() { return config::load_gpu("h100-sxm").spec; }

gpu::LaunchSetup setup_of(std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> cluster,
                          std::uint32_t blocks_per_sm) {
  gpu::LaunchSetup setup;
  setup.grid = grid;
  setup.cluster = cluster;
  setup.blocks = std::uint64_t{grid[0]} * grid[1] * grid[2];
  setup.blocks_per_sm = blocks_per_sm;
  setup.warps = 4;
  return setup;
}

TEST(Clusters, AsManyRunAtATimeAsTheDeviceSays) {
  // cudaOccupancyMaxActiveClusters (validate/measurements/h100-sxm-tensor-microbenchmarks.json, max_active_clusters).
  struct Row {
    std::uint32_t blocks_per_sm;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> clusters;
  };
  const Row rows[] = {
      {1,
       {{1, 132},
        {2, 66},
        {3, 39},
        {4, 30},
        {5, 22},
        {6, 17},
        {7, 15},
        {8, 15},
        {10, 7},
        {12, 7},
        {14, 7},
        {16, 7}}},
      {2,
       {{1, 264},
        {2, 132},
        {3, 79},
        {4, 62},
        {5, 47},
        {6, 39},
        {7, 32},
        {8, 30},
        {10, 21},
        {12, 16},
        {14, 14},
        {16, 14}}},
      {3,
       {{1, 396},
        {2, 198},
        {3, 124},
        {4, 92},
        {5, 69},
        {6, 62},
        {7, 47},
        {8, 45},
        {10, 30},
        {12, 28},
        {14, 21},
        {16, 21}}},
      {4,
       {{1, 528},
        {2, 264},
        {3, 163},
        {4, 124},
        {5, 94},
        {6, 79},
        {7, 69},
        {8, 62},
        {10, 44},
        {12, 37},
        {14, 30},
        {16, 28}}},
      {5,
       {{1, 660},
        {2, 330},
        {3, 203},
        {4, 154},
        {5, 124},
        {6, 101},
        {7, 84},
        {8, 77},
        {10, 58},
        {12, 44},
        {14, 37},
        {16, 35}}},
      {6,
       {{1, 792},
        {2, 396},
        {3, 248},
        {4, 186},
        {5, 146},
        {6, 124},
        {7, 101},
        {8, 92},
        {10, 65},
        {12, 58},
        {14, 44},
        {16, 42}}},
      {32,
       {{1, 1056},
        {2, 528},
        {3, 327},
        {4, 248},
        {5, 193},
        {6, 163},
        {7, 139},
        {8, 124},
        {10, 88},
        {12, 74},
        {14, 65},
        {16, 58}}},
  };
  const spec::GpuSpec chip = h100();
  for (const Row& row : rows) {
    for (const auto& [size, clusters] : row.clusters) {
      EXPECT_EQ(gpu::max_active_clusters(chip, row.blocks_per_sm, size), clusters)
          << row.blocks_per_sm << " blocks per SM, clusters of " << size;
    }
  }
}

TEST(Clusters, HaveTheSmsThatTheDeviceGaveThem) {
  const auto groups = gpu::cluster_groups(h100());
  ASSERT_EQ(groups.size(), 12u);
  EXPECT_EQ(groups[0], (std::vector<std::uint32_t>{0, 1, 16, 17, 32, 33, 48, 49}));
  EXPECT_EQ(groups[1],
            (std::vector<std::uint32_t>{2, 3, 18, 19, 34, 35, 50, 51, 64, 65, 78, 79, 92, 93, 106, 107}));
  EXPECT_EQ(groups[6].back(), 121u);
  EXPECT_EQ(groups[7].back(), 123u);
  EXPECT_EQ(groups[11], (std::vector<std::uint32_t>{130, 131}));
}

TEST(Clusters, ArePlacedAtOnceInOneGpc) {
  const spec::GpuSpec chip = h100();
  const auto groups = gpu::cluster_groups(chip);
  for (const std::uint32_t size : {2u, 4u, 8u, 16u}) {
    const auto most = static_cast<std::uint32_t>(gpu::max_active_clusters(chip, 1, size));
    gpu::Dispatcher dispatcher(chip, setup_of({most * size, 1, 1}, {size, 1, 1}, 1));
    std::vector<int> blocks(chip.sm.count);
    gpu::Dispatcher::Placement first, placement;
    for (std::uint32_t i = 0; i < most * size; ++i) {
      ASSERT_TRUE(dispatcher.next(kNever, placement)) << i;
      if (placement.rank == 0) first = placement;
      EXPECT_EQ(placement.block, i);
      EXPECT_EQ(placement.rank, i % size);
      EXPECT_EQ(placement.start, first.start);
      EXPECT_EQ(placement.places, first.places);
      EXPECT_EQ(placement.sm, first.places[placement.rank]);
      EXPECT_EQ(++blocks[placement.sm], 1) << "one block per SM";
      EXPECT_TRUE(std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
        const auto holds = [&](std::uint32_t sm) {
          return std::find(group.begin(), group.end(), sm) != group.end();
        };
        return holds(first.sm) && holds(placement.sm);
      }));
    }
    EXPECT_FALSE(dispatcher.next(kNever, placement));
    EXPECT_EQ(dispatcher.left(), 0u);
  }
}

TEST(Clusters, WaitUntilAllTheirBlocksHaveRoom) {
  const spec::GpuSpec chip = h100();
  gpu::Dispatcher dispatcher(chip, setup_of({8 * 16, 1, 1}, {16, 1, 1}, 1));  // seven fit
  gpu::Dispatcher::Placement placement;
  std::vector<std::uint32_t> places;
  for (int i = 0; i < 7 * 16; ++i) {
    ASSERT_TRUE(dispatcher.next(kNever, placement));
    if (placement.cluster == 0) places = placement.places;
  }
  EXPECT_FALSE(dispatcher.next(kNever, placement));
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_FALSE(dispatcher.next(100000, placement)) << i << " of its SMs have room";
    for (int warp = 0; warp < 4; ++warp) dispatcher.ended(places[i], 50000 + i, warp == 3);
  }
  ASSERT_TRUE(dispatcher.next(100000, placement));
  EXPECT_EQ(placement.cluster, 7u);
}

TEST(Clusters, OfSeveralDimensionsHaveTheirBlocksInOrderOfRank) {
  gpu::Dispatcher dispatcher(h100(), setup_of({4, 4, 1}, {2, 2, 1}, 1));
  std::vector<std::uint64_t> blocks;
  for (gpu::Dispatcher::Placement placement; dispatcher.next(kNever, placement);)
    blocks.push_back(placement.block);
  EXPECT_EQ(blocks, (std::vector<std::uint64_t>{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}));
}

}  // namespace
}  // namespace foretrace::gpu_tests
