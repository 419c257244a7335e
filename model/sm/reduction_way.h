// Reductions on their way to L2: of how many the way holds the data, and which wait in the SM for it.
//
// Models:  the way holds so many flits of an SM until L2 has done them; an instruction whose flits do not find room waits with its warp's
//          end, in order, in a limited number of places, beyond which no other reduction comes to the tags.
// Ignores: instructions of which a part has left; where on the way they are; that the SM hears of room later than there is.
// Source:  stores_under_way (reductions of one, two, eight and 32 lanes on one word: 16 instructions and 266 flits beside the sub-cores'
//          queues) and block_ends (blocks end at once up to 256 flits, later behind what is above them) on H100.
#pragma once

#include <cstdint>

#include "model/support/ring.h"

namespace foretrace::sm {

class ReductionWay {
 public:
  /// `flits`: what the way holds; one instruction may be larger. `places`: instructions that wait for it.
  ReductionWay(std::uint32_t flits, std::uint32_t places) : flits_(flits), places_(places) {}

  /// Whether another instruction may come.
  bool has_room() const { return waiting_.size() < places_; }
  /// Whether instructions wait, for which served() has to be told in time.
  bool waits() const { return !waiting_.empty(); }
  /// Operation `id` with so many flits comes. True: it has left; false: served() says when.
  bool enter(std::uint32_t id, std::uint32_t flits) {
    const bool leaves = waiting_.empty() && sent_ < flits_;
    sent_ += flits;
    if (leaves) return true;
    waiting_.push({id, flits});
    held_ += flits;
    return false;
  }
  /// L2 has done so many flits: left(id) for each that leaves now.
  template <typename Left>
  void served(std::uint32_t flits, Left&& left) {
    sent_ -= flits;
    while (!waiting_.empty() && sent_ < flits_ + held_) {
      const Waiting first = waiting_.pop();
      held_ -= first.flits;
      left(first.id);
    }
  }

 private:
  struct Waiting {
    std::uint32_t id = 0, flits = 0;
  };
  const std::uint32_t flits_, places_;
  std::uint32_t sent_ = 0, held_ = 0;  // flits not done; of these: of instructions that wait
  support::Ring<Waiting> waiting_;
};

}  // namespace foretrace::sm
