// Parts of the time line by themselves: threads of the host, and streams.
#include <gtest/gtest.h>

#include "sim/host/host_threads.h"
#include "sim/host/streams.h"

namespace foretrace::host {
namespace {

using Ids = std::vector<WorkId>;

/// A chip that is given work of 100 ns each, which arrives at 1000, 1100 and so on.
struct Bench {
  HostSpec spec;
  Schedule schedule{spec};
  HostThreads threads{spec, schedule};
  Bench() { spec.link.notice = 50; }
  WorkId add() {
    Work work;
    work.kind = WorkKind::kernel;
    work.ns = 100;
    work.arrival = 1000 + 100 * static_cast<double>(schedule.size());
    return schedule.add(std::move(work));
  }
};

TEST(HostThreads, CallsTakeTimeAndOwnWorkLiesBeforeThem) {
  Bench b;
  b.threads.own_work(0, 30);
  EXPECT_EQ(b.threads.spend(0, "launch", 400), 430);
  EXPECT_EQ(b.threads.now(0), 430);
  ASSERT_EQ(b.threads.calls().size(), 1u);
  EXPECT_EQ(b.threads.calls()[0].begin, 30);
  EXPECT_EQ(b.threads.calls()[0].end, 430);
  EXPECT_EQ(b.threads.calls()[0].own, 30);
  b.threads.spend(0, "launch", 10);
  EXPECT_EQ(b.threads.calls()[1].own, 0);
  EXPECT_EQ(b.threads.now(3), 440) << "where its first call would begin";
  EXPECT_EQ(b.threads.spend(1, "launch", 5), 445) << "begins at what the last call has come to";
}

TEST(HostThreads, WhoWaitsGoesOnTheNoticeAfterTheEndAndWhoLooksOnAtIt) {
  Bench b;
  const WorkId work = b.add();  // 1000 to 1100
  b.threads.spend(0, "synchronize", 10);
  b.threads.wait_for_end(0, work);
  EXPECT_EQ(b.threads.now(0), 1150);
  EXPECT_EQ(b.threads.calls().back().waited, work);
  EXPECT_EQ(b.threads.calls().back().end, 1150);
  b.threads.spend(0, "synchronize", 10);
  b.threads.wait_for_end(0, work);
  EXPECT_EQ(b.threads.now(0), 1160) << "it is over, and known to be";
  EXPECT_EQ(b.threads.calls().back().waited, kNoWork);
  const WorkId next = b.add();  // 1100 to 1200
  b.threads.spend(0, "copy", 10);
  b.threads.look_on(0, next);
  EXPECT_EQ(b.threads.now(0), 1200);
}

TEST(HostThreads, AQueueThatIsFullIsACallOfItsOwn) {
  Bench b;
  const WorkId work = b.add();
  b.threads.own_work(0, 100);
  b.threads.wait_for_begin(0, "queue", work);
  EXPECT_EQ(b.threads.now(0), 1000);
  ASSERT_EQ(b.threads.calls().size(), 1u);
  EXPECT_EQ(b.threads.calls()[0].begin, 100);
  EXPECT_EQ(b.threads.calls()[0].end, 1000);
  EXPECT_EQ(b.threads.calls()[0].waited, work);
  b.threads.wait_for_begin(0, "queue", work);
  EXPECT_EQ(b.threads.calls().size(), 1u) << "it has begun by now";
}

TEST(Streams, TheLegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  Streams streams;
  streams.add(1, false, 0, 0);
  streams.add(2, true, 0, 0);
  streams.set_last(1, 10);
  streams.set_last(2, 11);
  EXPECT_EQ(streams.before_next(0), (Ids{10}));
  EXPECT_EQ(streams.before_next(2), (Ids{11}));
  streams.set_last(0, 12);
  EXPECT_EQ(streams.before_next(1), (Ids{10, 12}));
  EXPECT_EQ(streams.before_next(2), (Ids{11}));
  EXPECT_EQ(streams.all_of(0), (Ids{12, 10}));
  EXPECT_EQ(streams.all_of(2), (Ids{11}));
}

TEST(Streams, AWaitIsForTheNextWorkAlone) {
  Streams streams;
  streams.add(1, true, 0, 0);
  streams.set_last(1, 3);
  streams.wait(1, 7);
  streams.wait(1, 7);
  EXPECT_EQ(streams.all_of(1), (Ids{7, 7, 3}));
  EXPECT_EQ(streams.before_next(1), (Ids{3, 7}));
  EXPECT_EQ(streams.before_next(1), (Ids{3}));
}

TEST(Streams, DevicesHaveLegacyStreamsOfTheirOwn) {
  Streams streams;
  streams.add(1, false, 0, 0);
  streams.add(21, false, 1, 20);
  streams.set_last(1, 5);
  streams.set_last(21, 6);
  EXPECT_EQ(streams.before_next(20), (Ids{6}));
  EXPECT_EQ(streams.device(20), 1u);
  EXPECT_EQ(streams.all_of_device(0), (Ids{5}));
  EXPECT_EQ(streams.all_of_device(1), (Ids{6}));
}

TEST(Streams, TheFirstOfTheLastLaunchesHasToBeginWhereThereAreTooMany) {
  Streams streams;
  streams.launched(0, 4);
  EXPECT_EQ(streams.take_queued(0, 2), kNoWork);
  streams.launched(0, 5);
  EXPECT_EQ(streams.take_queued(0, 0), kNoWork) << "no bound";
  EXPECT_EQ(streams.take_queued(0, 2), 4u);
  EXPECT_EQ(streams.take_queued(0, 2), kNoWork) << "there is one left";
}

}  // namespace
}  // namespace foretrace::host
