// Which launches are simulated, and what is said of the others.
#include "sim/sampling/representatives.h"

#include <gtest/gtest.h>

#include "sim/sampling/constants.h"

namespace foretrace::sampling {
namespace {

constexpr double kWork = 10'000;

LaunchWork work(double instructions = kWork, double blocks = 8, std::uint64_t context = 1) {
  return {blocks, 4096, context, instructions, 32 * instructions};
}

/// A program whose launches take what `seconds` says; returns how many were simulated.
template <class Seconds, class Work, class Kind>
std::uint64_t run(Representatives& launches, std::uint64_t count, Seconds seconds, Work work_of,
                  Kind kind_of) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const LaunchKind kind{kind_of(i), {128, 1, 1}};
    LaunchWork known = work_of(i), all = known;
    known.warp_instructions = known.thread_instructions = 0;
    if (launches.simulate(i, kind, known)) {
      launches.simulated(i, kind, all, {seconds(i), seconds(i), seconds(i), i}, all.warp_instructions);
    } else {
      launches.represent(i, kind, all);
    }
  }
  return launches.samples();
}

std::string one_kernel(std::uint64_t) { return "k"; }

TEST(Representatives, AllAreSimulatedUpToTheirShareOfTheBudget) {
  Representatives launches(100 * kWork / kAllShare, false);
  run(
      launches, 100, [](auto) { return 1e-6; }, [](auto) { return work(); }, one_kernel);
  EXPECT_EQ(launches.samples(), 100u);
  const LaunchKind kind{"k", {128, 1, 1}};
  EXPECT_FALSE(launches.simulate(100, kind, work()));
  EXPECT_TRUE(launches.represented().empty());
  EXPECT_DOUBLE_EQ(launches.total().low, launches.total().high);
}

