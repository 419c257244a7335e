// Who joins an earlier read before a slice, alone: packets as they come, and nothing else of the memory system.

#include "model/memory/read_merging.h"

#include <gtest/gtest.h>

#include "tests/memory/driver.h"
#include "tests/memory/parts.h"

namespace foretrace::memory_tests {
namespace {

using memory::Shared;

// Of four GPCs; SMs 0 and 1 are of one, 2 of another beside the same partition. Three reads may share an answer, up to ten cycles after
// its data were found.
class ReadMerging : public testing::Test {
 protected:
  static spec::GpuSpec chip() {
    spec::GpuSpec made = small_chip();
    made.l2.merged_reads = 3;
    made.l2.merge_cycles = 10;
    return made;
  }
  std::uint32_t read(std::uint32_t sm, std::uint8_t sectors = 1) { return packet(shared, sm, line, sectors); }
  Shared shared{chip()};
  memory::ReadMerging merging{shared};
  const std::uint64_t line = line_at_home(shared.spec, 0);
};

TEST_F(ReadMerging, IsOffWhereAnAnswerIsForOneRead) {
  EXPECT_TRUE(merging.on());
  Shared other(small_chip());
  EXPECT_FALSE(memory::ReadMerging(other).on());
}

TEST_F(ReadMerging, ReadsOfAGpcJoinUpToTheMost) {
  const std::uint32_t first = read(0);
  shared.counters.tex_requests = shared.counters.tex_sectors_read = 4;
  EXPECT_FALSE(merging.join(first));
  EXPECT_TRUE(merging.join(read(1)));
  EXPECT_TRUE(merging.join(read(0)));
  EXPECT_FALSE(merging.join(read(1))) << "the fourth leads the next ones";
  EXPECT_TRUE(merging.join(read(0)));
  EXPECT_EQ(shared.pool[first].merged, 2u);
  EXPECT_EQ(shared.counters.tex_requests, 1u);
  EXPECT_EQ(shared.counters.tex_sectors_read, 1u);
}

TEST_F(ReadMerging, GpcsLeadTheirOwn) {
  EXPECT_FALSE(merging.join(read(0)));
  EXPECT_FALSE(merging.join(read(2)));
  EXPECT_TRUE(merging.join(read(1)));
  EXPECT_TRUE(merging.join(read(3)));
}

TEST_F(ReadMerging, OtherSectorsEndItAndAreNotRemembered) {
  EXPECT_FALSE(merging.join(read(0, 0b0001)));
  EXPECT_FALSE(merging.join(read(2, 0b0010))) << "of whichever GPC";
  EXPECT_EQ(merging.lines(), 0u);
  EXPECT_FALSE(merging.join(read(1, 0b0001)));
}

TEST_F(ReadMerging, AStoreToTheLineEndsIt) {
  const std::uint32_t first = read(0);
  EXPECT_FALSE(merging.join(first));
  const memory::Transaction& at = shared.pool[first];
  merging.stop(shared.set_of(at), at.tag + 2);
  EXPECT_EQ(merging.lines(), 1u) << "another line's";
  merging.stop(shared.set_of(at), at.tag);
  EXPECT_EQ(merging.lines(), 0u);
  EXPECT_FALSE(at.leads);
}

TEST_F(ReadMerging, DataThatWereFoundTakeOthersAlongForSomeCycles) {
  const std::uint32_t first = read(0);
  EXPECT_FALSE(merging.join(first));
  shared.pool[first].answered = true;
  shared.pool[first].since = 100;
  shared.now = 110;
  EXPECT_TRUE(merging.join(read(1)));
  shared.now = 111;
  EXPECT_FALSE(merging.join(read(1)));
  EXPECT_FALSE(shared.pool[first].leads);
}

TEST_F(ReadMerging, TheLineIsForgottenWithItsLastAnswer) {
  const std::uint32_t first = read(0), other = read(2);
  merging.join(first);
  merging.join(other);
  merging.answered(first);
  EXPECT_EQ(merging.lines(), 1u);
  merging.answered(other);
  EXPECT_EQ(merging.lines(), 0u);
}

}  // namespace
}  // namespace foretrace::memory_tests
