// Reads and writes of one line: how far behind each other, and who waits with them.

#include "model/memory/line_turns.h"

#include <gtest/gtest.h>

#include "model/memory/memory_system.h"
#include "tests/memory/driver.h"
#include "tests/memory/specs.h"

namespace foretrace::memory_tests {
namespace {

using Access = memory::LineTurns::Access;

// 32 bytes per cycle; accesses of a line that differ come ten cycles apart.
class Turns : public testing::Test {
 protected:
  memory::LineTurns turns{32};
  std::uint64_t pass(std::uint64_t ready, std::uint64_t line, Access access, std::size_t way = 0) {
    return turns.pass(way, ready, 32, line, access, 10);
  }
};

TEST_F(Turns, AReadBehindAWriteOfItsLineWaits) {
  EXPECT_EQ(pass(100, 7, Access::write), 100u);
  EXPECT_EQ(pass(109, 7, Access::read), 110u);   // a cycle early
  EXPECT_EQ(pass(120, 7, Access::write), 120u);  // on time
  EXPECT_EQ(pass(121, 7, Access::read), 130u);
}

TEST_F(Turns, OfOneKindNoneWaits) {
  for (const Access access : {Access::read, Access::write}) {
    EXPECT_EQ(pass(200, 7, access), 200u);
    EXPECT_EQ(pass(201, 7, access), 201u);
    EXPECT_EQ(pass(300, 8, access), 300u);
    turns = memory::LineTurns(32);
  }
}

TEST_F(Turns, AReadBehindAnAtomicOfItsLineWaitsAndAnAtomicDoesNot) {
  EXPECT_EQ(pass(100, 7, Access::atomic), 100u);
  EXPECT_EQ(pass(101, 7, Access::write), 101u);
  EXPECT_EQ(pass(102, 7, Access::atomic), 102u);
  EXPECT_EQ(pass(111, 7, Access::read), 112u);    // a cycle early
  EXPECT_EQ(pass(113, 7, Access::atomic), 113u);  // right behind a read
  EXPECT_EQ(pass(123, 7, Access::read), 123u);    // on time
}

TEST_F(Turns, WhoComesBehindOnTheSameWayWaitsToo) {
  pass(100, 7, Access::write);
  EXPECT_EQ(pass(101, 7, Access::read), 110u);
  EXPECT_EQ(pass(102, 8, Access::read), 111u) << "another line, behind it";
  EXPECT_EQ(pass(103, 9, Access::atomic), 112u) << "an atomic";
  EXPECT_EQ(pass(103, 7, Access::write, 1), 103u) << "from the other partition";
  EXPECT_EQ(pass(104, 7, Access::read, 1), 113u) << "behind that write";
  EXPECT_EQ(turns.last(0), 112u);
  EXPECT_EQ(turns.last(1), 113u);
}

TEST(LineTurns, LoadsBehindStoresOfTheirLineAreAnsweredLater) {
  spec::GpuSpec chip = small_chip();
  const auto answered = [&](std::uint64_t stored, std::uint32_t turnaround) {
    chip.l2.line_turnaround = turnaround;
    memory::MemorySystem memory(chip);
    const std::vector<memory::Reply> replies =
        play(memory, {read_request(0, 0, 0, 0b1111, 1), read_request(0, 0, stored, 0b1111, 2),
                      write_request(5000, 0, stored, 0b0001, 0xf, 3), read_request(5001, 0, 0, 0b0100, 4)});
    for (const memory::Reply& reply : replies)
      if (reply.id == 4) return reply.time;
    return Cycle{0};
  };
  const Cycle apart = answered(64, 30), meets = answered(0, 30);
  EXPECT_EQ(answered(0, 0), apart);
  EXPECT_GT(meets, apart + 20);  // 30 L2 cycles less what the load comes behind the store
  EXPECT_LE(meets, apart + 31 * 2);
}

}  // namespace
}  // namespace foretrace::memory_tests
