// The cache of code and constants that a GPC's SMs share: what a lookup costs, what merges, what goes to L2, what is forgotten first.
#include "model/memory/gpc_cache.h"

#include <gtest/gtest.h>

#include "tests/memory/specs.h"

namespace foretrace::memory {
namespace {

constexpr std::uint64_t kCode = std::uint64_t{1} << 40;

/// Two sets of two lines; one GPC of SMs 0, 1 (a TPC), 8, 9 ..., with four GPCs in all.
spec::GpuSpec chip() {
  spec::GpuSpec chip = memory_tests::small_chip();
  chip.sm.count = 16;
  chip.gpc_cache = {1024, 2, 256, 100, 40, 10, 2, 4, 32, 0, 4096, 50};
  return chip;
}

struct Bench {
  explicit Bench(const spec::GpuSpec& chip, std::uint64_t code_bytes = 4096) : spec(chip), caches(spec) {
    caches.begin_launch(kCode, code_bytes);
  }
  /// Asks; the time of the reply, kNever when it is not known yet.
  Cycle ask(Cycle time, std::uint32_t sm, std::uint64_t offset, CodeUse use = CodeUse::code) {
    std::vector<Reply> replies;
    caches.request({time, sm, next_id++, kCode + offset, use}, replies);
    return replies.empty() ? kNever : replies.at(0).time;
  }
  /// L2 answers everything in the outbox at `time`; the replies that follow.
  std::vector<Reply> answer(Cycle time) {
    std::vector<Reply> replies;
    for (const Request& request : caches.outbox) {
      const Reply reply{time, request.sm, request.id};
      EXPECT_TRUE(GpcCaches::owns(reply));
      caches.fill(reply, replies);
    }
    caches.outbox.clear();
    return replies;
  }
  stats::MemoryCounters counters() const {
    stats::MemoryCounters counters;
    caches.count(counters);
    return counters;
  }
  spec::GpuSpec spec;
  GpcCaches caches;
  std::uint32_t next_id = 0;
};

TEST(GpcCache, AMissBringsBothHalvesOfALineAndHitsCostTheLatency) {
  Bench bench(chip());
  EXPECT_EQ(bench.ask(1000, 0, 0), kNever);
  ASSERT_EQ(bench.caches.outbox.size(), 2u);
  EXPECT_EQ(bench.caches.outbox[0].time, 1000u);
  EXPECT_EQ(bench.caches.outbox[0].line, kCode / 128);
  EXPECT_EQ(bench.caches.outbox[1].line, kCode / 128 + 1);
  EXPECT_EQ(bench.caches.outbox[1].kind, RequestKind::instruction);
  const auto replies = bench.answer(1500);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].time, 1540u);  // L2's answer and miss_latency
  EXPECT_EQ(bench.ask(2000, 0, 128), 2100u);
  EXPECT_EQ(bench.ask(2010, 8, 0), 2110u);
  EXPECT_TRUE(bench.caches.outbox.empty());
  EXPECT_EQ(bench.counters().gpc_code_requests, 3u);
  EXPECT_EQ(bench.counters().gpc_code_misses, 1u);
}

TEST(GpcCache, AConstantHasAShorterWayAfterAMiss) {
  Bench bench(chip());
  EXPECT_EQ(bench.ask(1000, 0, 0, CodeUse::operand), kNever);
  const auto replies = bench.answer(1500);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].time, 1510u);
  EXPECT_EQ(bench.counters().gpc_constant_misses, 1u);
}

TEST(GpcCache, WhatALaunchBroughtIsThereAndNoMore) {
  spec::GpuSpec small = chip();
  small.gpc_cache.preload_bytes = 512;
  Bench bench(small);
  EXPECT_EQ(bench.ask(10, 0, 0), 110u);
  EXPECT_EQ(bench.ask(50, 2, 384), 150u);  // another GPC's cache has it too
  EXPECT_EQ(bench.ask(100, 0, 512), kNever);
  Bench shorter(small, 256);
  EXPECT_EQ(shorter.ask(10, 0, 0), 110u);
  EXPECT_EQ(shorter.ask(50, 0, 256), kNever);
}

TEST(GpcCache, LookupsTakeTheirIntervalAndATpcItsOwn) {
  spec::GpuSpec small = chip();
  small.gpc_cache.preload_bytes = 1024;
  Bench bench(small);
  EXPECT_EQ(bench.ask(1000, 0, 0), 1100u);
  EXPECT_EQ(bench.ask(1000, 8, 0), 1102u);    // another TPC: the next lookup
  EXPECT_EQ(bench.ask(1000, 9, 128), 1106u);  // the same TPC: four cycles after its last piece
  EXPECT_EQ(bench.ask(1000, 2, 0), 1100u);    // another GPC
}

