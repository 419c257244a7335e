// Requests of a window in the order of (time, SM), those of one SM and time as the SM made them; later ones stay.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "model/gpu/request_order.h"

namespace foretrace::gpu {
namespace {

using memory::Request;

Request request(Cycle time, std::uint32_t sm, std::uint32_t id) {
  Request result;
  result.time = time;
  result.sm = sm;
  result.id = id;
  return result;
}

TEST(RequestOrder, IsThatOfAStableSortAndLeavesWhatIsLater) {
  std::mt19937 random(11);
  std::vector<std::vector<Request>> made(5);
  std::vector<Request> all;
  std::uint32_t id = 0;
  for (std::uint32_t sm = 0; sm < made.size(); ++sm) {
    for (int i = 0; i < 200; ++i) {
      made[sm].push_back(request(1000 + random() % 150, sm, id++));
      all.push_back(made[sm].back());
    }
  }
  std::vector<std::vector<Request>*> outboxes;
  for (auto& outbox : made) outboxes.push_back(&outbox);
  std::stable_sort(all.begin(), all.end(), [](const Request& a, const Request& b) {
    return a.time != b.time ? a.time < b.time : a.sm < b.sm;
  });
  RequestOrder order;
  EXPECT_EQ(order.earliest_left(), kNever);
  std::vector<std::uint32_t> taken;
  const auto take = [&](const Request& r) { taken.push_back(r.id); };
  order.take(1000, 1100, outboxes);
  order.submit(take);
  const auto later = std::find_if(all.begin(), all.end(), [](const Request& r) { return r.time >= 1100; });
  EXPECT_EQ(taken.size(), static_cast<std::size_t>(later - all.begin()));
  EXPECT_EQ(order.earliest_left(), later->time);
  order.take(1100, 1150, outboxes);
  for (const auto& outbox : made) EXPECT_TRUE(outbox.empty());
  order.submit(take);
  EXPECT_EQ(order.earliest_left(), kNever);
  ASSERT_EQ(taken.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(taken[i], all[i].id) << i;
}

}  // namespace
}  // namespace foretrace::gpu
