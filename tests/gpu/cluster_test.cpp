// Clusters: how many run at a time, and where the dispatcher puts their blocks.

#include <gtest/gtest.h>

#include <algorithm>

#include "model/config/load.h"
#include "model/gpu/dispatcher.h"
#include "model/gpu/gpu.h"
#include "model/rules/clusters.h"

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

TEST(Clusters, ArePlacedAtOnceInOneGpc) {
  const spec::GpuSpec chip = h100();
  const auto groups = rules::cluster_groups(chip);
  for (const std::uint32_t size : {2u, 4u, 8u, 16u}) {
    const auto most = static_cast<std::uint32_t>(rules::max_active_clusters(chip, 1, size));
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

TEST(Clusters, GoToGpcsWhoseSmsHaveTheFewestBlocks) {
  const spec::GpuSpec chip = h100();
  std::size_t sms = 0;
  for (const auto& group : rules::cluster_groups(chip)) sms += group.size();
  // Two rounds in which every SM that takes clusters gets a block, though GPCs are not equally large.
  gpu::Dispatcher dispatcher(chip, setup_of({static_cast<std::uint32_t>(2 * sms), 1, 1}, {2, 1, 1}, 4));
  std::vector<int> blocks(chip.sm.count);
  gpu::Dispatcher::Placement placement;
  for (std::size_t i = 0; i < 2 * sms; ++i) {
    ASSERT_TRUE(dispatcher.next(kNever, placement)) << i;
    EXPECT_LE(++blocks[placement.sm], i < sms ? 1 : 2) << i;
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
