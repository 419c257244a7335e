// The parts of an L2 slice, each alone: its lines, its fills, what waits, and the way to DRAM.

#include <gtest/gtest.h>

#include "model/memory/slices.h"
#include "tests/memory/driver.h"
#include "tests/memory/parts.h"

namespace foretrace::memory_tests {
namespace {

using memory::Event;
using memory::EventKind;
using memory::kNone;
using memory::Shared;
using memory::Transaction;
using Kind = memory::Packet::Kind;
constexpr std::uint64_t kClosedRow = 20 + 22;  // activate and read

/// All parts behind a slice's port, and lines of it.
class Slice : public testing::Test {
 protected:
  explicit Slice(const spec::GpuSpec& made = small_chip()) : shared(made) {}
  std::uint32_t read(std::uint64_t of, std::uint8_t sectors, std::uint32_t sm = 0) {
    return packet(shared, sm, of, sectors);
  }
  /// Another line of the slice's set.
  std::uint64_t same_set(std::uint32_t number) const {
    const memory::Place place = shared.map.place(line);
    std::uint64_t found = line;
    for (std::uint32_t seen = 0; seen < number;) {
      const memory::Place other = shared.map.place(++found);
      seen += other.home == place.home && other.index == place.index && other.set == place.set;
    }
    return found;
  }
  bool write(std::uint64_t of, std::uint8_t sectors, std::uint32_t bytes = ~0u, bool behind = false) {
    const memory::Place place = shared.map.place(of);
    memory::Write made;
    made.bytes.fill(bytes);
    const std::uint32_t slice = shared.map.slice(place.home, place.index);
    return lines.write(made, slice, shared.map.set(slice, place.set), place.tag, sectors, behind);
  }
  std::uint32_t slot_of(std::uint64_t of) {
    const memory::Place place = shared.map.place(of);
    return lines.tags().find(shared.map.set(shared.map.slice(place.home, place.index), place.set), place.tag);
  }
  /// Runs DRAM's events up to the fill of a transaction: its time.
  std::uint64_t filled() {
    while (shared.events.next() != kNever) {
      shared.now = shared.events.next();
      std::uint64_t at = kNever;
      shared.events.take(shared.now, [&](const Event& event) {
        if (event.kind() == EventKind::channel) dram.run(event.index());
        if (event.kind() == EventKind::fill) at = shared.now;
      });
      if (at != kNever) return at;
    }
    return kNever;
  }

