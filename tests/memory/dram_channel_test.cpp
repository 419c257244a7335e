// The DRAM channel alone: each timing refused a cycle early and met on time, order of service,
// turn-arounds, refresh.

#include "model/memory/dram_channel.h"

#include <gtest/gtest.h>

#include "tests/memory/specs.h"

namespace foretrace::memory_tests {
namespace {

using memory::DramChannel;
using Done = DramChannel::Done;

constexpr std::uint64_t kRcd = 20, kRp = 21, kCl = 22, kRas = 45, kWr = 19, kRrd = 6, kToWrite = 7,
                        kToRead = 13;

DramChannel::Access read(std::uint64_t arrival, std::uint32_t bank, std::uint64_t row, std::uint32_t tag,
                         std::uint32_t cycles = 4) {
  return {arrival, row, bank, cycles, tag, false};
}
DramChannel::Access write(std::uint64_t arrival, std::uint32_t bank, std::uint64_t row, std::uint32_t tag) {
  return {arrival, row, bank, 4, tag, true};
}

/// Calls the channel whenever it asks to be, from cycle `now` on, until nothing waits.
std::vector<Done> serve(DramChannel& channel, std::uint64_t now) {
  std::vector<Done> done;
  while (now != kNever) {
    const std::uint64_t next = channel.schedule(now, done);
    EXPECT_GT(next, now);
    now = next;
  }
  EXPECT_TRUE(channel.idle());
  return done;
}

class Channel : public testing::Test {
 protected:
  spec::DramSpec spec = small_chip().dram;
};

TEST_F(Channel, ClosedRowIsActivatedAndRead) {
  DramChannel channel(spec, 0);
  channel.enqueue(read(100, 0, 5, 1));
  std::vector<Done> done;
  EXPECT_EQ(channel.schedule(99, done), 100u);  // the controller does not have it yet
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(channel.schedule(100, done), kNever);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].end, 100 + kRcd + kCl + 4);
  EXPECT_EQ(done[0].queued, 0u);
}

TEST_F(Channel, OpenRowNeedsOnlyTheColumn) {
  DramChannel channel(spec, 0);
  channel.enqueue(read(0, 0, 5, 1));
  serve(channel, 0);
  channel.enqueue(read(1000, 0, 5, 2));
  EXPECT_EQ(serve(channel, 1000)[0].end, 1000 + kCl + 4);
  EXPECT_EQ(channel.counters().row_hits, 1u);
  EXPECT_EQ(channel.counters().row_misses, 1u);
}

TEST_F(Channel, OtherRowOfTheBankIsPrechargedFirst) {
  DramChannel channel(spec, 0);
  channel.enqueue(read(0, 0, 5, 1));
  serve(channel, 0);
  channel.enqueue(read(1000, 0, 6, 2));
  EXPECT_EQ(serve(channel, 1000)[0].end, 1000 + kRp + kRcd + kCl + 4);
}

TEST_F(Channel, PrechargeWaitsForTheRowsMinimumTime) {
  DramChannel channel(spec, 0);
  channel.enqueue(read(0, 0, 5, 1));
  channel.enqueue(read(0, 0, 6, 2));
  const std::vector<Done> done = serve(channel, 0);
  EXPECT_EQ(done[1].end, kRas + kRp + kRcd + kCl + 4);
}

TEST_F(Channel, PrechargeWaitsForTheWriteRecovery) {
  DramChannel channel(spec, 0);
  channel.enqueue(write(0, 0, 5, 1));
  const std::uint64_t end = serve(channel, 0)[0].end;
  ASSERT_EQ(end, kRcd + kCl + 4);
  channel.enqueue(read(end, 0, 6, 2));
  EXPECT_EQ(serve(channel, end)[0].end, end + kWr + kRp + kRcd + kCl + 4);
}

TEST_F(Channel, ActivatesOfTwoBanksKeepTheirDistance) {
  DramChannel channel(spec, 0);
  channel.enqueue(read(0, 0, 5, 1, 1));
  channel.enqueue(read(0, 1, 5, 2, 1));
  const std::vector<Done> done = serve(channel, 0);
  EXPECT_EQ(done[1].end - done[0].end, kRrd);
}

TEST_F(Channel, OpenRowsAreServedBeforeOlderClosedOnes) {
  DramChannel channel(spec, 0);
  channel.enqueue(read(0, 0, 5, 1));
  serve(channel, 0);
  channel.enqueue(read(1000, 0, 6, 2));
  channel.enqueue(read(1000, 0, 5, 3));
  const std::vector<Done> done = serve(channel, 1000);
  EXPECT_EQ(done[0].tag, 3u);
  EXPECT_EQ(done[1].tag, 2u);
}

TEST_F(Channel, NobodyIsOvertakenForEver) {
  spec.queue = 4;
  DramChannel channel(spec, 0);
  channel.enqueue(read(0, 0, 5, 1));
  channel.enqueue(read(0, 0, 6, 2));
  for (std::uint32_t i = 0; i < 100; ++i) channel.enqueue(read(0, 0, 5, 100 + i));
  const std::vector<Done> done = serve(channel, 0);
  const auto at =
      std::find_if(done.begin(), done.end(), [](const Done& d) { return d.tag == 2; }) - done.begin();
  EXPECT_EQ(at, 1 + 4 * 4);  // the first, then four queue lengths that overtook it
}

