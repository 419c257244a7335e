#include "model/memory/answers.h"

#include <algorithm>

#include "model/units/error.h"

namespace foretrace::memory {

using Kind = Transaction::Kind;

Answers::Answers(Shared& shared, ReadMerging& merging)
    : shared_(shared), merging_(merging),
      gpc_in_(shared.spec.sm.gpcs, Port(shared.spec.network.gpc_reply_bytes)),
      sm_in_(shared.spec.sm.count, Port(shared.spec.network.reply_bytes)),
      outgoing_(shared.spec.sm.count, shared.l2_to_sm, shared.shortest.reply) {}

void Answers::restart() {
  outgoing_.clear();  // replies that nobody took are forgotten
  for (auto* ports : {&gpc_in_, &sm_in_}) {
    for (Port& port : *ports) port.reset();
  }
  totals_ = {};
}

void Answers::answer(std::uint32_t index) {
  const Transaction& transaction = shared_.pool[index];
  Port& gpc = gpc_in_[shared_.gpc_of(transaction.sm)];
  const std::uint64_t out = gpc.pass(shared_.now, transaction.visits * kSectorBytes);
  if (transaction.kind == Kind::read && merging_.on()) {
    if (transaction.leads) merging_.answered(index);
    std::uint32_t follower = transaction.followers;
    while (follower != kNone) {
      const std::uint32_t following = shared_.pool[follower].next;
      follow(shared_.pool[follower], transaction);
      if (asks_again(follower, transaction)) {
        again_.push_back(follower);
      } else {
        deliver(follower, out);
      }
      follower = following;
    }
  }
  deliver(index, out);
  for (const std::uint32_t follower : again_)
    deliver(follower, gpc.pass(shared_.now, shared_.pool[follower].visits * kSectorBytes));
  again_.clear();
}

/// Whether the SM of a read that was taken along has another one before it: one crossing serves an SM once.
bool Answers::asks_again(std::uint32_t follower, const Transaction& first) const {
  const std::uint32_t sm = shared_.pool[follower].sm;
  if (sm == first.sm) return true;
  for (std::uint32_t before = first.followers; before != follower; before = shared_.pool[before].next)
    if (shared_.pool[before].sm == sm) return true;
  return false;
}

/// A read that was taken along waited for the last of what the first one went through.
void Answers::follow(Transaction& follower, const Transaction& first) const {
  std::uint32_t left = static_cast<std::uint32_t>(shared_.now - follower.reached);
  const auto account = [&left](std::uint32_t length) {
    const std::uint32_t taken = std::min(left, length);
    left -= taken;
    return taken;
  };
  follower.segments.l2 = account(shared_.spec.l2.latency);
  follower.segments.dram = account(first.segments.dram);
  follower.segments.dram_queue = account(first.segments.dram_queue);
  follower.segments.partition = account(first.segments.partition);
  follower.segments.l2 += left;
}

/// The answer has crossed to the GPC at `out`: it passes the SM's own port.
void Answers::deliver(std::uint32_t index, std::uint64_t out) {
  const Transaction& transaction = shared_.pool[index];
  out = sm_in_[transaction.sm].pass(out, transaction.visits * kSectorBytes);
  const Cycle time = outgoing_.time_of(out + farther(transaction.sm));
  std::uint32_t id = transaction.id;
  if (transaction.note != 0) {
    if (shared_.signals.note(transaction.note).early) id |= kTooEarly;
    shared_.signals.give_back(transaction.note);
  }
  outgoing_.put({time, transaction.sm, id}, transaction.order, transaction.kind == Kind::instruction);
  if (journeys_ && transaction.kind != Kind::instruction) note_journey(transaction, time);
  if (transaction.kind == Kind::read) add_up(transaction, time);
  shared_.pool.give_back(index);
}

inline void Answers::add_up(const Transaction& read, Cycle time) {
  const Segments& waited = read.segments;
  const ClockRatio& ratio = shared_.sm_to_l2;
  const std::uint64_t part = ratio.from();
  const std::uint64_t network = (read.reached - shared_.now) * part + (time - read.issued) * ratio.to();
  const std::uint64_t inside = std::uint64_t{waited.l2} + waited.partition + waited.dram_queue + waited.dram;
  FORETRACE_ASSERT(network + inside * part == (time - read.issued) * ratio.to(),
                   "the segments of a read do not sum to its latency");
  ++shared_.counters.read_requests;
  shared_.counters.read_latency += time - read.issued;
  totals_.network += network;
  totals_.l2 += static_cast<Wide>(waited.l2) * part;
  totals_.partition += static_cast<Wide>(waited.partition) * part;
  totals_.dram_queue += static_cast<Wide>(waited.dram_queue) * part;
  totals_.dram += static_cast<Wide>(waited.dram) * part;
}

void Answers::note_journey(const Transaction& transaction, Cycle time) {
  const Segments& waited = transaction.segments;
  const ClockRatio& ratio = shared_.sm_to_l2;
  std::uint64_t at = transaction.reached;
  const auto upto = [&](std::uint32_t length) {
    at += length;
    return std::clamp<Cycle>(at * ratio.from() / ratio.to(), transaction.issued, time);
  };
  ReadJourney journey{transaction.sm, transaction.id, transaction.issued, upto(0)};
  journey.l2 = upto(waited.l2);
  journey.partition = upto(waited.partition);
  journey.dram_queue = upto(waited.dram_queue);
  journey.dram = upto(waited.dram);
  journey.answered = time;
  if (transaction.kind != Kind::read)
    journey.l2 = journey.partition = journey.dram_queue = journey.dram = time;
  journeys_->push_back(journey);
}

void Answers::count(stats::MemoryCounters& counters) const {
  // Rounded down as running sums, so that the segments in SM cycles still add up to the latency.
  Wide sum = 0;
  std::uint64_t before = 0;
  const auto segment = [&](Wide parts) {
    sum += parts;
    const std::uint64_t cycles = static_cast<std::uint64_t>(sum / shared_.sm_to_l2.to());
    const std::uint64_t own = cycles - before;
    before = cycles;
    return own;
  };
  counters.segment_network = segment(totals_.network);
  counters.segment_l2 = segment(totals_.l2);
  counters.segment_partition = segment(totals_.partition);
  counters.segment_dram_queue = segment(totals_.dram_queue);
  counters.segment_dram = segment(totals_.dram);
  FORETRACE_ASSERT(before == counters.read_latency, "the segments of the reads do not sum to their latency");
}

}  // namespace foretrace::memory
