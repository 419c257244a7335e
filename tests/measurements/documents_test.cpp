// The committed measurements: complete, of the code that lies beside them, and in themselves consistent.
#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/frontend/cubin.h"

namespace foretrace {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(FORETRACE_SOURCE_DIR) / "validate/measurements";

nlohmann::json read_json(const std::string& name) {
  std::ifstream file(kFolder / name);
  return nlohmann::json::parse(file);
}

/// What the flat table says of a launch, as far as the tests ask.
struct TableLaunch {
  std::string cubin, mangled;
};

/// The launches of the table that run on a GPU: those that are expected to fault do not.
std::map<std::string, TableLaunch> launches_of_table() {
  std::ifstream file(kFolder / "h100-sxm/launches.txt");
  std::map<std::string, TableLaunch> launches;
  std::string line, name;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string key, rest;
    words >> key;
    std::getline(words >> std::ws, rest);
    if (key == "launch") name = rest;
    if (key == "cubin") launches[name].cubin = rest;
    if (key == "kernel") launches[name].mangled = rest;
    if (key == "fault") launches.erase(name);
  }
  return launches;
}

std::vector<std::byte> decompressed(const std::filesystem::path& path) {
  const std::vector<std::byte> packed = frontend::read_file(path.string());
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return {};
  std::vector<std::byte> bytes(size);
  const auto written = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(written) != 0 || written != size) return {};
  return bytes;
}

/// The hash of every measured kernel's code, by "cubin kernel".
std::map<std::string, std::string> code_of_table() {
  std::map<std::string, std::string> hashes;
  std::set<std::string> read;
  for (const auto& [name, launch] : launches_of_table()) {
    if (!read.insert(launch.cubin).second) continue;
    const auto path = kFolder / "h100-sxm" / (launch.cubin + ".zst");
    const auto cubin = frontend::read_cubin(decompressed(path), path.string(), 90);
    for (const auto& kernel : cubin.kernels) {
      hashes[launch.cubin + " " + kernel.program.mangled] = frontend::sha256_hex(kernel.text);
    }
  }
  return hashes;
}

TEST(Cubins, StandOnceAndAreNamedByTheirContents) {
  for (const char* set : {"h100-sxm", "h100-sxm-fourth", "h100-sxm-fifth"}) {
    std::set<std::string> contents;
    for (const auto& entry : std::filesystem::directory_iterator(kFolder / set / "cubins")) {
      const std::vector<std::byte> cubin = decompressed(entry.path());
      ASSERT_FALSE(cubin.empty()) << entry.path();
      const std::string hash = frontend::sha256_hex(cubin);
      EXPECT_TRUE(contents.insert(hash).second) << entry.path() << " is another file's copy";
      EXPECT_NE(entry.path().filename().string().find("-" + hash.substr(0, 8) + ".sm_90.cubin.zst"),
                std::string::npos)
          << entry.path();
    }
    EXPECT_FALSE(contents.empty()) << set;
  }
}

class Document : public testing::TestWithParam<std::string> {
 protected:
  const nlohmann::json document = read_json(GetParam() + ".json");

  /// A metric's value in each of the two runs.
  static double value(const nlohmann::json& launch, const std::string& metric, std::size_t run) {
    return launch.at("metrics").at(metric).at(run).get<double>();
  }
};

/// Whether what a launch executes depends on who comes first: queues, compare-and-swap, waiting.
bool depends_on_time(const nlohmann::json& launch) {
  const std::string name = launch.at("name");
  return name.starts_with("bfs_queue") || name.starts_with("hash_insert") || name.starts_with("hash_probe") ||
         name.starts_with("mbarrier_ring") || name.starts_with("union_edges") ||
         name.starts_with("component_roots") || name.starts_with("grid_heat");
}

TEST_P(Document, NamesTheDeviceAndHowItWasAsked) {
  EXPECT_EQ(document.at("schema"), 1);
  for (const char* key :
       {"device", "driver", "toolkit", "profiler", "date", "clock_control", "cache_state"}) {
    EXPECT_FALSE(document.at(key).get<std::string>().empty()) << key;
  }
  EXPECT_EQ(document.at("clock_control"), "none");
  EXPECT_TRUE(document.at("left_out").is_array());
}

TEST_P(Document, HoldsEveryLaunchOfItsTableOnce) {
  auto expected = launches_of_table();
  ASSERT_GT(expected.size(), 100u);
  for (const auto& launch : document.at("launches")) {
    const auto found = expected.find(launch.at("name"));
    ASSERT_NE(found, expected.end()) << launch.at("name") << " is not in the table, or stands twice";
    EXPECT_EQ(launch.at("mangled"), found->second.mangled);
    EXPECT_EQ("cubins/" + launch.at("cubin").get<std::string>(), found->second.cubin);
    expected.erase(found);
  }
  if (document.contains("not_measured")) {
    for (const auto& name : document.at("not_measured")) {
      EXPECT_EQ(expected.erase(name.get<std::string>()), 1u)
          << name << " is not in the table, or was measured";
    }
  }
  EXPECT_TRUE(expected.empty()) << expected.begin()->first << " was not measured";
}

TEST_P(Document, IsOfTheCodeThatLiesBesideIt) {
  const auto hashes = code_of_table();
  for (const auto& launch : document.at("launches")) {
    const std::string key =
        "cubins/" + launch.at("cubin").get<std::string>() + " " + launch.at("mangled").get<std::string>();
    ASSERT_TRUE(hashes.contains(key)) << key;
    EXPECT_EQ(hashes.at(key), launch.at("code_sha256")) << key;
  }
}