TEST_F(Channel, WritesWaitForABatchAndTurningTheBusCostsItsCycles) {
  DramChannel channel(spec, 0);  // a queue of 32: batches begin at 24 and end at 8
  for (std::uint32_t i = 0; i < 64; ++i) channel.enqueue(read(0, 0, 5, i));
  for (std::uint32_t i = 0; i < 30; ++i) channel.enqueue(write(0, 1, 5, 1000 + i));
  const std::vector<Done> done = serve(channel, 0);
  ASSERT_EQ(done.size(), 94u);
  std::vector<std::size_t> turns;
  for (std::size_t i = 1; i < done.size(); ++i) {
    if (done[i].write != done[i - 1].write) turns.push_back(i);
  }
  ASSERT_EQ(turns.size(), 3u);  // reads, a batch, the other reads, the rest
  EXPECT_EQ(turns[1] - turns[0], 30u - 8u);
  EXPECT_EQ(done[turns[0]].end - done[turns[0] - 1].end, kToWrite + 4);
  EXPECT_EQ(done[turns[1]].end - done[turns[1] - 1].end, kToRead + 4);
}

TEST_F(Channel, LoneWriteGoesWhenTheBusIsFree) {
  DramChannel channel(spec, 0);
  channel.enqueue(read(0, 0, 5, 1));
  channel.enqueue(write(0, 0, 5, 2));
  const std::vector<Done> done = serve(channel, 0);
  EXPECT_FALSE(done[0].write);
  EXPECT_EQ(done[1].end, done[0].end + kCl + 4);
}

TEST_F(Channel, FullWriteQueueIsReported) {
  DramChannel channel(spec, 0);
  for (std::uint32_t i = 0; i < 31; ++i) channel.enqueue(write(0, 0, 5, i));
  EXPECT_FALSE(channel.writes_full());
  channel.enqueue(write(0, 0, 5, 31));
  EXPECT_TRUE(channel.writes_full());
  serve(channel, 0);
  EXPECT_FALSE(channel.writes_full());
}

TEST_F(Channel, RefreshHoldsTheChannelAndClosesRows) {
  spec.refresh_interval = 1000;
  spec.refresh_cycles = 300;
  DramChannel channel(spec, 1000);
  channel.enqueue(read(0, 0, 5, 1));
  serve(channel, 0);
  channel.enqueue(read(999, 0, 5, 2));  // a cycle before the refresh
  EXPECT_EQ(serve(channel, 999)[0].end, 999 + kCl + 4);
  channel.enqueue(read(1100, 0, 5, 3));
  const std::uint64_t refreshed = 999 + kCl + 4 + 300;
  EXPECT_EQ(serve(channel, 1100)[0].end, refreshed + kRcd + kCl + 4);
  channel.enqueue(read(7500, 0, 5, 4));  // refreshes nobody waited for: only the row is closed
  EXPECT_EQ(serve(channel, 7500)[0].end, 7500 + kRcd + kCl + 4);
}

TEST_F(Channel, StreamOfOpenRowsFillsTheBus) {
  DramChannel channel(spec, 0);
  constexpr std::uint32_t kReads = 4096, kPerRow = 8;
  for (std::uint32_t i = 0; i < kReads; ++i)
    channel.enqueue(read(0, i / kPerRow % 16, i / kPerRow / 16, i, 8));
  const std::vector<Done> done = serve(channel, 0);
  EXPECT_EQ(channel.counters().busy, kReads * 8u);
  EXPECT_GE(done.back().end, kReads * 8u);  // never above the peak
  EXPECT_LE(done.back().end, kReads * 8u * 101 / 100 + kRcd + kCl);
  EXPECT_EQ(channel.counters().row_misses, kReads / kPerRow);
}

TEST_F(Channel, RefreshTakesItsShareOfAStream) {
  spec.refresh_interval = 2000;
  spec.refresh_cycles = 200;
  DramChannel channel(spec, 2000);
  constexpr std::uint32_t kReads = 8192;
  for (std::uint32_t i = 0; i < kReads; ++i) channel.enqueue(read(0, i / 8 % 16, i / 8 / 16, i, 8));
  const double cycles = static_cast<double>(serve(channel, 0).back().end), busy = kReads * 8.0;
  EXPECT_GT(cycles, busy / 0.9);         // a tenth of the time is refresh
  EXPECT_LT(cycles, busy / 0.9 * 1.05);  // and reopening rows after it costs little
}

TEST_F(Channel, RowMissesOfOneBankRunAtTheRowCycle) {
  DramChannel channel(spec, 0);
  constexpr std::uint32_t kReads = 100;
  for (std::uint32_t i = 0; i < kReads; ++i) channel.enqueue(read(0, 0, i, i));
  EXPECT_EQ(serve(channel, 0).back().end, (kReads - 1) * (kRas + kRp) + kRcd + kCl + 4);
}

}  // namespace
}  // namespace foretrace::memory_tests
