// Loads that wait for a write: too early in the cycle before it is made, in time with it.

#include "model/memory/signals.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/memory/driver.h"
#include "tests/memory/specs.h"

namespace foretrace::memory_tests {
namespace {

constexpr work::Signal kSignal = {7, 1, 0};
constexpr work::Awaited kAwaited = {0, kSignal, 0};

class Waits : public testing::Test {
 protected:
  const spec::GpuSpec chip = small_chip();
  const std::uint64_t line = line_at_home(chip, 0);

  /// A write by SM 0 at time 400 that gives the signal, and a load of another line of its slice by SM 2 at `when`: whether it came too early.
  bool too_early(Cycle when, work::Signal by = kSignal, Cycle window = 0) {
    const work::Awaited awaited{0, by, 0};
    memory::MemorySystem memory(chip);
    if (window == 0) window = memory.lookahead();
    memory::Request write = write_request(400, 0, line, 0b0001, ~0u, 1);
    write.tells = 1;
    write.signal = kSignal;
    memory::Request read = read_request(when, 2, line, 0b0001, 2);
    read.waits = 1;
    std::vector<memory::Request> requests = {write, read};
    std::sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
    memory::Replies known;
    Cycle until = 0;
    for (std::size_t next = 0; next < requests.size() || !memory.idle();) {
      until += window;
      for (; next < requests.size() && requests[next].time < until; ++next) {
        if (requests[next].waits != 0) {
          memory.submit(requests[next], std::span(&awaited, 1));
        } else {
          memory.submit(requests[next]);
        }
      }
      memory.advance(until, known);
    }
    for (const memory::Reply& reply : in_order(known)) {
      if (reply.sm == 2) return (reply.id & memory::kTooEarly) != 0;
    }
    ADD_FAILURE() << "the load is answered";
    return false;
  }
};

TEST_F(Waits, ALoadThatComesFromDramIsInTimeIfTheWriteIsMadeMeanwhile) {
  // It is looked up anew when its line is there, which is before what arrives in that cycle.
  const Cycle late = 400, fill = 100 + 20 + 22 + 4;  // DRAM's latency, activate, read, one access
  EXPECT_TRUE(too_early(late - fill));
  EXPECT_FALSE(too_early(late - fill + 1));
  EXPECT_FALSE(too_early(late + 200));
}

TEST_F(Waits, ALoadThatArrivesWithTheWriteIsInTimeAndOneACycleBeforeIsNot) {
  // L2 has the line, and both ways to it are equally long.
  memory::MemorySystem memory(chip);
  const auto ask = [&](Cycle from, Cycle when) {
    memory.begin_launch(true);
    memory::Request write = write_request(from + 100, 0, line, 0b0001, ~0u, 1);
    write.tells = 1;
    write.signal = kSignal;
    memory::Request read = read_request(from + when, 2, line, 0b0001, 2);
    read.waits = 1;
    memory::Replies known;
    const bool before = read.time < write.time;
    if (before) memory.submit(read, std::span(&kAwaited, 1));
    memory.submit(write);
    if (!before) memory.submit(read, std::span(&kAwaited, 1));
    for (Cycle until = from; !memory.idle();) memory.advance(until += memory.lookahead(), known);
    bool early = false;
    for (const memory::Reply& reply : in_order(known))
      early = early || (reply.sm == 2 && (reply.id & memory::kTooEarly) != 0);
    return early;
  };
  latency_of(memory, read_request(0, 2, line, 0b0001));
  EXPECT_TRUE(ask(0, 99));
  EXPECT_FALSE(ask(0, 100));
  EXPECT_FALSE(ask(0, 101));
}

TEST_F(Waits, TheWindowDoesNotMatter) {
  for (Cycle when = 250; when < 258; ++when) EXPECT_EQ(too_early(when), too_early(when, kSignal, 7)) << when;
}

TEST_F(Waits, AnotherWriteIsNotAwaited) {
  EXPECT_FALSE(too_early(350));
  EXPECT_TRUE(too_early(350, {7, 1, 1}));
  EXPECT_TRUE(too_early(350, {7, 0, 0}));
  EXPECT_TRUE(too_early(350, {8, 1, 0}));
}

TEST(Signals, WritesOfAWarpMayBeMadeInAnyOrder) {
  memory::Signals signals;
  const auto make = [&](work::Signal signal) {
    const std::uint32_t note = signals.take({1, false, signal, 0, {}});
    signals.make(note, 0);
    signals.give_back(note);
  };
  const auto made = [&](work::Signal signal) { return signals.made({0, signal, 0}); };
  make({3, 2, 1});
  EXPECT_FALSE(made({3, 2, 0}));
  EXPECT_TRUE(made({3, 2, 1}));
  make({3, 2, 0});
  make({3, 2, 3});
  EXPECT_TRUE(made({3, 2, 0}));
  EXPECT_FALSE(made({3, 2, 2}));
  EXPECT_TRUE(made({3, 2, 3}));
  signals.restart();
  EXPECT_FALSE(made({3, 2, 0}));
}

TEST(Signals, AtomicsOfACounterAreCountedWhoeverMakesThem) {
  memory::Signals signals;
  constexpr std::uint64_t kWord = 1000;
  const std::uint32_t note = signals.take({2 + 8, false, {}, kWord, {}});
  for (int i = 0; i < 3; ++i) signals.make(note, 0);
  EXPECT_TRUE(signals.made({3, {}, kWord}));
  EXPECT_FALSE(signals.made({4, {}, kWord}));
  EXPECT_FALSE(signals.made({1, {}, kWord + 1}));
}

TEST(Signals, WhoWaitsForEverIsLetGo) {
  memory::Signals signals;
  const std::uint32_t note = signals.take({0, false, {}, 0, {kAwaited}});
  signals.moves(50);
  EXPECT_TRUE(signals.look(note, 50 + memory::Signals::kPatience));
  EXPECT_FALSE(signals.let_go());
  EXPECT_FALSE(signals.look(note, 51 + memory::Signals::kPatience));
  EXPECT_TRUE(signals.let_go());
}

}  // namespace
}  // namespace foretrace::memory_tests
