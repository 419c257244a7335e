// Kernels that overlap, with a stand-in for the simulation of all together.
#include <gtest/gtest.h>

#include "sim/host/rates.h"
#include "sim/host/schedule.h"
#include "sim/host/time_summary.h"

namespace foretrace::host {
namespace {

/// Each kernel of a group takes 10 us for each of the group, from its launch on; those from `wait` on begin 5 us after their launch.
class Doubling final : public Sharing {
 public:
  How possible(const std::vector<Member>& members) override {
    for (const Member& member : members) {
      if (member.launch == unknown) return How::unknown;
    }
    if (asked >= budget) return How::unknown;
    return asked < rates_from ? How::simulation : How::rates;
  }
  std::vector<Times> times(const std::vector<Member>& members, How) override {
    ++asked;
    std::vector<Times> times;
    for (const Member& member : members) {
      const double wait = member.launch >= waits ? 5000 : 0;
      times.push_back(
          {member.launched + wait, member.launched + 10'000 * static_cast<double>(members.size())});
    }
    return times;
  }
  std::uint64_t unknown = 99, waits = 99;
  int asked = 0, budget = 1000, rates_from = 1000;
};

Work kernel(std::uint64_t launch, double arrival, double share = 1, std::vector<WorkId> after = {}) {
  Work work;
  work.kind = WorkKind::kernel;
  work.stream = launch;
  work.launch = launch;
  work.arrival = arrival;
  work.ns = 10'000;
  work.share = share;
  work.after = std::move(after);
  return work;
}

TEST(Sharing, KernelsThatOverlapTakeTheTimesOfTheirGroup) {
  const HostSpec host;
  Doubling sharing;
  Schedule s(host, &sharing);
  const WorkId a = s.add(kernel(0, 0)), b = s.add(kernel(1, 4000));
  const WorkId behind = s.add(kernel(2, 0, 1, {a}));
  s.settle_all();
  EXPECT_EQ(s[a].begin, 0);
  EXPECT_EQ(s[a].end, 20'000);
  EXPECT_EQ(s[a].beside, Beside::simulated);
  EXPECT_EQ(s[a].slowed(), 2);
  EXPECT_EQ(s[b].begin, 4000);  // it does not wait for room, which its blocks find themselves
  // The one behind the first begins at that one's end, joins, and slows the second alone.
  EXPECT_EQ(s[behind].begin, 20'000);
  EXPECT_EQ(s[behind].cause, a);
  EXPECT_EQ(s[a].end, 20'000);
  EXPECT_EQ(s[b].end, 34'000);
  EXPECT_EQ(s[behind].end, 50'000);
  EXPECT_EQ(s.groups(), (std::vector<std::vector<WorkId>>{{a, b, behind}}));
  const BesideSum sum = sum_beside(s);
  EXPECT_EQ(sum.simulated, 3u);
  EXPECT_EQ(sum.groups, 1u);
  EXPECT_EQ(sum.by_shares, 0u);
  EXPECT_NEAR(sum.slowed_mean, (2 + 3 + 3) / 3.0, 1e-9);
  EXPECT_EQ(sum.slowed_most, 3);
}

TEST(Sharing, AKernelWithoutRoomBeginsWithItsFirstBlock) {
  const HostSpec host;
  Doubling sharing;
  sharing.waits = 1;
  Schedule s(host, &sharing);
  const WorkId a = s.add(kernel(0, 0)), b = s.add(kernel(1, 4000));
  s.settle_all();
  EXPECT_EQ(s[b].launched, 4000);
  EXPECT_EQ(s[b].begin, 9000);
  EXPECT_EQ(s[b].end, 24'000);
  EXPECT_EQ(s[b].bound, Bound::engine);
  EXPECT_EQ(s[b].cause, a);
  EXPECT_EQ(s[b].slowed(), 2);
}

TEST(Sharing, WhatIsNotKnownGoesByItsShare) {
  const HostSpec host;
  Doubling sharing;
  sharing.unknown = 1;
  Schedule s(host, &sharing);
  const WorkId a = s.add(kernel(0, 0, 0.5)), b = s.add(kernel(1, 4000, 0.5)), c = s.add(kernel(2, 4000, 0.5));
  s.settle_all();
  EXPECT_EQ(sharing.asked, 0);
  EXPECT_EQ(s[a].end, 10'000);
  EXPECT_EQ(s[a].beside, Beside::shares);
  EXPECT_EQ(s[b].begin, 4000);
  EXPECT_EQ(s[b].end, 14'000);
  EXPECT_EQ(s[c].begin, 10'000);  // no room before
  EXPECT_EQ(s[c].beside, Beside::shares);
  EXPECT_EQ(sum_beside(s).by_shares, 3u);
}

TEST(Sharing, BeyondTheBudgetTheyGoByTheirShares) {
  const HostSpec host;
  Doubling sharing;
  sharing.budget = 1;
  Schedule s(host, &sharing);
  s.add(kernel(0, 0, 0.4));
  s.add(kernel(1, 1000, 0.4));
  const WorkId c = s.add(kernel(2, 2000, 0.4));
  s.settle_all();
  EXPECT_EQ(sharing.asked, 1);
  EXPECT_EQ(s[c].beside, Beside::shares);
  EXPECT_EQ(s[c].begin, 20'000);  // with the first there is no room for it beside the second
  EXPECT_EQ(s[c].launched, 2000);
}

TEST(Sharing, WhatEndsByRatesSaysSo) {
  const HostSpec host;
  Doubling sharing;
  sharing.rates_from = 1;
  Schedule s(host, &sharing);
  for (std::uint64_t i = 0; i < 3; ++i) s.add(kernel(i, 1000.0 * static_cast<double>(i)));
  s.settle_all();
  for (WorkId id = 0; id < 3; ++id) EXPECT_EQ(s[id].beside, Beside::rates) << id;
  EXPECT_EQ(sum_beside(s).by_rates, 3u);
  EXPECT_EQ(sum_beside(s).simulated, 0u);
}

TEST(Rates, RoomGoesToTheFirst) {
  // Half and half: as if alone. Whole and half: the second when the first has ended. 75% and 50%: the second at half its speed until then.
  auto ran = run_by_rates({{0, 1000, 0.5}, {100, 1000, 0.5}});
  EXPECT_EQ(ran[0].end, 1000);
  EXPECT_EQ(ran[1].begin, 100);
  EXPECT_EQ(ran[1].end, 1100);
  ran = run_by_rates({{0, 1000, 1}, {100, 1000, 0.5}});
  EXPECT_EQ(ran[1].begin, 1000);
  EXPECT_EQ(ran[1].end, 2000);
  ran = run_by_rates({{0, 1000, 0.75}, {0, 1000, 0.5}});
  EXPECT_EQ(ran[0].end, 1000);
  EXPECT_EQ(ran[1].begin, 0);
  EXPECT_EQ(ran[1].end, 1500);
}

TEST(Rates, IssueSlotsGoToTheFirstAndMemoryToAll) {
  Rates first{0, 1000, 0.5}, second = first;
  first.issue = second.issue = 0.8;
  auto ran = run_by_rates({first, second});
  EXPECT_NEAR(ran[0].end, 1000, 1e-6);
  EXPECT_NEAR(ran[1].end, 1750, 1e-6);  // a quarter of it beside the first
  first.issue = second.issue = 0.1;
  first.dram = second.dram = 1;
  ran = run_by_rates({first, second});
  EXPECT_NEAR(ran[0].end, 2000, 1e-6);
  EXPECT_NEAR(ran[1].end, 2000, 1e-6);
  second.dram = 0.0;
  ran = run_by_rates({first, second});
  EXPECT_NEAR(ran[0].end, 1000, 1e-6);
  EXPECT_NEAR(ran[1].end, 1000, 1e-6);
}

TEST(Rates, WhatIsHalfThereAsksForHalf) {
  // Room for half of the second: it wants 40% of the issue slots, of which the first leaves half.
  Rates first{0, 1000, 0.5}, second{0, 1000, 1};
  first.issue = 0.5;
  second.issue = 0.8;
  auto ran = run_by_rates({first, second});
  EXPECT_NEAR(ran[0].end, 1000, 1e-6);
  EXPECT_NEAR(ran[1].end, 1500, 1e-6);
  // 80% of what L2 can do and half of 80%: 120%, which who asks for 80% feels by 80%.
  first.issue = second.issue = 0;
  for (const auto memory : {&Rates::l2, &Rates::dram}) {
    first.*memory = second.*memory = 0.8;
    ran = run_by_rates({first, second});
    EXPECT_NEAR(ran[0].end, 1160, 1e-6);
    EXPECT_NEAR(ran[1].end, 1660, 1e-6);
    first.*memory = second.*memory = 0;
  }
}

TEST(Rates, WhenNoIssueSlotIsLeftTheNextHardlyGoesOn) {
  Rates first{0, 1000, 0.3}, second = first, third = first;
  first.issue = second.issue = 0.6;
  third.issue = 0.2;
  const auto ran = run_by_rates({first, second, third});
  EXPECT_NEAR(ran[0].end, 1000, 1e-6);
  EXPECT_NEAR(ran[1].end, 1000 + 1000 / 3.0, 1e-6);  // at two thirds of its speed beside the first
  EXPECT_NEAR(ran[2].end, 1999, 1e-6);               // at a thousandth
}

TEST(Rates, EachIsHeldUpByTheMemoryThatItUses) {
  Rates both{0, 1000, 0.3}, l2 = both;
  both.l2 = both.dram = l2.l2 = 0.8;
  auto ran = run_by_rates({both, l2});
  EXPECT_NEAR(ran[0].end, 1480 + 75, 1e-6);  // 60% slower in all until the other has ended
  EXPECT_NEAR(ran[1].end, 1480, 1e-6);
  for (const auto& [asked, other] :
       {std::pair(&Rates::dram, &Rates::l2), std::pair(&Rates::l2, &Rates::dram)}) {
    Rates one{0, 1000, 0.3}, apart = one;
    one.*asked = 0.8;
    apart.*other = 0.5;
    ran = run_by_rates({one, one, apart});
    EXPECT_NEAR(ran[0].end, 1480, 1e-6);
    EXPECT_NEAR(ran[2].end, 1000, 1e-6);
  }
  EXPECT_NEAR(run_by_rates({both, l2, {0, 0.5, 0.3}})[2].end, 0.5, 1e-9);  // less than a nanosecond
}

TEST(Sharing, KernelsThatHardlyOverlapAndThoseApartAreNotAsked) {
  const HostSpec host;
  Doubling sharing;
  Schedule s(host, &sharing);
  s.add(kernel(0, 0, 0.4));
  s.add(kernel(1, 8500, 0.4));
  Work other = kernel(2, 9000, 0.4);
  other.device = 1;
  s.add(std::move(other));
  s.settle_all();
  EXPECT_EQ(sharing.asked, 0);
  for (WorkId id = 0; id < s.size(); ++id) EXPECT_EQ(s[id].beside, Beside::alone) << id;
}

TEST(Sharing, GroupsOfTwoDevicesAreApart) {
  const HostSpec host;
  Doubling sharing;
  Schedule s(host, &sharing);
  std::vector<WorkId> ids;
  for (std::uint64_t i = 0; i < 6; ++i) {
    Work work = kernel(i, 100.0 * static_cast<double>(i));
    work.device = i % 2;
    ids.push_back(s.add(std::move(work)));
  }
  s.settle_all();
  EXPECT_EQ(s.groups(), (std::vector<std::vector<WorkId>>{{0, 2, 4}, {1, 3, 5}}));
  for (const WorkId id : ids) EXPECT_EQ(s[id].group, id % 2) << id;
}

TEST(Sharing, ATimeIsFinalWhenNothingCanComeBesideItAnyMore) {
  const HostSpec host;
  Doubling sharing;
  Schedule s(host, &sharing);
  const WorkId a = s.add(kernel(0, 0)), b = s.add(kernel(1, 4000));
  s.settle_begin(a);
  EXPECT_FALSE(s.final(a));
  EXPECT_EQ(s.settle_end(a).end, 20'000);  // the other one has been seen to
  EXPECT_TRUE(s.final(a));
  EXPECT_FALSE(s.final(b));
  s.settle_all();
  EXPECT_TRUE(s.final(b));
}

}  // namespace
}  // namespace foretrace::host