TEST(Representatives, LaunchesThatAreAlikeCostLittleAndSumUp) {
  Representatives launches(20 * kWork, false);
  // The first finds cold caches.
  EXPECT_LE(run(
                launches, 10'000, [](auto i) { return i == 0 ? 2e-6 : 1e-6; }, [](auto) { return work(); },
                one_kernel),
            25u);
  const TimeEstimate total = launches.total();
  EXPECT_NEAR(total.seconds, 1.0001e-2, 1e-9);
  EXPECT_LT(total.low, total.seconds);
  EXPECT_EQ(launches.represented().size() + launches.samples(), 10'000u);
}

TEST(Representatives, EveryKernelAndEveryNewGridIsSimulated) {
  Representatives launches(0, false);
  const auto blocks = [](std::uint64_t i) { return i / 10 % 2 == 0 ? 8.0 : 80.0; };
  run(
      launches, 100, [&](auto i) { return blocks(i) * 1e-6; },
      [&](auto i) { return work(kWork * blocks(i), blocks(i)); },
      [](auto i) { return i % 2 == 0 ? "a" : "b"; });
  EXPECT_EQ(launches.samples(), 4u);
  EXPECT_NEAR(launches.total().seconds, 50 * 8e-6 + 50 * 80e-6, 1e-9);
}

TEST(Representatives, WorkBeyondTheSamplesIsSimulatedTheNextTime) {
  Representatives launches(0, false);
  const auto instructions = [](std::uint64_t i) { return i < 10 ? kWork : 3 * kWork; };
  run(
      launches, 20, [&](auto i) { return instructions(i) * 1e-10; },
      [&](auto i) { return work(instructions(i)); }, one_kernel);
  const std::vector<RepresentedLaunch> others = launches.represented();
  EXPECT_EQ(launches.samples(), 2u);  // the first, and the one after the first that did more
  ASSERT_EQ(others.size(), 18u);
  EXPECT_EQ(others[0].time.by, 0u);
  EXPECT_EQ(others[9].launch, 10u);
  EXPECT_EQ(others[9].time.by, 11u);
  EXPECT_NEAR(others[9].time.seconds, 3 * kWork * 1e-10, 1e-12);
}

TEST(Representatives, BetweenTwoSamplesTheWorkSaysTheTime) {
  Representatives launches(4 * kWork / kAllShare, true);
  const auto instructions = [](std::uint64_t i) { return i == 0 ? kWork : i == 1 ? 3 * kWork : 2 * kWork; };
  run(
      launches, 10, [&](auto i) { return 1e-6 + instructions(i) * 1e-10; },
      [&](auto i) { return work(instructions(i)); }, one_kernel);
  ASSERT_FALSE(launches.represented().empty());
  EXPECT_NEAR(launches.represented().front().time.seconds, 3e-6, 1e-12);
}

TEST(Representatives, TheSameContextStandsForALaunchBeforeAnother) {
  Representatives launches(40 * kWork / kAllShare, false);
  // A kernel that is twice as slow after another kernel.
  const auto context = [](std::uint64_t i) { return i % 2; };
  run(
      launches, 400, [&](auto i) { return context(i) == 0 ? 1e-6 : 2e-6; },
      [&](auto i) { return work(kWork, 8, context(i)); }, one_kernel);
  EXPECT_NEAR(launches.total().seconds, 400 * 1.5e-6, 1e-10);
}

TEST(Representatives, AnotherPhaseIsRepresentedByItsOwnSamples) {
  Representatives launches(100 * kWork, false);
  run(
      launches, 4000, [](auto i) { return i < 2000 ? 3e-6 : 1e-6; }, [](auto) { return work(); }, one_kernel);
  EXPECT_LT(launches.samples(), 120u);
  const std::vector<RepresentedLaunch> others = launches.represented();
  EXPECT_NEAR(others.front().time.seconds, 3e-6, 1e-12);
  EXPECT_NEAR(others.back().time.seconds, 1e-6, 1e-12);
}

TEST(Representatives, WhatVariesWidensTheInterval) {
  Representatives steady(40 * kWork / kAllShare, false), varying(40 * kWork / kAllShare, false);
  run(
      steady, 1000, [](auto) { return 1e-6; }, [](auto) { return work(); }, one_kernel);
  run(
      varying, 1000, [](auto i) { return static_cast<double>(i * 7919 % 10) * 1e-7 + 1e-6; },
      [](auto) { return work(); }, one_kernel);
  const TimeEstimate a = steady.total(), b = varying.total();
  EXPECT_GT((b.high - b.low) / b.seconds, 5 * (a.high - a.low) / a.seconds);
  EXPECT_LE(b.low, 1.45e-3);
  EXPECT_GE(b.high, 1.45e-3);
}

TEST(Representatives, AfterLaunchesLeftOutACheckGoesOnUntilTheKernelComesAgain) {
  Representatives launches(60 * kWork, false);
  std::vector<std::uint64_t> simulated;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const LaunchKind kind{i % 4 == 0 ? "a" : i % 4 == 1 ? "b" : i % 4 == 2 ? "c" : "d", {128, 1, 1}};
    if (launches.simulate(i, kind, work())) {
      simulated.push_back(i);
      launches.simulated(i, kind, work(), {1e-6, 1e-6, 1e-6, i}, kWork);
    } else {
      launches.represent(i, kind, work());
    }
  }
  // Behind those at the beginning there are runs of at least five.
  std::uint64_t length = 0, runs = 0;
  for (std::size_t i = 0; i < simulated.size(); ++i) {
    ++length;
    if (i + 1 == simulated.size() || simulated[i + 1] != simulated[i] + 1) {
      EXPECT_GE(length, 5u) << simulated[i];
      length = 0;
      ++runs;
    }
  }
  EXPECT_GE(runs, 2u);
  EXPECT_LE(simulated.size(), 70u);
}

// Each launch reads what the two before it wrote: after launches that were left out, that is where it was only from the third on.
TEST(Representatives, ASampleThatTheNextOneOfItsRunUndercutsStandsForNoOther) {
  Representatives launches(40 * kWork, false);
  std::uint64_t in_a_row = 0, last = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const LaunchKind kind{"k", {128, 1, 1}};
    if (launches.simulate(i, kind, work())) {
      in_a_row = i == last + 1 ? in_a_row + 1 : 1;
      last = i;
      const double seconds = in_a_row > 2 ? 1e-6 : 1.2e-6;
      launches.simulated(i, kind, work(), {seconds, seconds, seconds, i}, kWork);
    } else {
      launches.represent(i, kind, work());
    }
  }
  EXPECT_LT(launches.samples(), 60u);
  for (const RepresentedLaunch& other : launches.represented())
    EXPECT_NEAR(other.time.seconds, 1e-6, 1e-12) << other.launch;
}

}  // namespace
}  // namespace foretrace::sampling
