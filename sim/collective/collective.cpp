#include "sim/collective/collective.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::collective {

namespace {

constexpr std::array kOperations = {Operation::allreduce, Operation::allgather, Operation::reducescatter,
                                    Operation::broadcast, Operation::copy};

/// What one device does for an operation, by algorithm, whatever the protocol.
struct Steps {
  double hops = 0;  ///< that data pass before a device is done and can begin the next operation
  double sent = 0;  ///< bytes that a device sends, the busiest one; its channels work on each
  double reduced =
      0;  ///< bytes of the last part, when nothing is sent any more: reduced and kept, as much work as if sent
  double landed = 0;  ///< the same where it is kept as it has come
};

Steps ring_steps(Operation operation, double bytes, double devices) {
  const double part = bytes / devices, others = devices - 1;
  switch (operation) {
    case Operation::allreduce: return {2 * others, 2 * others * part, 0, part};
    case Operation::allgather: return {others, others * part, 0, part};
    case Operation::reducescatter: return {others, others * part, part, 0};
    case Operation::broadcast:
    case Operation::copy: break;
  }
  // A broadcast's parts follow each other around the ring, and the next broadcast's follow them: the root waits for nobody, and the others
  // only for those before them. All else ends on each device with parts from all others, which each operation waits for anew.
  return {0, bytes, 0, 0};
}

/// Up and down a chain of devices, as NCCL's trees are on one host; two of them with a half each. Between its ends a device sends all up and
/// all down; with two devices each is an end of both.
Steps tree_steps(double bytes, double devices) {
  return {2 * (devices - 1), devices > 2 ? 2 * bytes : bytes, 0, 0};
}

/// Two that share the work: nearly the longer one, and more where they are alike. The power by which the rates of 1, 2, 4, 8, 16 and 24 channels
/// add up to the link's.
double together(double one, double other) { return std::cbrt(one * one * one + other * other * other); }

/// What NCCL expects of a ring: the least is chosen.
double expected(const LinkSpec::Choice& choice, const Question& question) {
  const double devices = question.devices, others = devices - 1;
  double hops = others, per_byte = others / devices;
  if (question.operation == Operation::allreduce) hops *= 2, per_byte *= 2;
  if (question.operation == Operation::broadcast) hops = 1, per_byte = 1;
  return choice.base + hops * choice.hop + question.bytes * per_byte / choice.bandwidth;
}

Protocol choose(const LinkSpec& link, const Question& question) {
  std::size_t best = kProtocols;
  for (std::size_t p = 0; p < kProtocols; ++p) {
    if (link.choice[p].bandwidth <= 0) continue;
    if (best == kProtocols || expected(link.choice[p], question) < expected(link.choice[best], question))
      best = p;
  }
  FORETRACE_ASSERT(best != kProtocols, "a link has a protocol to choose");
  return static_cast<Protocol>(best);
}

double bus_factor(Operation operation, double devices) {
  switch (operation) {
    case Operation::allreduce: return 2 * (devices - 1) / devices;
    case Operation::allgather:
    case Operation::reducescatter: return (devices - 1) / devices;
    case Operation::broadcast:
    case Operation::copy: break;
  }
  return 1;
}

void check(const LinkSpec& link, const Question& question) {
  if (question.devices < 2 || question.devices > link.devices)
    throw InputError(fmt::format("--devices {}: expected 2 to {}, as many as {} links", question.devices,
                                 link.devices, link.name));
  if (!(question.bytes >= question.devices) || question.bytes > 1e15)
    throw InputError(fmt::format("--bytes {}: expected at least one per device, {}, and 1e15 at most",
                                 question.bytes, question.devices));
  const bool copy = question.operation == Operation::copy;
  if (copy && (question.algorithm || question.protocol))
    throw InputError("--op copy: a copy engine has no algorithm and no protocol");
  if (copy && question.devices != 2) throw InputError("--op copy: expected --devices 2, from one to another");
  if (question.algorithm == Algorithm::tree && question.operation != Operation::allreduce)
    throw InputError(fmt::format("--algorithm tree: {} goes around a ring; only allreduce has a tree",
                                 name_of(question.operation)));
}

}  // namespace

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::allreduce: return "allreduce";
    case Operation::allgather: return "allgather";
    case Operation::reducescatter: return "reducescatter";
    case Operation::broadcast: return "broadcast";
    case Operation::copy: break;
  }
  return "copy";
}
const char* name_of(Algorithm algorithm) { return algorithm == Algorithm::ring ? "ring" : "tree"; }
const char* name_of(Protocol protocol) {
  return protocol == Protocol::ll ? "ll" : protocol == Protocol::ll128 ? "ll128" : "simple";
}
const char* name_of(Limit limit) {
  return limit == Limit::latency ? "latency" : limit == Limit::channels ? "channels" : "link";
}

Operation parse_operation(const std::string& text) {
  for (const Operation operation : kOperations) {
    if (text == name_of(operation)) return operation;
  }
  throw InputError(fmt::format(
      "--op {}: expected allreduce, allgather, reducescatter, broadcast or copy (a peer copy)", text));
}
Algorithm parse_algorithm(const std::string& text) {
  if (text == "ring") return Algorithm::ring;
  if (text == "tree") return Algorithm::tree;
  throw InputError(fmt::format("--algorithm {}: expected ring or tree", text));
}
Protocol parse_protocol(const std::string& text) {
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    if (text == name_of(protocol)) return protocol;
  }
  throw InputError(fmt::format("--protocol {}: expected ll, ll128 or simple", text));
}

double copy_ns(const LinkSpec& link, double bytes) { return link.copy_latency + bytes / link.bandwidth; }

Answer predict(const LinkSpec& link, const Question& question) {
  check(link, question);
  Answer answer;
  const double devices = question.devices;
  if (question.operation == Operation::copy) {
    answer.latency = link.copy_latency;
    answer.sending = question.bytes / link.bandwidth;
    answer.ns = copy_ns(link, question.bytes);
  } else {
    answer.algorithm = question.algorithm.value_or(Algorithm::ring);
    answer.protocol = question.protocol ? *question.protocol : choose(link, question);
    const auto p = static_cast<std::size_t>(answer.protocol);
    const LinkSpec::Cost& cost = link.cost[static_cast<std::size_t>(answer.algorithm)][p];
    const Steps steps = answer.algorithm == Algorithm::tree
                            ? tree_steps(question.bytes, devices)
                            : ring_steps(question.operation, question.bytes, devices);
    const double parts = std::ceil(question.bytes / devices / link.channel_bytes);
    const double channels = std::clamp(parts, 1.0, link.channels);
    answer.channels = static_cast<unsigned>(channels);
    answer.latency = cost.base + steps.hops * cost.hop;
    answer.working = steps.sent / (channels * cost.rate);
    answer.sending = steps.sent / (link.bandwidth * link.protocol[p].payload);
    answer.keeping = (steps.reduced + link.protocol[p].landing * steps.landed) / (channels * cost.rate);
    answer.ns = answer.latency + together(answer.working, answer.sending) + answer.keeping;
  }
  answer.algorithm_bandwidth = question.bytes / answer.ns;
  answer.bus_bandwidth = answer.algorithm_bandwidth * bus_factor(question.operation, devices);
  const double work = answer.working + answer.keeping;
  const double most = std::max({answer.latency, work, answer.sending});
  answer.limit = most == answer.latency ? Limit::latency : most == work ? Limit::channels : Limit::link;
  return answer;
}

}  // namespace foretrace::collective
