#include "model/memory/sm_link.h"

#include <algorithm>
#include <cmath>

#include "model/units/error.h"

namespace foretrace::memory {

std::array<SmLink::AtomicWork, spec::kAtomicDataKinds> SmLink::atomic_work(const spec::L2Spec& l2) {
  const auto work = [&l2](double several, double lone, double again) {
    const auto bytes = [&l2](double cycles) {
      return static_cast<std::uint32_t>(std::lround(cycles * l2.slice_bytes));
    };
    return AtomicWork{bytes(several), bytes(lone), bytes(std::max(lone, again)),
                      bytes(l2.atomic_turn_interval)};
  };
  // In the order of spec::AtomicData.
  const double integer = l2.atomic_interval, single = l2.atomic_float_interval;
  return {work(integer, integer, integer), work(l2.atomic_wide_interval, integer, integer),
          work(l2.atomic_compare_interval, integer, integer), work(single, single, l2.atomic_lone_interval),
          work(l2.atomic_double_interval, single, l2.atomic_lone_interval)};
}

SmLink::SmLink(Shared& shared)
    : shared_(shared), atomic_work_(atomic_work(shared.spec.l2)),
      port_(shared.spec.sm.count, Port(shared.spec.network.request_bytes)) {}

void SmLink::restart() {
  for (Port& port : port_) port.reset();
  arrivals_.restart();
  order_ = 0;
}

inline Passage SmLink::passage_of(const Request& request) const {
  const Place place = shared_.map.place(request.line);
  Passage passage;
  passage.tag = place.tag;
  passage.sm = static_cast<std::uint16_t>(request.sm);
  passage.index = static_cast<std::uint16_t>(place.index);
  passage.set = static_cast<std::uint16_t>(place.set);
  passage.sectors = request.sectors;
  passage.at = passage.near = shared_.sm_place[request.sm].partition != 0;
  passage.home = place.home != 0;
  return passage;
}

/// What the packet tells or waits for; 0: nothing.
inline std::uint32_t SmLink::note_of(const Request& request, std::span<const work::Awaited> awaited) {
  if (request.tells == kTries) {
    const work::Signal& s = request.signal;
    const std::uint64_t sent = shared_.sm_to_l2.up(request.time),
                        back = shared_.sm_place[request.sm].ways.reply;
    constexpr std::uint32_t kWaits = 1u << 8;  // values of Request::waits
    return shared_.signals.take({.tells = kTries,
                                 .signal = {},
                                 .awaited = {},
                                 .swap = {.line = request.line,
                                          .words = s.block,
                                          .changes = s.number * work::Signal::kWarps + s.warp,
                                          .asker = request.sm * kWaits + request.waits,
                                          .round = request.bytes[0],
                                          // What it compares with came the same way back.
                                          .read = sent > back ? sent - back : 0}});
  }
  if (request.tells == 0 && awaited.empty()) return 0;
  const std::uint64_t word = request.tells > 1 ? request.line * (kLineBytes / 4) + request.tells - 2u : 0;
  return shared_.signals.take(
      {request.tells, false, request.signal, word, {awaited.begin(), awaited.end()}, {}});
}

inline void SmLink::leave(const Request& request, std::uint32_t bytes, const Event& arrives) {
  Port& port = port_[request.sm];
  const std::uint64_t left = port.pass(shared_.sm_to_l2.up(request.time), std::max(bytes, port.width()));
  arrivals_.push(left + shared_.sm_place[request.sm].ways.request, arrives);
}

inline void SmLink::submit_write(const Request& request, Passage passage, std::uint32_t note) {
  const std::uint32_t index = shared_.writes.take();
  Write& kept = shared_.writes[index];
  kept.bytes = request.bytes;
  kept.id = request.id;
  kept.wants_reply = request.wants_reply;
  kept.note = note;
  const std::uint32_t flits =
      request.flits != 0 ? request.flits : write_flits(request.sectors, request.bytes);
  FORETRACE_ASSERT(flits < kWriteFlits, "a write is more than its sectors and their mask");
  passage.write_flits = static_cast<std::uint8_t>(flits);
  shared_.counters.tex_sectors_write += sector_count(request.sectors);
  ++shared_.counters.tex_requests;
  leave(request, flits * kSectorBytes, {index, first_event(request.line), passage, true});
}

inline void SmLink::describe_atomic(const Request& request, Transaction& transaction) {
  const bool atomic = request.kind == RequestKind::atomic;
  transaction.kind = atomic ? Transaction::Kind::atomic : Transaction::Kind::reduction;
  if (request.visits != 0) transaction.visits = request.visits;
  transaction.flits = request.flits != 0 ? request.flits : transaction.visits;
  const AtomicWork& work = atomic_work_[static_cast<std::size_t>(request.data)];
  // Several packets of a single word are of one word; whether the slice's last one was as well turns out at home (slice_ports.h).
  const std::uint32_t lone = std::min(request.lone, transaction.visits);
  const std::uint32_t first = lone == 0 ? 0 : 1;
  transaction.home_bytes =
      static_cast<std::uint16_t>(lone * work.lone + (transaction.visits - lone) * work.several);
  transaction.again_bytes = static_cast<std::uint16_t>(first * (work.again - work.lone));
  transaction.lone = static_cast<std::uint8_t>(lone);
  transaction.turn_bytes = static_cast<std::uint16_t>(first * work.turn);
  stats::MemoryCounters& counters = shared_.counters;
  (atomic ? counters.tex_sectors_atomic : counters.tex_sectors_reduction) += transaction.visits;
  counters.tex_requests += request.packets;
}

void SmLink::submit(const Request& request, std::span<const work::Awaited> awaited) {
  FORETRACE_ASSERT(request.sm < shared_.spec.sm.count && request.sectors != 0 && request.sectors < 16,
                   "a memory request asks for nothing");
  const Passage passage = passage_of(request);
  const std::uint32_t note = note_of(request, awaited);
  if (request.kind == RequestKind::write) return submit_write(request, passage, note);
  const std::uint32_t index = shared_.pool.take();
  Transaction& transaction = shared_.pool[index];
  transaction = {};
  static_cast<Passage&>(transaction) = passage;
  transaction.order = order_++;
  transaction.issued = request.time;
  transaction.id = request.id;
  transaction.wants_reply = request.wants_reply;
  transaction.note = note;
  const std::uint32_t sectors = sector_count(request.sectors);
  transaction.visits = static_cast<std::uint8_t>(sectors);
  std::uint32_t bytes = 0;
  switch (request.kind) {
    case RequestKind::read:
      transaction.kind = Transaction::Kind::read;
      transaction.multicast = request.multicast;
      shared_.counters.tex_sectors_read += sectors;
      ++shared_.counters.tex_requests;
      break;
    case RequestKind::instruction: transaction.kind = Transaction::Kind::instruction; break;
    case RequestKind::write: break;
    case RequestKind::atomic:
    case RequestKind::reduction:
      describe_atomic(request, transaction);
      bytes = transaction.flits * kSectorBytes;
      break;
  }
  leave(request, bytes, {index, first_event(request.line), passage, false});
}

}  // namespace foretrace::memory
