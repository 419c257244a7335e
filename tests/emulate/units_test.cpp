// The emulator's units by themselves: how groups of lanes part and come together, a block's barriers, what is progress, which bytes were
// written, and what is left of a printed instruction.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "sim/emulate/execute/divergence.h"
#include "sim/emulate/execute/running_warp.h"
#include "sim/emulate/memory/written_bytes.h"
#include "sim/emulate/schedule/block_barriers.h"
#include "sim/emulate/translate/printed_form.h"
#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

/// Warps of one block that stand at instruction 3 of a program that nobody executes.
struct Standing {
  Assembled code{"EXIT", 64};
  Emulator emulator{code.context};
  RunningWarp x{emulator.launch(), 0};
  Divergence divergence{x};
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(1 << 14);
  std::vector<Warp> warps = std::vector<Warp>(2);

  Standing() {
    for (std::uint32_t i = 0; i < warps.size(); ++i) {
      warps[i].index = i;
      warps[i].registers = warps[i].uniforms = words.data();
      warps[i].live = warps[i].now.lanes = ~0u;
      warps[i].now.pc = 3;
      warps[i].predicates[kTrueSlot] = ~0u;
    }
    x.enter(warps[0]);
  }
};

TEST(Divergence, LanesThatBranchWaitUntilTheOthersHaveEnded) {
  Standing s;
  Warp& w = s.warps[0];
  s.divergence.branch(0xff, 9);
  EXPECT_EQ(w.now.lanes, ~0xffu);
  EXPECT_EQ(w.now.pc, 4u);
  ASSERT_EQ(w.others.size(), 1u);
  EXPECT_EQ(w.others[0].pc, 9u);
  EXPECT_TRUE(s.divergence.exit_lanes(~0xffu));
  EXPECT_EQ(w.now.lanes, 0xffu);
  EXPECT_EQ(w.now.pc, 9u);
  EXPECT_FALSE(s.divergence.exit_lanes(0xff));
  EXPECT_EQ(s.x.stop, Stop::done);
  EXPECT_EQ(w.state, WarpState::done);
}

TEST(Divergence, ABranchThatAllTakeOrNobodyPartsNothing) {
  Standing s;
  s.divergence.branch(~0u, 9);
  EXPECT_EQ(s.warps[0].now.pc, 9u);
  s.divergence.branch(0, 3);
  EXPECT_EQ(s.warps[0].now.pc, 10u);
  EXPECT_TRUE(s.warps[0].others.empty());
}

TEST(Divergence, PartsComeTogetherAtTheirBarrier) {
  Standing s;
  Warp& w = s.warps[0];
  MicroOp bsync;
  bsync.kind = Kind::join_barrier;
  bsync.index2 = 2;
  w.now.joined[2] = ~0u;
  s.divergence.branch(0xff, 9);
  w.now.pc = 20;
  EXPECT_TRUE(s.divergence.join(bsync, w.now.lanes));  // the others run
  EXPECT_EQ(w.now.lanes, 0xffu);
  w.now.pc = 20;
  EXPECT_TRUE(s.divergence.join(bsync, 0xff));
  EXPECT_EQ(w.now.lanes, ~0u);
  EXPECT_EQ(w.now.pc, 21u);
  EXPECT_TRUE(w.others.empty());
}

TEST(BlockBarriers, LetTheBlockGoWhenItsLastWarpHasCome) {
  Standing s;
  BlockBarriers barriers(s.x, s.divergence, s.warps, nullptr);
  MicroOp bar;
  bar.kind = Kind::block_barrier;
  EXPECT_FALSE(barriers.arrive(bar, ~0u));
  EXPECT_EQ(s.x.stop, Stop::barrier);
  EXPECT_EQ(s.warps[0].state, WarpState::at_barrier);
  s.x.enter(s.warps[1]);
  EXPECT_FALSE(barriers.arrive(bar, ~0u)) << "the others come as far first";
  EXPECT_EQ(s.x.stop, Stop::turn);
  for (const Warp* w : {&s.warps[0], &s.warps[1]}) {
    EXPECT_EQ(w->state, WarpState::ready);
    EXPECT_EQ(w->short_turns, kShortTurns);
  }
  EXPECT_EQ(s.warps[1].now.pc, 4u);
}

TEST(BlockBarriers, DoNotWaitForWarpsThatHaveEnded) {
  Standing s;
  BlockBarriers barriers(s.x, s.divergence, s.warps, nullptr);
  MicroOp bar;
  bar.kind = Kind::block_barrier;
  EXPECT_FALSE(barriers.arrive(bar, ~0u));
  barriers.complete();
  EXPECT_EQ(s.warps[0].state, WarpState::at_barrier);
  s.warps[1].state = WarpState::done;
  barriers.complete();
  EXPECT_EQ(s.warps[0].state, WarpState::ready);
}

