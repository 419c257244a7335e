// One execution for several chips: how often a launch is executed, and that each chip's result is what its own execution gives.
#include "sim/engine/shared_blocks.h"

#include <future>

#include <gtest/gtest.h>

#include "model/units/error.h"
#include "sim/emulate/fault.h"
#include "sim/engine/run_launch.h"
#include "tests/engine/launches.h"

namespace foretrace::engine_tests {
namespace {

constexpr std::uint32_t kBlocks = 600;
constexpr std::size_t kMuch = std::size_t{1} << 30;

std::shared_ptr<const spec::GpuSpec> chip(const char* sms) {
  return std::make_shared<spec::GpuSpec>(config::load_gpu("a100-sxm-40gb", {{"sm.count", sms}}).spec);
}

engine::LaunchRun choices(engine::Accuracy accuracy) {
  engine::LaunchRun run;
  run.accuracy = accuracy;
  return run;
}

/// Two chips, of 8 and of 12 SMs, and a launch on memory of each one's own: how often it is executed on the second one's.
struct TwoChips {
  explicit TwoChips(const char* text = kDouble, std::size_t most_bytes = kMuch) : shared(1, most_bytes) {
    const auto make = [&] {
      auto launch = std::make_unique<Launch>(text, kBlocks, 128, std::vector<std::uint32_t>(kBlocks * 128, 3),
                                             kBlocks * 128);
      launch->set_word(4, kBlocks * 128);
      return launch;
    };
    first = make();
    second = make();
    alone = make();
  }
  engine::Outcome give(engine::Accuracy accuracy) {
    engine::Machine machine(chip("8"));
    engine::LaunchRun run = choices(accuracy);
    run.share = &shared;
    return engine::run_launch(first->assembled.context, first->shape(), machine, run);
  }
  engine::Outcome take(engine::Accuracy accuracy) {
    engine::Machine machine(chip("12"));
    engine::SharedReader reader(shared);
    return engine::run_shared(
        [&] {
          ++executions;
          return second->assembled.context;
        },
        second->shape(), machine, choices(accuracy), reader);
  }
  /// The second chip's, had it not shared.
  engine::Outcome own(engine::Accuracy accuracy) {
    engine::Machine machine(chip("12"));
    return engine::run_launch(alone->assembled.context, alone->shape(), machine, choices(accuracy));
  }
  std::uint32_t written_by_second() { return second->assembled.read(second->out, 1)[0]; }

  engine::SharedBlocks shared;
  std::unique_ptr<Launch> first, second, alone;
  int executions = 0;
};

void expect_same(const engine::Outcome& one, const engine::Outcome& other) {
  EXPECT_EQ(one.counters.elapsed, other.counters.elapsed);
  EXPECT_EQ(one.counters.inst_executed, other.counters.inst_executed);
  EXPECT_EQ(one.counters.warp_cycles, other.counters.warp_cycles);
  EXPECT_EQ(one.counters.memory.dram_bytes_read, other.counters.memory.dram_bytes_read);
  EXPECT_EQ(one.estimate.note, other.estimate.note);
}

TEST(SharedBlocks, ALaunchIsExecutedOnceForTwoChips) {
  for (const engine::Accuracy accuracy : {engine::Accuracy::exact, engine::Accuracy::automatic}) {
    TwoChips chips;
    const engine::Outcome first = chips.give(accuracy);
    const engine::Outcome second = chips.take(accuracy);
    EXPECT_EQ(chips.executions, 0);
    EXPECT_EQ(chips.written_by_second(), 0u) << "nothing was executed on its memory";
    EXPECT_NE(first.counters.elapsed, second.counters.elapsed) << "the chips differ";
    expect_same(second, chips.own(accuracy));
  }
}

TEST(SharedBlocks, ManyChipsReadWhileOneExecutes) {
  TwoChips chips;
  engine::SharedBlocks shared(3, kMuch);
  std::vector<std::future<engine::Outcome>> readers;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(std::async(std::launch::async, [&] {
      engine::Machine machine(chip("12"));
      engine::SharedReader reader(shared);
      return engine::run_shared(
          [&]() -> emulate::LaunchContext { throw InputError("a reader was to execute the launch"); },
          chips.second->shape(), machine, choices(engine::Accuracy::exact), reader);
    }));
  }
  engine::Machine machine(chip("8"));
  engine::LaunchRun run = choices(engine::Accuracy::exact);
  run.share = &shared;
  engine::run_launch(chips.first->assembled.context, chips.first->shape(), machine, run);
  const engine::Outcome own = chips.own(engine::Accuracy::exact);
  for (auto& reader : readers) expect_same(reader.get(), own);
}

TEST(SharedBlocks, WhatIsNotHeldIsExecutedFromThereOn) {
  TwoChips chips(kDouble, 100'000);
  chips.give(engine::Accuracy::exact);
  const engine::Outcome second = chips.take(engine::Accuracy::exact);
  EXPECT_EQ(chips.executions, 1);
  EXPECT_NE(chips.written_by_second(), 0u) << "the launch's memory is whole";
  expect_same(second, chips.own(engine::Accuracy::exact));
}

TEST(SharedBlocks, HoldNoMoreThanReadersLack) {
  engine::SharedBlocks shared(1, 4096);  // of records that take some 100 bytes each
  engine::SharedReader reader(shared);
  shared.begin(1, true, "");
  for (std::uint64_t block = 0; block < 1000; ++block) {
    auto record = std::make_shared<work::BlockRecord>();
    record->block = block;
    shared.add(record, true);
    const auto taken = reader.take(1);
    ASSERT_NE(taken, nullptr) << block;
    EXPECT_EQ(taken->block, block);
  }
  for (int i = 0; i < 1000; ++i) shared.add(std::make_shared<work::BlockRecord>(), true);
  int held = 0;
  while (reader.take(1)) ++held;
  EXPECT_GT(held, 10);
  EXPECT_LT(held, 100) << "more than the limit was held for a reader that did not come";
}

TEST(SharedBlocks, BlocksThatWaitedAreAnotherChipsOnlyWithAsManyBesideEachOther) {
  engine::SharedBlocks shared(2, kMuch);
  shared.begin(64, true, "");
  shared.add(std::make_shared<work::BlockRecord>(), true);
  shared.add(std::make_shared<work::BlockRecord>(), false);
  engine::SharedReader same(shared), other(shared);
  EXPECT_NE(same.take(64), nullptr);
  EXPECT_NE(same.take(64), nullptr);
  EXPECT_NE(other.take(96), nullptr);
  EXPECT_EQ(other.take(96), nullptr);
}

TEST(SharedBlocks, ASampledLaunchIsExecutedByEach) {
  TwoChips chips;
  chips.shared.close();  // as run_launch() does before it samples
  const engine::Outcome second = chips.take(engine::Accuracy::automatic);
  EXPECT_EQ(chips.executions, 1);
  expect_same(second, chips.own(engine::Accuracy::automatic));
}

TEST(SharedBlocks, AFaultIsEachChipsOwn) {
  TwoChips chips;
  chips.first->set_word(4, kBlocks * 256);  // blocks beyond the buffers
  chips.second->set_word(4, kBlocks * 256);
  chips.first->assembled.context.grid.x = chips.second->assembled.context.grid.x = kBlocks + 40;
  EXPECT_THROW(chips.give(engine::Accuracy::exact), emulate::KernelFault);
  EXPECT_THROW(chips.take(engine::Accuracy::exact), emulate::KernelFault);
  EXPECT_EQ(chips.executions, 1);
}

}  // namespace
}  // namespace foretrace::engine_tests
