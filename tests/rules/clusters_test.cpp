// How many clusters run at a time, against every answer of cudaOccupancyMaxActiveClusters that was asked of an H100, and on which SMs.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "model/config/load.h"
#include "model/rules/clusters.h"
#include "model/rules/occupancy.h"

namespace foretrace::rules {
namespace {

const std::string kRoot = FORETRACE_SOURCE_DIR;

spec::GpuSpec chip(const char* name) { return config::load_gpu(name, {}, {}, kRoot + "/configs").spec; }

TEST(Clusters, AsManyRunAtATimeAsTheDeviceSays) {
  std::ifstream file(kRoot + "/validate/measurements/h100-sxm-tensor-microbenchmarks.json");
  const nlohmann::json document = nlohmann::json::parse(file);
  const spec::GpuSpec h100 = chip("h100-sxm");
  int asked = 0;
  for (const nlohmann::json& answer : document.at("answers")) {
    if (answer.at("benchmark") != "max_active_clusters") continue;
    const KernelResources kernel{.threads = answer.at("threads"),
                                 .registers = answer.at("registers"),
                                 .dynamic_shared = answer.at("dynamic_shared")};
    const std::uint32_t size = answer.at("cluster");
    EXPECT_EQ(max_active_clusters(h100, occupancy(h100, kernel).blocks, size),
              answer.at("value").get<std::uint64_t>())
        << answer;
    ++asked;
  }
  EXPECT_EQ(asked, 576);
}

TEST(Clusters, OfMoreBlocksThanTheLargestGpcHasSmsDoNotRun) {
  const spec::GpuSpec h100 = chip("h100-sxm");
  EXPECT_EQ(max_active_clusters(h100, 1, 18), 2u);
  EXPECT_EQ(max_active_clusters(h100, 1, 19), 0u);
}

TEST(Clusters, HaveTheSmsThatTheDeviceGaveThem) {
  const auto groups = cluster_groups(chip("h100-sxm"));
  ASSERT_EQ(groups.size(), 12u);
  EXPECT_EQ(groups[0], (std::vector<std::uint32_t>{0, 1, 16, 17, 32, 33, 48, 49}));
  EXPECT_EQ(groups[1],
            (std::vector<std::uint32_t>{2, 3, 18, 19, 34, 35, 50, 51, 64, 65, 78, 79, 92, 93, 106, 107}));
  EXPECT_EQ(groups[6].back(), 121u);
  EXPECT_EQ(groups[7].back(), 123u);
  EXPECT_EQ(groups[11], (std::vector<std::uint32_t>{130, 131}));
}

}  // namespace
}  // namespace foretrace::rules
