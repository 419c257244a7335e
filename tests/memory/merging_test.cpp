// Reads that are answered together with an earlier one: who is taken along, until when, and how many.

#include "model/memory/merging.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "model/memory/memory_system.h"
#include "tests/memory/driver.h"
#include "tests/memory/specs.h"

namespace foretrace::memory_tests {
namespace {

using memory::MemorySystem;
using memory::Reply;
using memory::Request;
using spec::GpuSpec;

/// Eight SMs of one GPC and partition, of whose reads three may share an answer.
GpuSpec merging_chip() {
  GpuSpec chip = small_chip();
  chip.sm.gpcs = 1;
  chip.l2.merged_reads = 3;
  chip.l2.merge_cycles = 10;
  return chip;
}

struct Result {
  std::vector<Reply> replies;
  std::uint64_t requests = 0, sectors = 0, bytes = 0;
};

Result results_of(const GpuSpec& chip, const std::vector<Request>& requests) {
  MemorySystem memory(chip);
  Result result{play(memory, requests), memory.counters().tex_requests, memory.counters().tex_sectors_read,
                memory.counters().dram_bytes_read};
  EXPECT_EQ(result.replies.size(), requests.size());
  EXPECT_TRUE(memory.idle());
  return result;
}

TEST(Merging, ReadUnderWayTakesAnotherAlong) {
  const GpuSpec chip = merging_chip();
  const std::uint64_t line = line_at_home(chip, 0);
  const Result result = results_of(chip, {read_request(0, 0, line, 1, 0), read_request(100, 2, line, 1, 1)});
  EXPECT_EQ(result.requests, 1u);
  EXPECT_EQ(result.sectors, 1u);
  EXPECT_EQ(result.replies[0].time, result.replies[1].time);
}

TEST(Merging, AMulticastNeitherJoinsNorLeads) {
  const GpuSpec chip = merging_chip();
  const std::uint64_t line = line_at_home(chip, 0);
  Request first = read_request(0, 0, line, 1, 0), second = read_request(100, 2, line, 1, 1);
  first.multicast = true;
  EXPECT_EQ(results_of(chip, {first, second}).requests, 2u) << "nobody joins it";
  first.multicast = false;
  second.multicast = true;
  EXPECT_EQ(results_of(chip, {first, second}).requests, 2u) << "it joins nobody";
}

TEST(Merging, AnsweredReadTakesNobodyAlong) {
  const GpuSpec chip = merging_chip();
  const std::uint64_t line = line_at_home(chip, 0);
  // All clocks are alike: the first read enters L2 after the request's way, its answer leaves a reply's way before it arrives.
  const Cycle arrival = results_of(chip, {read_request(0, 0, line, 1, 0)}).replies[0].time;
  const Cycle found = arrival - chip.network.reply_latency - chip.l2.latency;
  const auto second_at = [&](Cycle reaches) {
    return results_of(chip, {read_request(0, 0, line, 1, 0),
                             read_request(reaches - chip.network.request_latency, 2, line, 1, 1)})
        .requests;
  };
  EXPECT_EQ(second_at(found - 1), 1u);
  EXPECT_EQ(second_at(found + chip.l2.merge_cycles), 1u);
  EXPECT_EQ(second_at(found + chip.l2.merge_cycles + 1), 2u);
}

TEST(Merging, AsManyAsOneAnswerServes) {
  const GpuSpec chip = merging_chip();
  const std::uint64_t line = line_at_home(chip, 0);
  std::vector<Request> requests;
  for (std::uint32_t sm = 0; sm < 3; ++sm) requests.push_back(read_request(sm, sm, line, 1, sm));
  EXPECT_EQ(results_of(chip, requests).requests, 1u);
  requests.push_back(read_request(3, 3, line, 1, 3));
  EXPECT_EQ(results_of(chip, requests).requests,
            2u);  // the fourth goes on its own, and could take others along
  requests.push_back(read_request(4, 4, line, 1, 4));
  EXPECT_EQ(results_of(chip, requests).requests, 2u);
  GpuSpec none = chip;
  none.l2.merged_reads = 1;
  EXPECT_EQ(results_of(none, requests).requests, 5u);
}

TEST(Merging, OtherLinesGpcsAndPartitionsGoAlone) {
  GpuSpec chip = merging_chip();
  const std::uint64_t line = line_at_home(chip, 0);
  EXPECT_EQ(results_of(chip, {read_request(0, 0, line, 1, 0), read_request(1, 1, line + 1, 1, 1)}).requests,
            2u);
  chip.sm.gpcs = 4;  // SMs 0 and 1 are of one GPC, 2 of the next, beside the same partition
  EXPECT_EQ(results_of(chip, {read_request(0, 0, line, 1, 0), read_request(1, 1, line, 1, 1)}).requests, 1u);
  EXPECT_EQ(results_of(chip, {read_request(0, 0, line, 1, 0), read_request(1, 2, line, 1, 1)}).requests, 2u);
  // Each GPC has a first of its own, whoever comes in between.
  EXPECT_EQ(results_of(chip, {read_request(0, 0, line, 1, 0), read_request(1, 2, line, 1, 1),
                              read_request(2, 1, line, 1, 2), read_request(3, 3, line, 1, 3)})
                .requests,
            2u);
}

/// How many requests three reads of a line become, of which the second asks for `sectors` from SM `sm`.
std::uint64_t with_other_between(const GpuSpec& chip, std::uint32_t sm, std::uint8_t sectors) {
  const std::uint64_t line = line_at_home(chip, 0);
  return results_of(chip, {read_request(0, 0, line, 1, 0), read_request(1, sm, line, sectors, 1),
                           read_request(2, 1, line, 1, 2)})
      .requests;
}

TEST(Merging, ReadOfOtherSectorsEndsIt) {
  GpuSpec chip = merging_chip();
  EXPECT_EQ(with_other_between(chip, 2, 1), 1u);
  EXPECT_EQ(with_other_between(chip, 2, 2), 3u);
  EXPECT_EQ(with_other_between(chip, 2, 3), 3u);
  EXPECT_EQ(with_other_between(chip, 0, 2), 3u);
  chip.sm.gpcs = 4;
  EXPECT_EQ(with_other_between(chip, 2, 1), 2u);  // another GPC's read of the same does not,
  EXPECT_EQ(with_other_between(chip, 2, 2), 3u);  // one of another sector does,
  EXPECT_EQ(with_other_between(chip, 4, 2), 2u);  // unless it comes from beside the other partition
}

TEST(Merging, WhatEndsItIsNotJoinedEither) {
  const GpuSpec chip = merging_chip();
  const std::uint64_t line = line_at_home(chip, 0);
  std::vector<Request> requests{read_request(0, 0, line, 1, 0), read_request(1, 1, line, 2, 1),
                                read_request(2, 2, line, 2, 2)};
  EXPECT_EQ(results_of(chip, requests).requests, 3u);
  requests.push_back(read_request(3, 3, line, 2, 3));  // the one before it could be joined
  EXPECT_EQ(results_of(chip, requests).requests, 3u);
}

TEST(Merging, ReadWhoseTimeIsOverEndsNothing) {
  const GpuSpec chip = merging_chip();
  const std::uint64_t line = line_at_home(chip, 0);
  const Cycle arrival = results_of(chip, {read_request(0, 0, line, 1, 0)}).replies[0].time;
  const Cycle found = arrival - chip.network.reply_latency - chip.l2.latency;
  const auto others_at = [&](Cycle reaches) {
    const Cycle at = reaches - chip.network.request_latency;
    return results_of(chip, {read_request(0, 0, line, 2, 0), read_request(at, 1, line, 1, 1),
                             read_request(at + 1, 2, line, 1, 2)})
        .requests;
  };
  EXPECT_EQ(others_at(found + chip.l2.merge_cycles), 3u);
  EXPECT_EQ(others_at(found + chip.l2.merge_cycles + 1), 2u);
}

TEST(Merging, StoresAndAtomicsEndIt) {
  GpuSpec chip = merging_chip();
  const std::uint64_t line = line_at_home(chip, 0);
  const auto requests_with = [&](const Request& between) {
    return results_of(chip, {read_request(0, 0, line, 1, 0), between, read_request(2, 1, line, 1, 2)})
        .requests;
  };
  EXPECT_EQ(requests_with(write_request(1, 2, line, 2, ~0u, 1)), 3u);
  EXPECT_EQ(requests_with(write_request(1, 2, line + 1, 2, ~0u, 1)), 2u);
  EXPECT_EQ(requests_with(atomic_request(1, 2, line, 2, 1, 1)), 3u);
  EXPECT_EQ(requests_with(atomic_request(1, 2, line + 1, 2, 1, 1)), 2u);
}

TEST(Merging, OneAnswerCrossesToTheGpcForAll) {
  GpuSpec chip = merging_chip();
  chip.network.gpc_reply_bytes = 32;  // a whole line takes four cycles to the GPC
  const std::uint64_t line = line_at_home(chip, 0);
  const std::vector<Request> requests{read_request(0, 0, line, 15, 0), read_request(1, 1, line, 15, 1),
                                      read_request(2, 2, line, 15, 2)};
  const Result merged = results_of(chip, requests);
  EXPECT_EQ(merged.replies.front().time, merged.replies.back().time);
  chip.l2.merged_reads = 1;
  const Result alone = results_of(chip, requests);
  EXPECT_EQ(alone.replies.back().time - alone.replies.front().time, 8u);
}

TEST(Merging, TableAgreesWithAMap) {
  memory::Merging table;
  std::map<std::uint64_t, std::uint32_t> map;
  std::mt19937 random(3);
  const auto below = [&random](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  for (std::uint32_t step = 0; step < 200'000; ++step) {
    const std::uint64_t key = memory::Merging::key(below(60), below(60));
    const auto expected = map.find(key);
    memory::Merging::Entry* const entry = table.find(key);
    ASSERT_EQ(entry == nullptr, expected == map.end());
    if (entry == nullptr) {
      table.put({key, step, 1});
      map[key] = step;
    } else {
      ASSERT_EQ(entry->leaders, expected->second);
      if (random() % 2) {
        table.remove(entry);
        map.erase(expected);
      }
    }
    ASSERT_EQ(table.size(), map.size());
  }
  EXPECT_GT(map.size(), 1024u);  // it has grown
}

}  // namespace
}  // namespace foretrace::memory_tests
