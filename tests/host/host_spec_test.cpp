// A host's file: its keys are known, each is used, and a wrong file is refused with its line.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>

#include "model/units/error.h"
#include "sim/host/graph_launch.h"

namespace foretrace::host {
namespace {

const std::filesystem::path kConfigs = std::filesystem::path(FORETRACE_SOURCE_DIR) / "configs";

HostSpec spec() { return load_host(kDefaultHost, kConfigs); }

/// A program that uses everything: times on its line.
std::vector<double> everything(const HostSpec& given) {
  TimeLine line(given);
  line.add_stream(1, true);
  line.add_stream(2, true);
  std::vector<double> times;
  const Place one{0, 1, 0}, two{0, 2, 0};
  const auto done = [&] {
    line.synchronize(0);
    times.push_back(line.now(0));
  };
  for (const std::uint64_t bytes :
       {512ull, 900ull, 2048ull, 4096ull, 60'000ull, 100'000ull, 900'000ull, 4ull << 20, 9ull << 20,
        40ull << 20, 99ull << 20, 700ull << 20, 3ull << 30}) {
    line.allocate(0, bytes);
    line.release(0, bytes);
    for (const CopyWay way : {CopyWay::to_device, CopyWay::to_host, CopyWay::on_device}) {
      for (const bool pageable : {false, true}) {
        line.copy(one, {way, bytes, pageable});
        done();
      }
    }
    line.copy(one, {CopyWay::to_device, bytes, true});
    line.copy(one, {CopyWay::to_device, bytes, false});
    line.copy(two, {CopyWay::to_host, bytes, false});
    done();
    line.copy(two, {CopyWay::to_host, bytes, false});  // from one engine to the other
    line.copy(two, {CopyWay::to_device, bytes, false});
    done();
    done();  // nothing to wait for
  }
  for (const std::uint64_t bytes :
       {1ull, 2000ull, 14'000ull, 30'000ull, 500'000ull, 5'000'000ull, 90'000'000ull, 900'000'000ull}) {
    line.fill(one, bytes);
    done();
  }
  std::uint64_t launch = 0;
  line.allocate_in_stream(0);
  for (double ns = 1000; ns < 12'000; ns += 300) {  // copies that wait for kernels, shortly and long
    line.kernel(one, {launch++, ns, 0.1, false});
    line.copy(one, {CopyWay::to_host, 4096, false});
    line.kernel(one, {launch++, 1000, 0.1, false});
    done();
  }
  for (double ns = 40'000; ns < 250'000; ns += 5000) {  // and so long that they are told
    line.kernel(one, {launch++, ns, 0.1, false});
    line.copy(one, {CopyWay::to_host, 4096, false});
    done();
  }
  for (int i = 0; i < 3; ++i) line.kernel(one, {launch++, 9000, 0.1, i == 2});
  // One that is let go early and waits, and one that is let go late.
  line.kernel(one, {launch++, 9000, 0.1, false, {-1, 500}});
  line.kernel(one, {launch++, 9000, 0.1, true, {2000, 8000}});
  line.kernel(one, {launch++, 20'000, 0.1, true, {15'000, -1}});
  line.record(one, true);
  const WorkId event = line.record(one, true);
  times.push_back(line.now(0));
  line.record(one, false);
  times.push_back(line.now(0));
  line.wait(two, event);
  times.push_back(line.now(0));
  line.kernel(two, {launch++, 5000, 1, false});
  done();
  GraphLaunch wide(line, one, 3, 2);
  const WorkId node = wide.kernel({}, true, {launch++, 4000, 0.1, false});
  const WorkId next = wide.kernel({node}, false, {launch++, 40, 0.1, false});
  const WorkId beside = wide.kernel({}, true, {launch++, 4000, 0.1, false});
  wide.end({next, beside});
  done();
  GraphLaunch chain(line, one, 2, 2);
  const WorkId a = chain.kernel({}, true, {launch++, 10'000, 0.1, false});
  const WorkId b = chain.kernel({a}, false, {launch++, 10'000, 0.1, false});
  chain.end({b});
  done();
  // Two kernels that may begin at once.
  line.kernel(one, {launch++, 50'000, 0.1, false});
  const WorkId go = line.record(one, false);
  line.wait(two, go);
  line.kernel(one, {launch++, 5000, 0.1, false});
  line.kernel(two, {launch++, 5000, 0.1, false});
  line.kernel(two, {launch++, 1000, 1, false});
  done();
  line.kernel(one, {launch++, 80'000'000, 0.1, false});
  for (int i = 0; i < 2000; ++i) line.kernel(one, {launch++, 1, 0.1, false});
  times.push_back(line.now(0));
  done();
  return times;
}

TEST(HostSpec, TheDefaultIsThere) {
  const HostSpec host = spec();
  EXPECT_EQ(host.name, "xeon-h100");
  EXPECT_FALSE(host.title.empty());
  EXPECT_DOUBLE_EQ(host.call.launch, 4200);
  EXPECT_DOUBLE_EQ(host.copy.in_rate, 53.3);
  EXPECT_DOUBLE_EQ(host.copy.pageable_inline, 65536);
}

TEST(HostSpec, EveryHostOfTheRepositoryLoads) {
  int loaded = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kConfigs / "hosts")) {
    EXPECT_GT(load_host(entry.path().string(), kConfigs).call.launch, 0) << entry.path();
    ++loaded;
  }
  EXPECT_GE(loaded, 2);
}

TEST(HostSpec, NoHostTakesNoTime) {
  HostSpec host = load_host("none", kConfigs);
  TimeLine line(host);
  line.kernel({}, {0, 1000, 1, false});
  line.finish_copy(0, line.copy({}, {CopyWay::to_device, 1 << 20, false}));
  line.kernel({}, {1, 500, 1, false});
  line.synchronize(0);
  EXPECT_DOUBLE_EQ(line.now(0), 1500);
}

TEST(HostSpec, EveryNumberIsUsed) {
  const std::vector<double> before = everything(spec());
  for (const std::string& key : host_keys()) {
    HostSpec changed = spec();
    const std::size_t count = values_of(changed, key).size();
    ASSERT_GT(count, 0u) << key;
    for (std::size_t i = 0; i < count; ++i) {
      changed = spec();
      double& value = *values_of(changed, key)[i];
      value = value * 0.75 - (value == 0 ? 1 : 0);
      EXPECT_NE(everything(changed), before) << key << "[" << i << "]";
    }
  }
}

TEST(HostSpec, LinearBetweenSizes) {
  const BySize by{{10, 20, 40}, {100, 200, 300}};
  EXPECT_DOUBLE_EQ(by.at(1), 100);
  EXPECT_DOUBLE_EQ(by.at(10), 100);
  EXPECT_DOUBLE_EQ(by.at(15), 150);
  EXPECT_DOUBLE_EQ(by.at(20), 200);
  EXPECT_DOUBLE_EQ(by.at(30), 250);
  EXPECT_DOUBLE_EQ(by.at(60), 400);
}

/// The default host's file with one line changed.
std::string with(const std::string& begin, const std::string& line) {
  std::ifstream in(kConfigs / "hosts" / "xeon-h100.toml");
  const std::string path = std::string(FORETRACE_BINARY_DIR) + "/host_test.toml";
  std::ofstream out(path);
  for (std::string text; std::getline(in, text);) out << (text.rfind(begin, 0) == 0 ? line : text) << "\n";
  return path;
}
std::string refusal(const std::string& path) {
  try {
    (void)load_host(path, kConfigs);
  } catch (const InputError& error) { return error.what(); }
  return "accepted";
}

TEST(HostSpec, WrongFilesAreRefused) {
  EXPECT_NE(refusal("nowhere").find("no such host; expected one of none, xeon-h100"), std::string::npos);
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is a device; expected a file");  // it has no end
  EXPECT_NE(refusal(with("notice", "")).find("no link.notice"), std::string::npos);
  EXPECT_NE(
      refusal(with("notice", "notize = { value = 1, unit = \"us\", kind = \"documented\", source = \"x\" }"))
          .find("no link.notice"),
      std::string::npos);
  EXPECT_NE(
      refusal(
          with("[gap]", "extra = { value = 1, unit = \"us\", kind = \"documented\", source = \"x\" }\n[gap]"))
          .find("link.extra: no key of a host"),
      std::string::npos);
  EXPECT_NE(
      refusal(with("notice", "notice = { value = 1, unit = \"ms\", kind = \"documented\", source = \"x\" }"))
          .find("unit \"ms\"; expected \"us\""),
      std::string::npos);
  EXPECT_NE(
      refusal(with("notice", "notice = { value = -1, unit = \"us\", kind = \"documented\", source = \"x\" }"))
          .find("expected 0 or more"),
      std::string::npos);
  for (const auto& [value, said] :
       {std::pair("nan", "expected a number"), std::pair("inf", "expected a number"),
        std::pair("1e300", "expected 10000000000 at most")}) {
    const std::string line =
        fmt::format("notice = {{ value = {}, unit = \"us\", kind = \"documented\", source = \"x\" }}", value);
    EXPECT_NE(refusal(with("notice", line)).find(said), std::string::npos) << value;
  }
  EXPECT_NE(refusal(with("in_rate",
                         "in_rate = { value = 0, unit = \"GB/s\", kind = \"documented\", source = \"x\" }"))
                .find("expected more than 0"),
            std::string::npos);
  EXPECT_NE(
      refusal(with("malloc.time",
                   "malloc.time = { value = [1, 2], unit = \"us\", kind = \"documented\", source = \"x\" }"))
          .find("as many times as sizes"),
      std::string::npos);
}

}  // namespace
}  // namespace foretrace::host