  Shared shared;
  memory::ReadMerging merging{shared};
  memory::PartitionLink link{shared};
  memory::DramPath dram{shared};
  memory::SlicePorts ports{shared};
  memory::L2Lines lines{shared, ports, dram};
  memory::Fills fills{shared, lines.tags(), dram, link};
  memory::Answers answers{shared, merging};
  memory::Slices slices{shared, {lines, fills, link, answers}};
  const std::uint64_t line = line_at_home(shared.spec, 0), far_line = line_at_home(shared.spec, 1);
};

using DramPath = Slice;
using L2Lines = Slice;
using Fills = Slice;
using Stalled = Slice;

TEST_F(DramPath, ReadsBringWholeAccesses) {
  EXPECT_EQ(dram.granules_of(0b0001), 0b0011);
  EXPECT_EQ(dram.granules_of(0b0110), 0b1111);
  EXPECT_EQ(dram.granules_of(0b1000), 0b1100);
}

TEST_F(DramPath, ReadTakesTheLatencyItsRowAndItsBytes) {
  shared.now = 7;
  dram.read({}, 64, read(line, 0b0011));
  EXPECT_EQ(filled(), 7 + 100 + kClosedRow + 4);
  EXPECT_EQ(shared.counters.dram_bytes_read, 64u);
  EXPECT_TRUE(dram.idle());
}

TEST_F(DramPath, FullWriteQueueHoldsItsSlicesBackUntilItWrites) {
  for (int i = 0; i < 31; ++i) dram.write({}, 32);
  EXPECT_TRUE(dram.may_write(0));
  dram.write({}, 32);
  EXPECT_FALSE(dram.may_write(0));
  EXPECT_TRUE(dram.may_write(7)) << "behind another channel";
  bool wrote = false;
  while (!wrote && shared.events.next() != kNever) {
    shared.now = shared.events.next();
    EXPECT_FALSE(dram.may_write(0));
    shared.events.take(shared.now, [&](const Event& event) { wrote |= dram.run(event.index()); });
  }
  EXPECT_TRUE(wrote);
  EXPECT_TRUE(dram.may_write(0));
}

TEST_F(L2Lines, StoresOfAllBytesMakeASectorWhole) {
  EXPECT_TRUE(write(line, 0b0001, 0x0000'ffff));
  EXPECT_EQ(lines.tags()[slot_of(line)].valid, 0);
  EXPECT_EQ(lines.tags()[slot_of(line)].dirty, 1);
  EXPECT_TRUE(write(line, 0b0001, 0xfffe'0000));
  EXPECT_EQ(lines.tags()[slot_of(line)].valid, 0);
  EXPECT_TRUE(write(line, 0b0001, 0x0001'0000));
  EXPECT_EQ(lines.tags()[slot_of(line)].valid, 1);
  EXPECT_EQ(shared.counters.dirty_sectors_left, 1u);
}

TEST_F(L2Lines, SetKeepsTwoPartlyWrittenLinesAndSavesTheOldest) {
  EXPECT_TRUE(write(line, 0b0011, 1));
  EXPECT_TRUE(write(same_set(1), 0b0001, 1));
  EXPECT_EQ(shared.counters.dram_bytes_write, 0u);
  EXPECT_TRUE(write(same_set(2), 0b0001, 1));
  EXPECT_EQ(shared.counters.dram_bytes_write, 64u);
  EXPECT_EQ(shared.counters.fill_sectors, 2u) << "the rest of its sectors was read";
  EXPECT_EQ(lines.tags()[slot_of(line)].dirty, 0);
  EXPECT_EQ(lines.tags()[slot_of(line)].valid, 0b0011);
}

TEST_F(L2Lines, CompletingPartlyWrittenSectorsTakesTheSlicesTime) {
  const std::uint32_t next = read(line, 0b0001);
  EXPECT_EQ(ports.pass_read(shared.pool[next], true), 0u);
  EXPECT_TRUE(write(line, 0b0011, 1));
  EXPECT_TRUE(write(same_set(1), 0b0001, 1));
  EXPECT_TRUE(write(same_set(2), 0b0001, 1));
  EXPECT_EQ(ports.pass_read(shared.pool[next], true), 1 + 2 * shared.spec.l2.completion_interval)
      << "of two sectors";
}

TEST_F(L2Lines, SliceKeepsAQuarterOfItsLinesDirty) {
  const memory::Place place = shared.map.place(line);
  std::uint32_t written_lines = 0;
  for (std::uint64_t of = line; written_lines < 257; ++of) {
    const memory::Place other = shared.map.place(of);
    if (other.home != place.home || other.index != place.index) continue;
    EXPECT_EQ(shared.counters.dram_bytes_write, 0u);
    EXPECT_TRUE(write(of, 0b1111));
    ++written_lines;
  }
  EXPECT_EQ(shared.counters.dram_bytes_write, 128u);
  EXPECT_EQ(lines.tags()[slot_of(line)].dirty, 0) << "the one written first";
}

TEST_F(L2Lines, StoreThatNeedsAPlaceQueuesBehindOthers) {
  EXPECT_FALSE(write(line, 0b0001, ~0u, true));
  EXPECT_TRUE(write(line, 0b0001));
  EXPECT_TRUE(write(line, 0b0010, ~0u, true)) << "its line is there and dirty";
  EXPECT_FALSE(write(line, 0b0100, 1, true)) << "it would be partly written";
}

TEST_F(L2Lines, StoreThatWouldSaveWaitsForAWriteQueue) {
  EXPECT_TRUE(write(line, 0b0001, 1));
  EXPECT_TRUE(write(same_set(1), 0b0001, 1));
  const std::uint64_t third = same_set(2);
  const std::uint32_t slice = lines.tags().set_of(slot_of(line)) / shared.map.sets();
  const auto [first, last] = shared.map.channels_of(slice);
  for (std::uint32_t channel = first; channel < last; ++channel) {
    for (int i = 0; i < 32; ++i) dram.write({.channel = channel}, 32);
  }
  EXPECT_FALSE(write(third, 0b0001, 1));
  EXPECT_TRUE(write(third, 0b0001)) << "whole sectors save nothing yet";
}

TEST_F(L2Lines, CopyIsGoodForTheSectorsThatItHolds) {
  const std::uint32_t index = read(far_line, 0b0011);
  const Transaction& far = shared.pool[index];
  const std::uint32_t set = shared.set_of(far);
  const std::uint32_t slot = lines.claim(shared.slice_of(far), set, far.tag, true);
  lines.tags()[slot].valid = 0b0001;
  EXPECT_FALSE(lines.has_copy(far));
  lines.tags()[slot].valid = 0b0111;
  EXPECT_TRUE(lines.has_copy(far));
  lines.drop_copy(set, far.tag, 0b0010);
  EXPECT_FALSE(lines.has_copy(far));
  EXPECT_EQ(lines.tags()[slot].valid, 0b0101);
}

class LeftLines : public Slice {
 protected:
  static spec::GpuSpec chip() {
    spec::GpuSpec made = small_chip();
    made.l2.launch_dirty_lines = 8 * 64 * 2;  // two per set
    return made;
  }
  LeftLines() : Slice(chip()) {}
};

TEST_F(LeftLines, OfOthersAreSavedWhenTheLaunchNeedsTheirPlaces) {
  lines.restart_cold();
  const memory::Place place = shared.map.place(line);
  const std::uint32_t slice = shared.map.slice(place.home, place.index);
  const auto claim = [&](std::uint32_t tag) {
    return lines.claim(slice, shared.map.set(slice, place.set), 2 * tag, false);
  };
  for (std::uint32_t tag = 0; tag < 14; ++tag) EXPECT_NE(claim(tag), kNone);
  EXPECT_EQ(shared.counters.dram_bytes_write, 0u);
  std::uint32_t more = 0;
  while (shared.counters.dram_bytes_write < 256 && more < 100) claim(14 + more++);
  EXPECT_EQ(shared.counters.dram_bytes_write, 256u);
  EXPECT_EQ(shared.counters.dirty_sectors_left, 0u) << "they were not the launch's";
}

class TwoMisses : public Slice {
 protected:
  static spec::GpuSpec chip() {
    spec::GpuSpec made = small_chip();
    made.l2.misses = 2;
    return made;
  }
  TwoMisses() : Slice(chip()) {}
  std::uint32_t ask(std::uint64_t of, std::uint8_t sectors) {
    const std::uint32_t index = read(of, sectors);
    const Transaction& transaction = shared.pool[index];
    std::uint32_t slot = slot_of(of);
    if (slot == kNone)
      slot = lines.claim(shared.slice_of(transaction), shared.set_of(transaction), transaction.tag, false);
    fills.request(slot, transaction, sectors);
    return index;
  }
};

TEST_F(TwoMisses, AreLinesNotRequests) {
  const std::uint32_t queue = shared.queue_of(shared.pool[read(line, 1)]);
  ask(line, 0b0001);
  ask(line, 0b0100);
  EXPECT_FALSE(fills.full(queue));
  ask(same_set(1), 0b0001);
  EXPECT_TRUE(fills.full(queue));
  EXPECT_FALSE(fills.full(queue + 1)) << "copies are counted apart";
}

TEST_F(TwoMisses, WaitersGoOnInOrderWhenAllOfTheirSectorsAreThere) {
  const std::uint32_t first = ask(line, 0b0001), slot = slot_of(line), rest = read(line, 0b0101),
                      last = read(line, 0b0010);
  const std::uint32_t both = shared.pool.live();
  fills.wait(first, slot, 0b0001);
  fills.wait(rest, slot, 0b0101);
  fills.wait(last, slot, 0b0010);
  EXPECT_EQ(lines.tags()[slot].pending, 0b0011) << "a whole access";
  const std::uint32_t fill = first + 1;
  shared.now = 146;
  shared.pool[fill].segments.dram = 146;
  std::vector<std::uint32_t> done;
  fills.arrive(fill, [&](std::uint32_t index, std::uint32_t) { done.push_back(index); });
  EXPECT_EQ(done, (std::vector<std::uint32_t>{first, last}));
  EXPECT_EQ(shared.pool[rest].wait, 0b0100);
  EXPECT_EQ(lines.tags()[slot].pending, 0);
  EXPECT_EQ(lines.tags()[slot].valid, 0b0011);
  EXPECT_EQ(shared.pool.live(), both - 1) << "the fill is gone";
}

TEST_F(TwoMisses, WhoJoinsLateWaitsForTheLastOfTheFill) {
  const std::uint32_t first = ask(line, 0b0001), slot = slot_of(line), fill = first + 1;
  shared.now = 60;
  const std::uint32_t late = read(line, 0b0001);
  fills.wait(first, slot, 0b0001);
  fills.wait(late, slot, 0b0001);
  shared.now = 146;
  shared.pool[fill].segments.dram = 40;
  shared.pool[fill].segments.dram_queue = 106;
  fills.arrive(fill, [](std::uint32_t, std::uint32_t) {});
  EXPECT_EQ(shared.pool[first].segments.dram_queue, 106u);
  EXPECT_EQ(shared.pool[late].segments.dram, 40u);
  EXPECT_EQ(shared.pool[late].segments.dram_queue, 46u);
}

TEST_F(Fills, FarLinesAreAskedOfTheirHome) {
  const std::uint32_t index = read(far_line, 0b0001);
  const Transaction& far = shared.pool[index];
  const std::uint32_t slot = lines.claim(shared.slice_of(far), shared.set_of(far), far.tag, true);
  shared.now = 3;
  fills.request(slot, far, 0b0001);
  const std::uint32_t asked = index + 1;
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{43, EventKind::arrive, asked}}));
  EXPECT_EQ(shared.pool[asked].kind, Kind::far_read);
  EXPECT_TRUE(memory::at_home(shared.pool[asked]));
  EXPECT_EQ(shared.pool[asked].sectors, 0b0011) << "whole accesses there too";
  EXPECT_EQ(shared.counters.dram_bytes_read, 0u);
}

TEST_F(Fills, AtomicsFromTheOtherPartitionBringTheirSectorsAlone) {
  for (const bool far : {false, true}) {
    const std::uint64_t of = far ? same_set(1) : line;
    const std::uint32_t index = read(of, 0b0001);
    Transaction& atomic = shared.pool[index];
    atomic.kind = Kind::reduction;
    atomic.near = far ? !atomic.home : atomic.home;
    const std::uint32_t slot = lines.claim(shared.slice_of(atomic), shared.set_of(atomic), atomic.tag, false);
    const std::uint64_t before = shared.counters.dram_bytes_read;
    fills.request(slot, atomic, 0b0001);
    EXPECT_EQ(lines.tags()[slot].pending, far ? 0b0001 : 0b0011);
    EXPECT_EQ(shared.counters.dram_bytes_read - before, far ? 32u : 64u);
    lines.tags()[slot].pending = 0;
    lines.tags()[slot].valid = 0b0001;
    fills.request(slot, shared.pool[index], 0b0010);
    EXPECT_EQ(shared.counters.dram_bytes_read - before, far ? 64u : 96u) << "not what is there";
  }
}

TEST_F(Stalled, PartitionsTakeTurnsAtALinesHome) {
  memory::Stalled stalled(shared);
  std::vector<std::uint32_t> expected;
  const auto push = [&](std::uint32_t sm) {
    const std::uint32_t index = read(line, 1, sm);
    shared.pool[index].at = false;
    stalled.push({index, EventKind::serve, shared.pool[index], false});
    return index;
  };
  const std::uint32_t a = push(0), b = push(0), c = push(4), d = push(4);
  const std::uint32_t queue = shared.queue_of(shared.pool[a]);
  EXPECT_FALSE(stalled.empty(queue));
  EXPECT_TRUE(stalled.empty(queue + 1));
  shared.now = 9;
  stalled.wake(queue / 2);
  stalled.wake(queue / 2);
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{9, EventKind::retry, queue}})) << "once";
  std::vector<std::uint32_t> tried;
  stalled.retry(queue, [&](const Event& event) {
    tried.push_back(event.index());
    return tried.size() < 3;
  });
  EXPECT_EQ(tried, (std::vector<std::uint32_t>{a, c, b}));
  stalled.wake(queue / 2);
  EXPECT_EQ(taken(shared.events).size(), 1u);
  tried.clear();
  stalled.retry(queue, [&](const Event& event) {
    tried.push_back(event.index());
    return true;
  });
  EXPECT_EQ(tried, (std::vector<std::uint32_t>{b, d})) << "who was refused keeps its place and its turn";
  EXPECT_TRUE(stalled.empty(queue));
}

TEST_F(Slice, ReadThatHitsIsAnsweredAfterTheLatency) {
  write(line, 0b0011);
  const std::uint32_t index = read(line, 0b0011);
  shared.now = 5;
  slices.serve({index, EventKind::serve, shared.pool[index], false});
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{75, EventKind::reply, index}}));
  EXPECT_EQ(shared.counters.lts_sectors_hit, 2u);
  EXPECT_EQ(shared.pool[index].segments.l2, 75u);
}

