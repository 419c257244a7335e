// Loops that a warp goes through again by themselves: in which cycle an answer must be there for a round to be repeated, and as what.

#include <gtest/gtest.h>

#include "model/sm/retries.h"
#include "model/sm/spin_loops.h"
#include "tests/sm/parts.h"

namespace foretrace::sm {
namespace {

/// Cycles from an instruction's issue until the memory unit takes it, where nothing is before it.
Cycle until_taken(const spec::GpuSpec& chip) { return chip.lsu.issue_latency + chip.lsu.address_latency; }

/// The warp's access to memory, as the SM issues it.
MemoryIssue access_of(const Warp& warp, std::uint16_t id) {
  return {warp.instruction,
          warp.step.index,
          id,
          0,
          static_cast<std::uint16_t>(warp.block),
          0,
          warp.step.executed,
          0,
          &warp.cursor};
}

constexpr std::uint32_t kRead = 0, kSwap = 2, kBranch = 4, kBehind = 5;
constexpr std::uint16_t kOne = 0, kOther = kWarpSlots;  // warps of two sub-cores

/// Warps that add to the same word of shared memory.
struct Trying : Parts {
  Trying()
      : Parts({{"LDS R8, [R2]"},
               {"FADD R9, R7, R8"},
               {"ATOMS.CAST.SPIN R9, [R2], R8, R9"},
               {"ISETP.EQ.U32.AND P0, PT, R9, 0x1, PT"},
               {"@!P0 BRA `(first)"},
               {"NOP"}}) {
    for (const std::uint16_t id : {kOne, kOther}) {
      std::vector<Executed> all;
      for (std::uint32_t index = kRead; index <= kBehind; ++index)
        all.push_back({index, {"", 1, 7, 7, 0, 1}});
      retries.start_warp(begin(id, all, 0, id == kOne ? 0 : 1), id);
    }
  }
  /// The warp issues its next instruction at `now`.
  void issue(std::uint16_t id, Cycle now) {
    tick_memory(now);
    Warp& warp = table.warps[id];
    if (warp.instruction->action == Action::memory) {
      MemoryIssue issued = access_of(warp, id);
      retries.tell(warp, issued);
      memory.issue(WarpTable::core_of(id), issued, now);
    }
    ASSERT_TRUE(next_step(warp, blocks));
    retries.next_step(warp, id);
    warp.instruction = &program.code[warp.step.index];
  }
  /// The same of all that are left before instruction `index`.
  void issue_until(std::uint16_t id, std::uint32_t index, Cycle now) {
    while (at(id) != index) issue(id, now);
  }
  std::uint32_t at(std::uint16_t id) const { return table.warps[id].step.index; }

  Retries retries{program.shapes, memory};
};

TEST(Retries, ARoundIsRepeatedOnceItsSwapHasFailedAndNotBefore) {
  const auto behind_branch_at = [](Cycle after) {
    Trying parts;
    for (const std::uint16_t id : {kOne, kOther}) parts.issue_until(id, kSwap, 0);
    parts.issue(kOne, 100);
    parts.issue(kOther, 200);
    parts.issue_until(kOther, kBranch, 200);
    parts.issue(kOther, 200 + until_taken(parts.chip) + after - 1);
    EXPECT_EQ(parts.retries.repeats(kOther), parts.at(kOther) == kRead);
    EXPECT_EQ(parts.table.warps[kOther].step.executed, 1u);
    parts.issue_until(kOne, kBehind, 300);
    EXPECT_FALSE(parts.retries.repeats(kOne));
    return parts.at(kOther);
  };
  EXPECT_EQ(behind_branch_at(0), kBehind) << "nobody has told it";
  EXPECT_EQ(behind_branch_at(1), kRead);
}

TEST(Retries, ASwapFailsWhereAnotherCameAfterItsReadWasServed) {
  const auto fails = [](Cycle read) {
    Trying parts;
    parts.issue_until(kOne, kSwap, 0);
    if (read <= 100) parts.issue_until(kOther, kSwap, read);
    parts.issue(kOne, 100);
    if (read > 100) parts.issue_until(kOther, kSwap, read);
    parts.issue(kOther, 200);
    parts.tick_memory(300);
    parts.issue_until(kOther, kBranch, 300);
    parts.issue(kOther, 300);
    return parts.retries.repeats(kOther);
  };
  EXPECT_TRUE(fails(100)) << "sub-cores are served in turn: it reads first what the other changes";
  EXPECT_FALSE(fails(101));
}

TEST(Retries, WhatARoundHasDoneStaysDoneWhenItIsRepeated) {
  Trying parts;
  for (const std::uint16_t id : {kOne, kOther}) parts.issue_until(id, kSwap, 0);
  parts.issue(kOne, 100);
  parts.issue(kOther, 200);
  parts.issue_until(kOther, kBranch, 200);
  parts.tick_memory(300);
  parts.issue(kOther, 300);
  ASSERT_EQ(parts.at(kOther), kRead);
  parts.issue_until(kOther, kSwap, 400);
  parts.issue(kOther, 500);
  parts.issue_until(kOther, kBranch, 500);
  parts.tick_memory(600);
  parts.issue(kOther, 600);
  EXPECT_EQ(parts.at(kOther), kBehind) << "this time nobody came between";
  EXPECT_FALSE(parts.retries.repeats(kOther));
}

constexpr std::uint32_t kAsk = 0, kBack = 2, kAfter = 3;
const work::Awaited kWrite{0, {7, 3, 0}, 0};  // the first of warp 3 of block 7

/// A warp that asks for a line until another has written what it waits for.
struct Spinning : Parts {
  explicit Spinning(const char* asks)
      : Parts({{asks, 1, 0},
               {"ISETP.GE.U32.AND P0, PT, R9, R22, PT"},
               {"@!P0 BRA `(first)"},
               {"STG.E.STRONG.GPU desc[UR12][R2.64], R9"},
               {"NOP"}}) {
    loops.start_warp(begin(0, {{kAsk, {}, {kWrite}}, {1}, {kBack}, {kAfter}, {4}}), 0);
  }
  /// The warp issues its next instruction at `now`; what goes to memory is returned.
  MemoryIssue issue(Cycle now) {
    tick_memory(now);
    Warp& warp = table.warps[0];
    const work::Step done = warp.step;
    MemoryIssue issued = access_of(warp, 0);
    if (warp.instruction->action == Action::memory) {
      loops.tell_and_wait(warp, 0, issued);
      memory.issue(0, issued, now);
    }
    EXPECT_TRUE(loops.next_step(warp, 0, done));
    warp.instruction = &program.code[warp.step.index];
    return issued;
  }
  /// What was asked for last is answered at `now`: it was too early. Returns when that is known.
  Cycle answer_too_early(Cycle now) {
    tick_memory(now);
    return memory.arrive(requests.back().id | memory::kTooEarly, now);
  }
  void filled(Cycle now) { memory.filled(requests.back().id | memory::kTooEarly, now); }
  std::uint32_t at() const { return table.warps[0].step.index; }

