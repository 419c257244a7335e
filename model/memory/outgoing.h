// Replies on their way out of the memory system, by SM, until their time comes to be handed out.
//
// Models:  nothing; it keeps order. Acknowledgements of one kind to one SM take the same time each, so that they wait in the order in
//          which they were sent; data keep theirs at the SM's port; so there is next to nothing to sort.
// Ignores: the order between an acknowledgement and anything else of the same time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/memory/clock_ratio.h"
#include "model/memory/memory_system.h"
#include "model/support/ring.h"

namespace foretrace::memory {

class Outgoing {
 public:
  /// `reply_latency`: L2 cycles from what leaves L2 to the SM.
  Outgoing(std::uint32_t sms, const ClockRatio& l2_to_sm, std::uint32_t reply_latency)
      : l2_to_sm_(l2_to_sm), reply_latency_(reply_latency), lanes_(sms) {}

  /// Time of the reply that leaves L2 in its cycle `out`.
  Cycle time_of(std::uint64_t out) const { return l2_to_sm_.up(out + reply_latency_); }
  /// `order`: of submission, which data of one time keep. `code`: an answer to an instruction request.
  void put(const Reply& reply, std::uint64_t order, bool code);
  /// The word that a write or a reduction is done leaves in L2 cycle `out`, not before the last one of the same kind and SM.
  void acknowledge(std::uint32_t sm, std::uint32_t id, std::uint64_t out, bool reduction, bool far) {
    lanes_[sm].acknowledgements[(reduction ? 2u : 0u) + (far ? 1u : 0u)].push({out, id});
    ++waiting_;
  }
  /// The same of what was done in another device's memory.
  void acknowledge_peer(std::uint32_t sm, std::uint32_t id, std::uint64_t out) {
    lanes_[sm].acknowledgements[kPeers].push({out, id});
    ++waiting_;
  }
  /// Appends what is due before `known`, in order of time.
  void hand_out(Cycle known, Replies& replies);
  /// Earliest time of a reply that left before L2 cycle `end`, or at which another leaves; kNever: there is none.
  Cycle next(std::uint64_t end) const;
  bool empty() const { return waiting_ == 0; }
  /// Forgets them all.
  void clear();

 private:
  static constexpr std::size_t kPeers = 4, kKinds = 5;
  struct Data {
    Reply reply;
    std::uint64_t order = 0;
  };
  struct Acknowledgement {
    std::uint64_t out = 0;
    std::uint32_t id = 0;
  };
  struct Lane {
    std::vector<Data> data;  // by time and order
    std::array<support::Ring<Acknowledgement>, kKinds> acknowledgements;
  };

  const ClockRatio& l2_to_sm_;
  const std::uint32_t reply_latency_;
  std::vector<Lane> lanes_;  // by SM
  std::vector<Data> code_;
  std::size_t waiting_ = 0;
};

}  // namespace foretrace::memory