TEST(GpcCache, TheSmsOfATpcShareWhatIsOnItsWay) {
  Bench bench(chip());
  EXPECT_EQ(bench.ask(1000, 0, 0), kNever);
  EXPECT_EQ(bench.ask(1001, 1, 0), kNever);
  EXPECT_EQ(bench.ask(1002, 8, 0), kNever);  // waits for the same line, in a request of its own
  EXPECT_EQ(bench.counters().gpc_code_requests, 2u);
  EXPECT_EQ(bench.caches.outbox.size(), 2u);
  EXPECT_EQ(bench.answer(1500).size(), 3u);
  EXPECT_EQ(bench.ask(1539, 1, 0), 1639u);  // still on its way to the TPC: no request
  EXPECT_EQ(bench.counters().gpc_code_requests, 2u);
  EXPECT_EQ(bench.ask(1540, 1, 0), 1640u);  // it has arrived
  EXPECT_EQ(bench.counters().gpc_code_requests, 3u);
}

TEST(GpcCache, LinesComeFromL2AtTheWidthOfTheWay) {
  Bench bench(chip());  // 256 bytes at 32 per cycle
  bench.ask(1000, 0, 0);
  bench.ask(1000, 8, 256);
  ASSERT_EQ(bench.caches.outbox.size(), 4u);
  EXPECT_EQ(bench.caches.outbox[2].time, 1008u);
}

TEST(GpcCache, TheLeastRecentlyUsedLineOfASetGoes) {
  Bench bench(chip());  // lines 0, 2, 4 share a set of two
  Cycle now = 1000;
  for (const std::uint64_t line : {0, 2, 0, 4}) {
    bench.ask(now, 0, line * 256);
    bench.answer(now + 300);
    now += 1000;
  }
  EXPECT_EQ(bench.ask(now, 0, 0), now + 100);
  EXPECT_EQ(bench.ask(now + 100, 0, 2 * 256), kNever);
}

TEST(GpcCache, LinesOfConstantsAreServedOneAfterTheOtherAndSharedByNobody) {
  spec::GpuSpec small = chip();
  small.constant.l1_miss = 30;
  small.constant.l0_miss = 20;
  Bench bench(small);
  const auto ask = [&](Cycle time, std::uint32_t sm, CodeUse use = CodeUse::load) {
    std::vector<Reply> replies;
    bench.caches.request({time, sm, 0, kCode, use, true}, replies);
    return replies.at(0).time;
  };
  EXPECT_EQ(bench.caches.lookahead(), 20u);
  EXPECT_EQ(ask(1000, 0), 1030u) << "a parameter is always there";
  EXPECT_EQ(ask(1000, 8), 1032u) << "another TPC of the GPC: the next lookup";
  EXPECT_EQ(ask(1000, 9), 1036u)
      << "the TPC's other SM asks for the same line: it is given it once more, when the TPC's port is free";
  EXPECT_EQ(ask(2000, 0, CodeUse::operand), 2020u);
  EXPECT_EQ(ask(2000, 8, CodeUse::operand), 2022u);
  EXPECT_EQ(ask(2000, 9, CodeUse::operand), 2026u);
  EXPECT_TRUE(bench.caches.outbox.empty());
}

TEST(GpcCache, ParametersBehindMuchCodeComeLateOnceAGpc) {
  spec::GpuSpec small = chip();
  small.constant.l0_miss = 20;
  for (const std::uint64_t code : {4096, 4112}) {
    Bench bench(small, code);
    const auto ask = [&](Cycle time, std::uint32_t sm, std::uint64_t offset) {
      std::vector<Reply> replies;
      bench.caches.request({time, sm, 0, kCode + offset, CodeUse::operand, true}, replies);
      return replies.at(0).time - time;
    };
    const Cycle late = code > 4096 ? 50 : 0;
    EXPECT_EQ(ask(1000, 0, 0), 20 + late);
    EXPECT_EQ(ask(1010, 0, 64), 20 + (late ? 40 : 0)) << "of the same line";
    EXPECT_EQ(ask(1100, 0, 128), 20u) << "it is there";
    EXPECT_EQ(ask(1200, 0, 256), 20 + late) << "another line";
    EXPECT_EQ(ask(1300, 2, 0), 20 + late) << "another GPC";
    EXPECT_TRUE(bench.caches.outbox.empty());
  }
}

TEST(GpcCache, ALineForLdcThatIsMissingComesTheLongerWay) {
  spec::GpuSpec small = chip();
  small.constant.l1_miss = 30;
  small.constant.l0_miss = 20;
  Bench bench(small);
  std::vector<Reply> replies;
  bench.caches.request({1000, 0, 0, kCode + 4096, CodeUse::load, false}, replies);
  EXPECT_TRUE(replies.empty());
  const auto answered = bench.answer(1500);
  ASSERT_EQ(answered.size(), 1u);
  EXPECT_EQ(answered[0].time, 1500u + small.gpc_cache.constant_miss_latency + 10);
}

}  // namespace
}  // namespace foretrace::memory