  SpinLoops loops{context, blocks, memory};
};

const char* const kLoad = "LDG.E.STRONG.GPU R9, desc[UR12][R2.64]";
const char* const kLock = "ATOMG.E.CAS.STRONG.GPU PT, R9, [R2], R6, R7";

TEST(SpinLoops, ARoundIsRepeatedOnceItIsKnownThatItsLoadCameTooEarlyAndNotBefore) {
  const auto behind_branch_at = [](Cycle after) {
    Spinning parts(kLoad);
    const MemoryIssue asked = parts.issue(100);
    EXPECT_TRUE(asked.waits);
    EXPECT_EQ(parts.loops.awaited(0), std::vector{kWrite});
    parts.issue(101);
    const Cycle known = parts.answer_too_early(400);
    EXPECT_EQ(known, 400 + kLineBytes / parts.chip.l1.fill_bytes) << "a whole line goes into L1";
    const Cycle branch = known + after - 1;
    if (known <= branch) parts.filled(known);
    parts.issue(branch);
    return parts.at();
  };
  EXPECT_EQ(behind_branch_at(0), kAfter) << "nobody has told it";
  EXPECT_EQ(behind_branch_at(1), kAsk);
}

TEST(SpinLoops, ARepeatedRoundAsksForTheSameAndALoopThatIsLeftForNothing) {
  Spinning parts(kLoad);
  parts.issue(100);
  parts.issue(101);
  parts.filled(parts.answer_too_early(400));
  parts.issue(500);
  ASSERT_EQ(parts.at(), kAsk);
  EXPECT_TRUE(parts.loops.awaited(0).empty()) << "it has not asked yet";
  EXPECT_TRUE(parts.issue(501).waits);
  EXPECT_EQ(parts.loops.awaited(0), std::vector{kWrite});
  parts.issue(502);
  parts.issue(900);
  EXPECT_EQ(parts.at(), kAfter) << "this one came in time";
  EXPECT_TRUE(parts.loops.awaited(0).empty());
}

TEST(SpinLoops, TriesForALockHaveOneNameUntilOneSucceeds) {
  Spinning parts(kLock);
  const MemoryIssue first = parts.issue(100);
  EXPECT_EQ(first.tells, 1);
  EXPECT_EQ(first.signal.number, 0u);
  parts.issue(101);
  parts.filled(parts.answer_too_early(400));
  parts.issue(500);
  ASSERT_EQ(parts.at(), kAsk);
  EXPECT_EQ(parts.issue(501).signal.number, 0u) << "what failed wrote nothing";
  parts.issue(502);
  parts.issue(900);
  ASSERT_EQ(parts.at(), kAfter);
  const MemoryIssue store = parts.issue(901);
  EXPECT_EQ(store.tells, 1);
  EXPECT_EQ(store.signal.number, 1u);
  EXPECT_FALSE(store.waits);
}

}  // namespace
}  // namespace foretrace::sm
