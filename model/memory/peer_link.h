// The link to other devices: packets for their memory leave the chip, and their answers come back.
//
// Models:  a port each way, which packets take by their data and a header, a read's question by its own bytes, an atomic by both; the time from leaving to
//          coming back, the other device's L2 included. Nothing of it is kept in this device's L2: NVIDIA's keeps what lies in its own
//          memory. What is written holds up its SM's way while the link has much before it, as a full slice does.
// Ignores: the other device's slices (atomics to one word too), DRAM and kernels; the way out of the GPC; acknowledgements' share of the link.
// Source:  validate/links/h200-sxm-x2-links.tsv and -peer-ask.tsv; values in configs/links under kernel.
// Time:    L2 cycles.
#pragma once

#include <cmath>
#include <cstdint>

#include "model/memory/answers.h"
#include "model/memory/peer_memory.h"
#include "model/memory/port.h"
#include "model/memory/shared.h"

namespace foretrace::memory {

class PeerLink {
 public:
  PeerLink(Shared& shared, Answers& answers) : shared_(shared), answers_(answers) {}

  /// A packet comes to the link: up to when it keeps it. It will come back as the same kind of event, which has crossed.
  std::uint64_t leave(Event event) {
    event.cross();
    if (!event.write()) {
      Transaction& transaction = shared_.pool[event.index()];
      transaction.reached = transaction.since = shared_.now;
    }
    if (event.write() || shared_.pool[event.index()].note == 0) shared_.signals.moves(shared_.now);
    const std::uint64_t left = out_.pass(shared_.now, parts(sent(event)));
    shared_.events.push(left + latency_, event);
    return left;
  }
  /// What was asked is done there, and the answer is at this end.
  void come_back(const Event& event) {
    if (event.write()) return end_write(event);
    Transaction& transaction = shared_.pool[event.index()];
    const bool reads = transaction.kind == Transaction::Kind::read;
    if (transaction.note != 0 && !shared_.signals.look(transaction.note, shared_.now) && !reads)
      shared_.signals.make(transaction.note, shared_.now);
    if (transaction.kind == Transaction::Kind::reduction) return end_reduction(event.index());
    const std::uint64_t back = in_.pass(shared_.now, parts(transaction.visits * kSectorBytes + header_));
    transaction.segments.partition = static_cast<std::uint32_t>(back - transaction.reached);
    shared_.events.push(back, {event.index(), EventKind::reply});
  }
  /// A new launch, with what it is told of other devices' memory.
  void restart() {
    out_ = in_ = Port(1);
    if (shared_.peer == nullptr) return;
    const double cycles_per_ns = static_cast<double>(shared_.spec.clock.l2) * 1e-9;
    const double width = shared_.peer->bandwidth / cycles_per_ns * kParts;
    out_ = in_ = Port(std::max(1u, static_cast<std::uint32_t>(std::lround(width))));
    latency_ = static_cast<std::uint64_t>(std::llround(shared_.peer->latency * cycles_per_ns));
    header_ = shared_.peer->header;
    question_ = shared_.peer->question;
  }

 private:
  static constexpr std::uint32_t kUnit = 16;   // bytes
  static constexpr std::uint32_t kParts = 16;  // of a byte: what a link carries per cycle is no whole number
  static std::uint32_t parts(std::uint32_t bytes) { return bytes * kParts; }
  std::uint32_t sent(const Event& event) {
    if (event.write()) return header_ + data_bytes(shared_.writes[event.index()], event.sectors());
    const Transaction& transaction = shared_.pool[event.index()];
    if (transaction.kind == Transaction::Kind::read) return question_;
    return transaction.flits * kSectorBytes + header_ + question_;
  }
  /// Of what is written: units of 16 bytes, and one that says which of their bytes where one is written in part.
  static std::uint32_t data_bytes(const Write& write, std::uint8_t sectors) {
    std::uint32_t units = 0, partly = 0;
    for (std::size_t sector = 0; sector < kSectorsPerLine; ++sector) {
      if (!(sectors >> sector & 1)) continue;
      const std::uint32_t bytes = write.bytes[sector];
      for (const std::uint32_t half : {bytes & 0xffffu, bytes >> 16}) {
        units += half != 0 ? 1 : 0;
        if (half != 0 && half != 0xffffu) partly = 1;
      }
    }
    return (units + partly) * kUnit;
  }
  void end_write(const Event& event) {
    const Write& write = shared_.writes[event.index()];
    if (write.note != 0) {
      shared_.signals.make(write.note, shared_.now);
      shared_.signals.give_back(write.note);
    }
    if (write.wants_reply) answers_.acknowledge_peer(event.sm(), write.id, shared_.now);
    shared_.writes.give_back(event.index());
  }
  void end_reduction(std::uint32_t index) {
    const Transaction& reduction = shared_.pool[index];
    if (reduction.wants_reply) answers_.acknowledge_peer(reduction.sm, reduction.id, shared_.now);
    if (reduction.note != 0) shared_.signals.give_back(reduction.note);
    shared_.pool.give_back(index);
  }

  Shared& shared_;
  Answers& answers_;
  Port out_{1}, in_{1};
  std::uint64_t latency_ = 0;
  std::uint32_t header_ = 0, question_ = 0;
};

}  // namespace foretrace::memory
