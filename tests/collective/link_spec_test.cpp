// A link's file: its keys are known, each is used, and a wrong file is refused with its line.
#include "sim/collective/link_spec.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>

#include "model/units/error.h"
#include "sim/collective/collective.h"

namespace foretrace::collective {
namespace {

const std::filesystem::path kConfigs = std::filesystem::path(FORETRACE_SOURCE_DIR) / "configs";

/// Everything that can be asked of a link.
std::vector<double> everything(const LinkSpec& link) {
  std::vector<double> times;
  for (double bytes = 1024; bytes <= 1e9; bytes *= 1.25) {
    for (const Operation operation : {Operation::allreduce, Operation::allgather, Operation::reducescatter,
                                      Operation::broadcast, Operation::copy}) {
      times.push_back(predict(link, {operation, bytes, 2, {}, {}}).ns);
      if (operation == Operation::copy) continue;
      times.push_back(predict(link, {operation, bytes, 8, {}, {}}).ns);
      for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree}) {
        if (algorithm == Algorithm::tree && operation != Operation::allreduce) continue;
        for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple})
          times.push_back(predict(link, {operation, bytes, 2, algorithm, protocol}).ns);
      }
    }
  }
  return times;
}

TEST(LinkSpec, EveryLinkOfTheRepositoryLoads) {
  int loaded = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kConfigs / "links")) {
    EXPECT_GT(load_link(entry.path().string(), kConfigs).bandwidth, 0) << entry.path();
    ++loaded;
  }
  EXPECT_GE(loaded, 3);
}

TEST(LinkSpec, EachKeyIsRead) {
  const LinkSpec link = load_link(kDefaultLink, kConfigs);
  const std::vector<double> times = everything(link);
  for (const std::string& key : link_keys()) {
    if (key == "link.devices") continue;  // only refuses
    LinkSpec other = link;
    *value_of(other, key) *= 0.5;
    const auto programs = [](const LinkSpec& of) {
      return std::array{of.event_time,     of.event_wait,       of.sleep_after,   of.sleep_wake,
                        of.kernel.latency, of.kernel.bandwidth, of.kernel.header, of.kernel.question};
    };
    const bool of_programs =
        key.starts_with("kernel.") || key.starts_with("event.") ||
        key.starts_with("sleep.");  // tests/host/peer_copy_test.cpp and tests/runtime/run_links.py uses them
    EXPECT_EQ(programs(other) != programs(link), of_programs) << key;
    EXPECT_EQ(everything(other) != times, !of_programs) << key;
  }
  LinkSpec other = link;
  EXPECT_EQ(value_of(other, "ring.ll.speed"), nullptr);
}

/// nvlink4 with one text in place of another; what loading it says.
std::string refusal(const std::string& from, const std::string& to) {
  std::ifstream in(kConfigs / "links" / "nvlink4.toml");
  std::stringstream text;
  text << in.rdbuf();
  std::string all = text.str();
  const std::size_t at = all.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  all.replace(at, from.size(), to);
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "link_refused.toml";
  std::ofstream(file) << all;
  try {
    load_link(file.string(), kConfigs);
  } catch (const InputError& error) { return error.what(); }
  return "";
}

TEST(LinkSpec, WrongFilesAreRefused) {
  EXPECT_NE(refusal("[channel]\ncount", "[channel]\nnumber").find("channel.count"), std::string::npos);
  EXPECT_NE(
      refusal("value = 24, unit = \"channel\"", "value = 24, unit = \"B\"").find("expected \"channel\""),
      std::string::npos);
  EXPECT_NE(refusal("value = 24, unit", "value = 2.5, unit").find("whole number"), std::string::npos);
  EXPECT_NE(refusal("value = 396.8, unit", "value = 0, unit").find("more than 0"), std::string::npos);
  EXPECT_NE(refusal("value = 0.9375, unit", "value = 1.5, unit").find("1 at most"), std::string::npos);
  EXPECT_NE(refusal("value = 396.8, unit", "value = nan, unit").find("expected a number"), std::string::npos);
  EXPECT_NE(refusal("value = 396.8, unit", "value = 1e300, unit").find("10000000000 at most"),
            std::string::npos);
  EXPECT_EQ(refusal("value = 331.2, unit", "value = 0, unit"), "");
  for (const auto& [name, said] :
       {std::pair("nvlink3",
                  "--link nvlink3: no such link; expected one of nvlink4, nvlink5, pcie5, or a file"),
        std::pair("/dev/zero", "/dev/zero: is a device; expected a file")}) {
    try {
      load_link(name, kConfigs);
      ADD_FAILURE() << name;
    } catch (const InputError& error) { EXPECT_STREQ(error.what(), said); }
  }
}

}  // namespace
}  // namespace foretrace::collective
