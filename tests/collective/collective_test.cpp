// A collective operation's steps by hand: hops, what devices send and what channels work on, the protocol that NCCL chooses.
#include "sim/collective/collective.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/units/error.h"

namespace foretrace::collective {
namespace {

/// Round numbers: a link of 100 B/ns, ten channels of 10 B/ns, another from 500 B of each device on.
LinkSpec link() {
  LinkSpec spec;
  spec.name = "test";
  spec.bandwidth = 100;
  spec.devices = 8;
  spec.copy_latency = 500;
  spec.channels = 10;
  spec.channel_bytes = 500;
  spec.protocol = {{{0.5, 1}, {0.9, 1}, {1, 0.5}}};
  spec.cost[0] = {{{1000, 100, 10}, {2000, 200, 10}, {3000, 300, 10}}};
  spec.cost[1] = {{{1500, 100, 10}, {2500, 200, 10}, {3500, 300, 10}}};
  spec.choice = {{{1000, 100, 10}, {2000, 200, 50}, {3000, 300, 100}}};
  return spec;
}

Question ask(Operation operation, double bytes, unsigned devices, Protocol protocol) {
  Question question{operation, bytes, devices, {}, {}};
  question.protocol = protocol;
  return question;
}

TEST(Collective, AllReduceOfTwo) {
  // Two hops; each device sends half twice, and keeps a half at last, which is half as much work.
  const Answer answer = predict(link(), ask(Operation::allreduce, 100'000, 2, Protocol::simple));
  EXPECT_EQ(answer.channels, 10u);
  EXPECT_DOUBLE_EQ(answer.latency, 3000 + 2 * 300);
  EXPECT_DOUBLE_EQ(answer.sending, 1000);
  EXPECT_DOUBLE_EQ(answer.working, 1000);
  EXPECT_DOUBLE_EQ(answer.keeping, 250);
  EXPECT_DOUBLE_EQ(answer.ns, 3600 + 1000 * std::cbrt(2) + 250);
  EXPECT_DOUBLE_EQ(answer.bus_bandwidth, answer.algorithm_bandwidth);
  EXPECT_EQ(answer.limit, Limit::latency);
}

TEST(Collective, APeerCopyIsALatencyAndItsBytesOverTheLink) {
  EXPECT_DOUBLE_EQ(copy_ns(link(), 4000), 540);
  EXPECT_DOUBLE_EQ(copy_ns(link(), 1), 500.01) << "fewer bytes than devices are still a copy";
  Question question;
  question.operation = Operation::copy;
  for (const double bytes : {2.0, 4000.0, 1e9}) {
    question.bytes = bytes;
    EXPECT_EQ(predict(link(), question).ns, copy_ns(link(), bytes));
  }
}

TEST(Collective, StepsOfFour) {
  const double bytes = 4'000'000;
  const Answer reduce = predict(link(), ask(Operation::allreduce, bytes, 4, Protocol::ll));
  EXPECT_DOUBLE_EQ(reduce.latency, 1000 + 6 * 100);
  EXPECT_DOUBLE_EQ(reduce.sending, 6'000'000 / 50.0);
  EXPECT_DOUBLE_EQ(reduce.working, 60'000);
  EXPECT_DOUBLE_EQ(reduce.keeping, 10'000);
  EXPECT_DOUBLE_EQ(reduce.ns, 1600 + 60'000 * std::cbrt(9) + 10'000);
  EXPECT_EQ(reduce.limit, Limit::link);
  const Answer gather = predict(link(), ask(Operation::allgather, bytes, 4, Protocol::simple));
  EXPECT_DOUBLE_EQ(gather.latency, 3000 + 3 * 300);
  EXPECT_DOUBLE_EQ(gather.sending, 30'000);
  EXPECT_DOUBLE_EQ(gather.working, 30'000);
  EXPECT_DOUBLE_EQ(gather.keeping, 5'000);
  EXPECT_EQ(gather.limit, Limit::channels);
  EXPECT_DOUBLE_EQ(gather.bus_bandwidth, 0.75 * gather.algorithm_bandwidth);
  const Answer scatter = predict(link(), ask(Operation::reducescatter, bytes, 4, Protocol::simple));
  EXPECT_DOUBLE_EQ(scatter.sending, 30'000);
  EXPECT_DOUBLE_EQ(scatter.working, 30'000);
  EXPECT_DOUBLE_EQ(scatter.keeping, 10'000) << "the last part is added to the device's own";
  const Answer broadcast = predict(link(), ask(Operation::broadcast, bytes, 4, Protocol::simple));
  EXPECT_DOUBLE_EQ(broadcast.sending, 40'000);
  EXPECT_DOUBLE_EQ(broadcast.working, 40'000);
  EXPECT_DOUBLE_EQ(broadcast.keeping, 0);
}

TEST(Collective, BroadcastsInARowDoNotWaitForTheirHops) {
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    const Answer two = predict(link(), ask(Operation::broadcast, 100'000, 2, protocol));
    EXPECT_DOUBLE_EQ(two.latency, link().cost[0][static_cast<std::size_t>(protocol)].base);
    EXPECT_DOUBLE_EQ(predict(link(), ask(Operation::broadcast, 100'000, 8, protocol)).ns, two.ns);
    EXPECT_LT(two.latency, predict(link(), ask(Operation::allgather, 100'000, 2, protocol)).latency);
  }
}

TEST(Collective, TreesAreChainsOnOneHost) {
  Question question = ask(Operation::allreduce, 1'000'000, 2, Protocol::simple);
  question.algorithm = Algorithm::tree;
  EXPECT_DOUBLE_EQ(predict(link(), question).sending, 10'000);
  EXPECT_DOUBLE_EQ(predict(link(), question).latency, 3500 + 2 * 300);
  question.devices = 3;
  EXPECT_DOUBLE_EQ(predict(link(), question).sending, 20'000);
  EXPECT_DOUBLE_EQ(predict(link(), question).latency, 3500 + 4 * 300);
  question.operation = Operation::broadcast;
  EXPECT_THROW(predict(link(), question), InputError);
}

TEST(Collective, AChannelForEachPart) {
  EXPECT_EQ(predict(link(), ask(Operation::allreduce, 1000, 2, Protocol::ll)).channels, 1u);
  EXPECT_EQ(predict(link(), ask(Operation::allreduce, 1001, 2, Protocol::ll)).channels, 2u);
  EXPECT_EQ(predict(link(), ask(Operation::allreduce, 9000, 2, Protocol::ll)).channels, 9u);
  EXPECT_EQ(predict(link(), ask(Operation::allreduce, 90'000, 2, Protocol::ll)).channels, 10u);
  EXPECT_EQ(predict(link(), ask(Operation::broadcast, 4000, 8, Protocol::ll)).channels, 1u)
      << "500 B of each device";
  EXPECT_EQ(predict(link(), ask(Operation::broadcast, 4001, 8, Protocol::ll)).channels, 2u);
}

TEST(Collective, TheLeastExpectedIsChosen) {
  // All-reduce of two: 1200 + n/10, 2400 + n/50, 3600 + n/100: they meet at 15,000 and 120,000 bytes.
  const auto chosen = [](Operation operation, double bytes) {
    return predict(link(), {operation, bytes, 2, {}, {}}).protocol;
  };
  EXPECT_EQ(chosen(Operation::allreduce, 14'999), Protocol::ll);
  EXPECT_EQ(chosen(Operation::allreduce, 15'001), Protocol::ll128);
  EXPECT_EQ(chosen(Operation::allreduce, 119'999), Protocol::ll128);
  EXPECT_EQ(chosen(Operation::allreduce, 120'001), Protocol::simple);
  // All-gather: half of the hops and of the bytes, 1100 + n/20 and 2200 + n/100.
  EXPECT_EQ(chosen(Operation::allgather, 27'499), Protocol::ll);
  EXPECT_EQ(chosen(Operation::allgather, 27'501), Protocol::ll128);
  LinkSpec without = link();
  without.choice[1].bandwidth = 0;
  EXPECT_EQ(predict(without, {Operation::allreduce, 20'000, 2, {}, {}}).protocol, Protocol::ll);
}

TEST(Collective, APeerCopy) {
  const Answer answer = predict(link(), {Operation::copy, 10'000, 2, {}, {}});
  EXPECT_DOUBLE_EQ(answer.ns, 600);
  EXPECT_EQ(answer.channels, 0u);
}

TEST(Collective, Refused) {
  EXPECT_THROW(predict(link(), {Operation::allreduce, 1000, 1, {}, {}}), InputError);
  EXPECT_NO_THROW(predict(link(), {Operation::allreduce, 1000, 8, {}, {}}));
  EXPECT_THROW(predict(link(), {Operation::allreduce, 1000, 9, {}, {}}), InputError);
  EXPECT_NO_THROW(predict(link(), {Operation::allreduce, 4, 4, {}, {}}));
  EXPECT_THROW(predict(link(), {Operation::allreduce, 3, 4, {}, {}}), InputError);
  EXPECT_THROW(predict(link(), {Operation::copy, 1000, 3, {}, {}}), InputError);
  EXPECT_THROW(predict(link(), ask(Operation::copy, 1000, 2, Protocol::ll)), InputError);
  EXPECT_THROW(parse_operation("all-reduce"), InputError);
  EXPECT_THROW(parse_algorithm("star"), InputError);
  EXPECT_THROW(parse_protocol("LL"), InputError);
}

}  // namespace
}  // namespace foretrace::collective
