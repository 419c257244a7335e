// Threads that work on a range together: everything is done once, and what one of them throws arrives.
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/support/team.h"

namespace foretrace::support {
namespace {

class Teams : public testing::TestWithParam<int> {};

TEST_P(Teams, DoEverythingOnce) {
  Team team(GetParam());
  std::vector<std::atomic<int>> done(100);
  for (int round = 0; round < 50; ++round) team.run(done.size(), [&](std::size_t i) { ++done[i]; });
  for (const auto& each : done) EXPECT_EQ(each, 50);
}

TEST_P(Teams, ThrowWhatTheLowestThrewAndDoTheRest) {
  Team team(GetParam());
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> done{0};
    std::string thrown;
    try {
      team.run(64, [&](std::size_t i) {
        ++done;
        if (i >= 40 || i == 17) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& error) { thrown = error.what(); }
    EXPECT_EQ(thrown, "17");
    EXPECT_EQ(done, 64);
  }
}

TEST_P(Teams, WorkOnAfterAFailure) {
  Team team(GetParam());
  EXPECT_THROW(team.run(8, [](std::size_t) { throw std::runtime_error("each"); }), std::runtime_error);
  std::atomic<int> done{0};
  EXPECT_NO_THROW(team.run(8, [&](std::size_t) { ++done; }));
  EXPECT_EQ(done, 8);
}

INSTANTIATE_TEST_SUITE_P(OfThreads, Teams, testing::Values(1, 2, 5));

}  // namespace
}  // namespace foretrace::support
