// The default host beside what it is fitted to: the loops of validate/host/calls.cu, a round each, and its calls in a row.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/host/graph_launch.h"

namespace foretrace::host {
namespace {

constexpr Place kPlace{0, 1, 0};
constexpr unsigned kRounds = 40;

/// What the kernels of the loops take by themselves: rows "busy_work launch", "busy_work launch3" and "behind kernel 10" and the gap.
constexpr double kEmpty = 2080, kThree = 2520, kSpin = 12'400;

class Loops {
 public:
  explicit Loops(const HostSpec& spec) : line_(spec) { line_.add_stream(1, true); }
  bool call(const std::string& name) {
    if (name == "launch") return kernel(kEmpty);
    if (name == "launch3") return kernel(kThree);
    if (name == "spin10us") return kernel(kSpin);
    if (name == "graph4") return graph();
    if (name == "record" || name == "record_timed") return line_.record(kPlace, name != "record"), true;
    const std::size_t at = name.find('_');
    if (at == std::string::npos || name == "launch_other") return name == "nothing";
    const std::string what = name.substr(0, at), size = name.substr(at + 1);
    std::uint64_t bytes = std::stoull(size);
    if (size.back() == 'k') bytes <<= 10;
    if (size.back() == 'm') bytes <<= 20;
    if (what == "fill") return line_.fill(kPlace, bytes), true;
    if (what == "in" || what == "page") return copy(CopyWay::to_device, bytes, what == "page");
    if (what == "out") return copy(CopyWay::to_host, bytes, false);
    return what == "device" && copy(CopyWay::on_device, bytes, false);
  }
  bool wait(const std::string& name) {
    if (name == "stream") return line_.synchronize_stream(kPlace), true;
    if (name == "device") return line_.synchronize(0), true;
    if (name != "event") return false;
    line_.synchronize_event(0, line_.record(kPlace, false));
    return true;
  }
  double us() const { return line_.now(0) / 1e3; }
  WorkId event() { return line_.record(kPlace, true); }
  double between(WorkId first, WorkId second) {
    line_.settle();
    return (line_.begin_of(second) - line_.begin_of(first)) / 1e3;
  }
  void long_kernel(double ns) { kernel(ns); }

 private:
  bool kernel(double ns) { return line_.kernel(kPlace, {launch_++, ns, 0.01, false}), true; }
  bool copy(CopyWay way, std::uint64_t bytes, bool pageable) {
    return line_.copy(kPlace, {way, bytes, pageable}), true;
  }
  bool graph() {
    GraphLaunch graph(line_, kPlace, 4, 1);
    WorkId last = graph.kernel({}, true, {launch_++, kEmpty, 0.01, false});
    for (int i = 1; i < 4; ++i) last = graph.kernel({last}, false, {launch_++, kEmpty, 0.01, false});
    return graph.end({last}), true;
  }
  TimeLine line_;
  std::uint64_t launch_ = 0;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

struct Row {
  std::string name;
  long argument;
  double us;
};
std::vector<Row> rows(const std::string& kind) {
  std::ifstream file(std::string(FORETRACE_SOURCE_DIR) + "/validate/host/h100-sxm-calls.tsv");
  std::vector<Row> found;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = split(line, '\t');
    if (cells.size() > 2 && cells[0].rfind(kind + " ", 0) == 0)
      found.push_back({cells[0].substr(kind.size() + 1), std::stol(cells[1]), std::stod(cells[2])});
  }
  return found;
}

struct Errors {
  std::vector<double> sizes;
  void add(const std::string& name, double predicted, double measured) {
    const double error = predicted / measured - 1;
    sizes.push_back(std::abs(error));
    std::printf("%-28s %8.2f %8.2f %+6.1f%%\n", name.c_str(), predicted, measured, 100 * error);
  }
  double mean() const {
    double sum = 0;
    for (const double size : sizes) sum += size;
    return sum / static_cast<double>(sizes.size());
  }
  double worst() const { return *std::max_element(sizes.begin(), sizes.end()); }
};

TEST(Calls, LoopsOfWorkAndAWait) {
  const HostSpec spec = load_host(kDefaultHost, std::filesystem::path(FORETRACE_SOURCE_DIR) / "configs");
  Errors errors;
  for (const Row& row : rows("loop")) {
    const std::vector<std::string> halves = split(row.name, ';');
    if (halves.size() != 2) continue;  // cudaMemcpy
    Loops loops(spec);
    for (unsigned round = 0; round < kRounds; ++round) {
      for (const std::string& name : split(halves[0], ',')) ASSERT_TRUE(loops.call(name)) << name;
      ASSERT_TRUE(loops.wait(halves[1])) << halves[1];
    }
    errors.add(row.name, loops.us() / kRounds, row.us);
  }
  ASSERT_EQ(errors.sizes.size(), 174u);
  EXPECT_LT(errors.mean(), 0.04);
  std::printf("%zu loops: mean %.1f%%, worst %.1f%%\n", errors.sizes.size(), 100 * errors.mean(),
              100 * errors.worst());
}

/// Work behind a kernel that outlives its calls, between two events: us per round.
double behind(const HostSpec& spec, const std::vector<std::string>& calls, unsigned rounds, double ns) {
  Loops loops(spec);
  loops.long_kernel(ns);
  const WorkId begin = loops.event();
  for (unsigned round = 0; round < rounds; ++round) {
    for (const std::string& name : calls) {
      if (!loops.call(name)) return 0;
    }
  }
  return loops.between(begin, loops.event()) / rounds;
}

TEST(Calls, WorkBehindAKernel) {
  const HostSpec spec = load_host(kDefaultHost, std::filesystem::path(FORETRACE_SOURCE_DIR) / "configs");
  Errors errors;
  for (const Row& row : rows("busy_work")) {
    const double us = behind(spec, split(row.name, ','), kRounds, 1e6);
    if (us > 0) errors.add(row.name, us, row.us);
  }
  const std::map<std::string, unsigned> repeats{{"one", 1}, {"two", 2}, {"ten", 10}};
  for (const Row& row : rows("behind")) {
    const std::size_t at = row.name.find('_');
    if (at == std::string::npos) continue;
    std::vector<std::string> calls = split(row.name.substr(0, at), ',');
    for (std::string& call : calls)
      call = call == "kernel" ? "spin10us" : call + "_" + std::to_string(row.argument);
    errors.add(row.name + " " + std::to_string(row.argument),
               behind(spec, calls, repeats.at(row.name.substr(at + 1)), 3e5), row.us);
  }
  ASSERT_EQ(errors.sizes.size(), 420u);
  EXPECT_LT(errors.mean(), 0.12);
  std::printf("%zu rows: mean %.1f%%, worst %.1f%%\n", errors.sizes.size(), 100 * errors.mean(),
              100 * errors.worst());
}

}  // namespace
}  // namespace foretrace::host