TEST_F(Slice, ReadThatMissesGoesOnWhenItsFillIsThere) {
  const std::uint32_t index = read(line, 0b0001);
  slices.serve({index, EventKind::serve, shared.pool[index], false});
  EXPECT_EQ(filled(), 100 + kClosedRow + 4);
  slices.fill(index + 1);
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{146 + 70, EventKind::reply, index}}));
  EXPECT_EQ(shared.counters.tex_sectors_miss, 2u);
}

TEST_F(TwoMisses, TheThirdReadWaitsForAnEntry) {
  std::vector<std::uint32_t> reads;
  for (std::uint32_t i = 0; i < 3; ++i) {
    reads.push_back(read(same_set(i), 0b0001));
    slices.serve({reads[i], EventKind::serve, shared.pool[reads[i]], false});
  }
  EXPECT_EQ(shared.counters.dram_bytes_read, 2 * 64u);
  const std::uint64_t at = filled();
  slices.fill(reads[0] + 1);
  EXPECT_EQ(shared.counters.dram_bytes_read, 2 * 64u);
  const std::uint32_t queue = shared.queue_of(shared.pool[reads[2]]);
  bool retried = false;
  for (const Timed& each : taken(shared.events)) retried |= each == Timed{at, EventKind::retry, queue};
  EXPECT_TRUE(retried);
  slices.retry(queue);
  EXPECT_EQ(shared.counters.dram_bytes_read, 3 * 64u);
}