TEST(Progress, EndsPolling) {
  Standing s;
  s.x.progress.issued = 40;
  s.x.note_poll();
  EXPECT_TRUE(s.x.turn);
  EXPECT_EQ(s.x.progress.idle(), 40u);
  s.x.progress.note();
  EXPECT_EQ(s.x.progress.polls, 0u);
  EXPECT_EQ(s.x.progress.idle(), 0u);
}

TEST(WrittenBytes, KnowsEachByteOfATrackedAllocation) {
  WrittenBytes bytes;
  bytes.add(0x1000, 64);  // before track(): not followed
  bytes.track();
  bytes.add(0x2000, 64);
  EXPECT_TRUE(bytes.all(0x1000, 64));
  EXPECT_FALSE(bytes.all(0x2000, 1));
  bytes.mark(0x2004, 4);
  EXPECT_TRUE(bytes.all(0x2004, 4));
  EXPECT_FALSE(bytes.all(0x2003, 2));
  EXPECT_FALSE(bytes.all(0x2007, 2));
  bytes.mark(0x2000, 4096);  // its end is the allocation's
  EXPECT_TRUE(bytes.all(0x2000, 4096));
  bytes.remove(0x2000);
  EXPECT_TRUE(bytes.all(0x2000, 64));
  bytes.add(0x2000, 32);
  EXPECT_FALSE(bytes.all(0x201f, 1));
  EXPECT_TRUE(bytes.all(0x2020, 1));
}

TEST(WrittenBytes, BelongToTheAllocationOfTheFirstByte) {
  WrittenBytes bytes;
  bytes.track();
  bytes.add(0x1000, 16);
  bytes.add(0x1010, 16);  // right behind it
  bytes.mark(0xff8, 64);  // begins before any: nobody's
  EXPECT_FALSE(bytes.all(0x1000, 1));
  bytes.mark(0x1008, 16);  // what lies in the second is left alone
  EXPECT_TRUE(bytes.all(0x1008, 8));
  EXPECT_FALSE(bytes.all(0x1007, 2));
  EXPECT_FALSE(bytes.all(0x1010, 1));
  bytes.mark(0x1020, 4);  // behind the last
  EXPECT_FALSE(bytes.all(0x101f, 1));
  bytes.remove(0x1004);  // no allocation begins there
  EXPECT_FALSE(bytes.all(0x1000, 1));
}

std::string left_over(const PrintedForm& form) {
  try {
    form.refuse_rest();
  } catch (const Unsupported& reason) { return reason.why; }
  return "";
}

TEST(PrintedForm, RefusesWhatNobodyAskedFor) {
  const Assembled code("IADD3.X.FOO R1, R2, 0x5", 32);
  PrintedForm form(code.context.program->code[0]);
  EXPECT_FALSE(form.take("LO"));
  EXPECT_EQ(form.take_one({"LO", "X"}, 7), 1);
  EXPECT_EQ(form.take_one({"LO", "X"}, 7), 7) << "a modifier is taken once";
  EXPECT_EQ(left_over(form), "modifier .FOO");
  EXPECT_TRUE(form.take("FOO"));
  EXPECT_EQ(form.left(), 3u);
  EXPECT_TRUE(form.next_is_register());
  EXPECT_THROW(form.immediate(), Unsupported) << "R1";
  form.next();
  EXPECT_EQ(left_over(form), "operand '0x5'");
  EXPECT_EQ(form.immediate(), 5u);
  EXPECT_FALSE(form.more());
  EXPECT_EQ(left_over(form), "");
  EXPECT_THROW(form.next(), Unsupported);
  EXPECT_THROW(form.need_one({"X"}), Unsupported);
}

TEST(PrintedForm, GivesModifiersInAnyOrderAndOperandsInTheirs) {
  const Assembled code("ISETP.GE.U32.AND P0, PT, R2, UR4, PT\nBRA `(END)\nFADD R1, R2, 1.5\nEND:\nEXIT", 32);
  PrintedForm compare(code.context.program->code[0]);
  EXPECT_TRUE(compare.take("AND")) << "the last first";
  EXPECT_EQ(compare.need_one({"LT", "GE"}), 1);
  EXPECT_EQ(left_over(compare), "modifier .U32");
  EXPECT_TRUE(compare.next_is_predicate());
  EXPECT_FALSE(compare.next_is_register());
  compare.next();
  compare.next();
  EXPECT_EQ(compare.peek().text, "R2");
  EXPECT_EQ(compare.next().text, "R2") << "looking takes nothing";
  EXPECT_TRUE(compare.next_is_register()) << "a uniform one";
  EXPECT_FALSE(compare.next_is(isa::OperandKind::register_));
  EXPECT_EQ(compare.left(), 2u);

  PrintedForm branch(code.context.program->code[1]);
  EXPECT_EQ(branch.branch_target(), 3u) << "in instructions of 16 bytes";
  PrintedForm add(code.context.program->code[2]);
  EXPECT_THROW(add.branch_target(), Unsupported) << "R1";
  add.next();
  EXPECT_THROW(add.immediate(), Unsupported) << "a float is no number of bits";
}

}  // namespace
}  // namespace foretrace::emulate