TEST_P(Document, EveryResultEqualledItsReference) {
  for (const auto& launch : document.at("launches")) {
    EXPECT_TRUE(launch.at("checked").get<bool>()) << launch.at("name");
    EXPECT_TRUE(launch.at("correct").get<bool>()) << launch.at("name");
  }
}

TEST_P(Document, GivesEveryMetricTwiceAndInstructionsAgree) {
  const auto& launches = document.at("launches");
  const std::size_t metrics = launches.at(0).at("metrics").size();
  EXPECT_GT(metrics, 80u);
  for (const auto& launch : launches) {
    EXPECT_EQ(launch.at("metrics").size(), metrics) << launch.at("name");
    for (const auto& [metric, values] : launch.at("metrics").items()) {
      EXPECT_EQ(values.size(), 2u) << launch.at("name") << " " << metric;
    }
    if (depends_on_time(launch)) continue;
    for (const char* metric : {"smsp__inst_executed.sum", "smsp__thread_inst_executed.sum",
                               "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}) {
      EXPECT_EQ(value(launch, metric, 0), value(launch, metric, 1)) << launch.at("name") << " " << metric;
    }
  }
}

TEST_P(Document, CountersObeyArithmetic) {
  for (const auto& launch : document.at("launches")) {
    const auto& name = launch.at("name");
    for (std::size_t run : {0u, 1u}) {
      const double warps = value(launch, "smsp__inst_executed.sum", run);
      EXPECT_LE(value(launch, "smsp__thread_inst_executed.sum", run), 32 * warps) << name;
      // They are counted in passes of their own.
      if (!depends_on_time(launch)) {
        EXPECT_LE(value(launch, "sm__cycles_active.avg", run),
                  1.005 * value(launch, "gpc__cycles_elapsed.max", run))
            << name;
      }
      for (const std::string op : {"ld", "st"}) {
        const std::string global = "_pipe_lsu_mem_global_op_" + op;
        const double requests = value(launch, "l1tex__t_requests" + global + ".sum", run);
        const double sectors = value(launch, "l1tex__t_sectors" + global + ".sum", run);
        // An instruction whose lanes are all predicated off is executed, but asks for nothing. Asynchronous copies and
        // generic accesses ask for something, but do not count as global instructions.
        const double executed = value(launch, "smsp__inst_executed_op_global_" + op + ".sum", run);
        if (executed > 0 && !depends_on_time(launch)) { EXPECT_LE(requests, executed) << name; }
        // Stores that touch 32 lines are looked up again now and then: 0.4 to 1.6 % more sectors than lanes.
        EXPECT_LE(sectors, 32 * requests * (op == "st" ? 1.02 : 1.0)) << name;
        EXPECT_LE(value(launch, "l1tex__t_sectors" + global + "_lookup_hit.sum", run), sectors) << name;
      }
    }
    const auto& warm = launch.at("warm_ns");
    EXPECT_LE(warm.at("low"), warm.at("median")) << name;
    EXPECT_LE(warm.at("median"), warm.at("high")) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Document, testing::Values("h100-sxm", "h200-sxm"),
                         [](const auto& test) { return test.param.substr(0, 4); });

class Microbenchmarks : public testing::TestWithParam<std::string> {
 protected:
  const nlohmann::json document = read_json(GetParam() + "-microbenchmarks.json");
};

TEST_P(Microbenchmarks, EveryAnswerHasItsQuestionValueUnitAndSpread) {
  EXPECT_TRUE(document.at("left_out").empty()) << document.at("left_out");
  EXPECT_GT(document.at("answers").size(), 2000u);
  for (const auto& answer : document.at("answers")) {
    EXPECT_FALSE(answer.at("benchmark").get<std::string>().empty());
    EXPECT_FALSE(answer.at("question").get<std::string>().empty());
    EXPECT_FALSE(answer.at("unit").get<std::string>().empty());
    EXPECT_TRUE(answer.at("value").is_number()) << answer;
    EXPECT_TRUE(answer.at("spread").is_number()) << answer;
  }
}

TEST_P(Microbenchmarks, EveryBenchmarkThatAConfigNamesIsThere) {
  std::set<std::string> benchmarks;
  int named = 0;
  for (const auto& answer : document.at("answers")) benchmarks.insert(answer.at("benchmark"));
  const std::string file = "validate/measurements/" + GetParam() + "-microbenchmarks.json:";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(FORETRACE_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".toml") continue;
    std::ifstream config(entry.path());
    std::string line;
    while (std::getline(config, line)) {
      for (std::size_t at = line.find(file); at != std::string::npos; at = line.find(file, at + 1)) {
        const std::size_t begin = at + file.size();
        const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", begin);
        const std::string name =
            line.substr(begin, end - begin);  // a benchmark, or a reading of the whole run
        EXPECT_TRUE(benchmarks.contains(name) || document.contains(name)) << entry.path() << ": " << line;
        ++named;
      }
    }
  }
  EXPECT_GT(named, 10) << file << " is hardly named in configs/";
}

INSTANTIATE_TEST_SUITE_P(Devices, Microbenchmarks, testing::Values("h100-sxm", "h200-sxm"),
                         [](const auto& test) { return test.param.substr(0, 4); });

}  // namespace
}  // namespace foretrace