TEST_F(Slice, FarStoresCrossAndAreMadeAtHome) {
  Event store = written(shared, 0, far_line, 0b1111);
  slices.serve(store);
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{40, EventKind::arrive, store.index()}}));
  EXPECT_EQ(slot_of(far_line), kNone);
  store.cross();
  store.go_home();
  shared.now = 40;
  slices.serve(store);
  EXPECT_NE(slot_of(far_line), kNone);
  memory::Replies replies;
  answers.hand_out(1000, replies);
  ASSERT_EQ(in_order(replies).size(), 1u);
  EXPECT_EQ(in_order(replies)[0].time, 40u + 70 + 40 + 60) << "the word comes back across";
}

TEST_F(Slice, AtomicsAreDoneAtHomeAndTakeTheirOwnLatency) {
  write(line, 0b0001);
  const std::uint32_t atomic = packet(shared, 0, line, 0b0001, Kind::atomic);
  slices.serve({atomic, EventKind::serve, shared.pool[atomic], false});
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{80, EventKind::reply, atomic}}));
  const std::uint32_t far = packet(shared, 0, far_line, 0b0001, Kind::atomic);
  slices.serve({far, EventKind::serve, shared.pool[far], false});
  EXPECT_EQ(taken(shared.events), (std::vector<Timed>{{40, EventKind::arrive, far}}));
  EXPECT_TRUE(memory::at_home(shared.pool[far]));
}

}  // namespace
}  // namespace foretrace::memory_tests
