// Which counts share work out: loops that differ in what becomes of the count.
#include "model/isa/work_counters.h"

#include <gtest/gtest.h>

#include "tests/isa/assemble.h"

namespace foretrace::isa {
namespace {

using Indices = std::vector<std::uint32_t>;

TEST(WorkCounters, ACountThatEndsTheLoopDoes) {
  EXPECT_EQ(work_counters(assemble(R"(
  L:
    ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5
    ISETP.GE.AND P0, PT, R6, R9, PT
    @P0 EXIT
    STG.E [R10.64], R6
    BRA `(L)
  )")),
            Indices{0});
  EXPECT_EQ(work_counters(assemble(R"(
    MOV R5, 0x1
  L:
    STG.E [R10.64], R6
    ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5
    SHFL.IDX PT, R7, R6, RZ, 0x1f
    ISETP.LT.AND P0, PT, R7, R9, PT
    @P0 BRA `(L)
    EXIT
  )")),
            Indices{2})
      << "by the branch back, from one lane";
}

TEST(WorkCounters, ThroughSharedMemoryAndWhatIsLookedUpToo) {
  EXPECT_EQ(work_counters(assemble(R"(
  L:
    @P1 ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5
    @P1 STS [RZ], R6
    BAR.SYNC.DEFER_BLOCKING 0x0
    LDS R7, [RZ]
    IMAD.WIDE R8, R7, 0x4, R10
    LDG.E R12, [R8.64]
    ISETP.NE.AND P0, PT, R12, -0x1, PT
    @P0 BRA `(L)
    EXIT
  )")),
            Indices{0});
}

TEST(WorkCounters, APlaceInAListDoesNot) {
  EXPECT_EQ(work_counters(assemble(R"(
  L:
    LDG.E R6, [R2.64]
    ISETP.NE.AND P1, PT, R6, RZ, PT
    @P1 ATOMG.E.ADD.STRONG.GPU PT, R6, [R4.64], R5
    @P1 IMAD.WIDE R8, R6, 0x4, R10
    @P1 STG.E [R8.64], R7
    IADD3 R6, R7, 0x1, RZ
    ISETP.LT.AND P0, PT, R6, R20, PT
    @P0 BRA `(L)
    EXIT
  )")),
            Indices{})
      << "its register is another's before the loop is asked whether it goes on";
}

TEST(WorkCounters, OnlyInALoopAndOnlyWhereItIsTold) {
  EXPECT_EQ(work_counters(assemble(R"(
    ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5
    ISETP.GE.AND P0, PT, R6, R9, PT
    @P0 EXIT
    STG.E [R10.64], R6
    EXIT
  )")),
            Indices{});
  EXPECT_EQ(work_counters(assemble(R"(
  L:
    ATOMG.E.ADD.STRONG.GPU PT, RZ, [R2.64], R5
    IADD3 R6, R6, 0x1, RZ
    ISETP.LT.AND P0, PT, R6, R9, PT
    @P0 BRA `(L)
    EXIT
  )")),
            Indices{});
}

TEST(WorkCounters, WhatAllBlocksHaveDoneFirst) {
  const std::string zero = "STG.E [R2.64], RZ\n", add = "RED.E.ADD.STRONG.GPU [R4.64], R5\nEXIT\n";
  EXPECT_EQ(done_by_all_first(assemble("MOV R5, 0x1\n" + zero + add)), 2u);
  EXPECT_EQ(done_by_all_first(assemble(zero + "L:\n" + zero + "@P0 BRA `(L)\n" + add)), 1u);
  EXPECT_EQ(done_by_all_first(assemble("L:\n" + zero + "@P0 BRA `(L)\n" + add)), 0u);
  EXPECT_EQ(done_by_all_first(assemble("BAR.SYNC.DEFER_BLOCKING 0x0\n" + zero + add)), 0u);
  EXPECT_EQ(done_by_all_first(assemble("STG.E [R2.64], R5\n" + add)), 0u) << "no zero";
  EXPECT_EQ(done_by_all_first(assemble("STS [R2], RZ\n" + add)), 0u) << "the block's own";
  EXPECT_EQ(done_by_all_first(assemble(zero + "EXIT\n")), 0u) << "nobody adds";
  const std::string load = "LDG.E R6, [R2.64]\n", least = "RED.E.MIN.S32.STRONG.GPU [R4.64], R5\nEXIT\n";
  EXPECT_EQ(done_by_all_first(assemble(load + "L:\n" + load + "@P0 BRA `(L)\n" + least)), 1u);
  EXPECT_EQ(done_by_all_first(assemble(load + least + load)), 1u);
  EXPECT_EQ(done_by_all_first(assemble(load + add)), 0u) << "nothing that it would look at";
  EXPECT_EQ(done_by_all_first(assemble("LDG.E.CONSTANT R6, [R2.64]\n" + least)), 0u) << "nobody writes it";
}

}  // namespace
}  // namespace foretrace::isa
