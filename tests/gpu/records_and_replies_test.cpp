// What stands between the SMs and the rest of the chip, by itself: replies that wait for their SM, records in the order of placement.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "model/gpu/block_records.h"
#include "model/gpu/reply_router.h"

namespace foretrace::gpu {
namespace {

TEST(ReplyRouter, RepliesAreNoticedWhenTakenAndLookedAt) {
  ReplyRouter router(2);
  router.incoming().of_sm[1].data.push_back({40, 1, 5});
  router.incoming().of_sm[1].data.push_back({45, 1, 6});
  router.incoming().of_sm[0].acknowledgements.push_back({30, 0, 7});
  EXPECT_EQ(router.next(), kNever);
  router.take();
  std::vector<std::uint32_t> taken;
  router.each_new(1, [&](const memory::Reply& reply) { taken.push_back(reply.id); });
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{5, 6}));
  router.look();
  EXPECT_EQ(router.next(1), 40u);
  EXPECT_EQ(router.next(0), 30u);
  EXPECT_EQ(router.next(), 30u);
  EXPECT_EQ(router.last(), 45u);
  router.each_new(1, [&](const memory::Reply&) { FAIL() << "was looked at"; });
}

TEST(ReplyRouter, WhatComesLaterJoinsWhatWaits) {
  ReplyRouter router(1);
  router.incoming().of_sm[0].data.push_back({40, 0, 1});
  router.take();
  router.look();
  router.incoming().of_sm[0].data.push_back({50, 0, 2});
  router.take();
  std::vector<std::uint32_t> fresh;
  router.each_new(0, [&](const memory::Reply& reply) { fresh.push_back(reply.id); });
  EXPECT_EQ(fresh, std::vector<std::uint32_t>{2});
  router.look();
  EXPECT_EQ(router.next(), 40u);
  EXPECT_EQ(router.last(), 50u);
  EXPECT_TRUE(router.incoming().of_sm[0].data.empty());
}

TEST(ReplyRouter, TheGpcCachesRepliesDoNotMakeTheLaunchLonger) {
  ReplyRouter router(2);
  router.give({20, 1, 3});
  EXPECT_EQ(router.next(1), 20u);
  EXPECT_EQ(router.next(0), kNever);
  EXPECT_EQ(router.last(), 0u);
}

class Listed : public work::BlockSource {
 public:
  explicit Listed(std::deque<std::uint64_t> order) : order_(std::move(order)) {}
  std::shared_ptr<const work::BlockRecord> next() override {
    if (order_.empty()) return nullptr;
    auto record = std::make_shared<work::BlockRecord>();
    record->block = order_.front();
    order_.pop_front();
    return record;
  }
  std::size_t left() const { return order_.size(); }

 private:
  std::deque<std::uint64_t> order_;
};

TEST(BlockRecords, OfClustersAreKeptUntilTheirTurn) {
  Listed source({0, 1, 2, 3, 4, 5});
  BlockRecords records(source, true);
  EXPECT_EQ(records.take(2)->block, 2u);
  EXPECT_EQ(source.left(), 3u);
  EXPECT_EQ(records.take(3)->block, 3u);
  EXPECT_EQ(records.take(0)->block, 0u);  // came before
  EXPECT_EQ(source.left(), 2u);
  EXPECT_EQ(records.take(1)->block, 1u);
  EXPECT_EQ(records.take(5)->block, 5u);
  EXPECT_EQ(records.take(4)->block, 4u);
}

TEST(BlockRecords, WithoutClustersAreTheSourcesOneAfterTheOther) {
  Listed source({0, 1});
  BlockRecords records(source, false);
  EXPECT_EQ(records.take(0)->block, 0u);
  EXPECT_EQ(source.left(), 1u);
  EXPECT_EQ(records.take(1)->block, 1u);
}

}  // namespace
}  // namespace foretrace::gpu
