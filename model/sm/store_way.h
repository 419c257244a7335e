// Stores and reductions on their way to L2: of how many the way holds the data, and which wait in the SM for it.
//
// Models:  the way holds so many bytes of an SM until L2 has done them: some for an address, which has room for a lone word, and some for the
//          data of a sector; an instruction that does not find room waits with its warp's end, in order, in a limited number of places, beyond
//          which no other store or reduction comes to the tags. Lines of stores that are held back for others (store_buffer.h) do not leave by
//          themselves while it is full.
// Ignores: instructions of which a part has left; where on the way they are; that the SM hears of room later than there is.
// Source:  stores_under_way (reductions of one, two, eight and 32 lanes on one word: 16 instructions and 266 lone words beside the
//          sub-cores' queues; 166, 114 and 74 of one, two and four sectors; a lane's stores to new lines) and block_ends (blocks end at once
//          up to 256 lone words, later behind what is above them) on H100. That lines wait for it: profiled_record_stores (528 blocks of
//          records send L2 7% less or more than an H100's, where lines that left anyway sent 18%).
#pragma once

#include <bit>
#include <cstdint>

#include "model/memory/memory_system.h"
#include "model/spec/gpu_spec.h"
#include "model/support/ring.h"

namespace foretrace::sm {

/// Pieces of the way that what goes to one line takes.
class WayPieces {
 public:
  explicit WayPieces(const spec::L1Spec& spec)
      : address_(spec.way_address_bytes / spec::kWayPieceBytes),
        sector_(spec.way_sector_bytes / spec::kWayPieceBytes) {}
  std::uint32_t of_reduction(const memory::Request& reduction) const {
    return address_ * reduction.packets + sector_ * (reduction.visits - reduction.lone);
  }
  std::uint32_t of_store(const memory::Request& store) const {
    constexpr std::uint32_t kWord = 4;
    std::uint32_t bytes = 0;
    for (const std::uint32_t sector : store.bytes) bytes += static_cast<std::uint32_t>(std::popcount(sector));
    return address_ + (bytes <= kWord ? 0 : sector_ * memory::sector_count(store.sectors));
  }

 private:
  std::uint32_t address_, sector_;
};

class StoreWay {
 public:
  /// What the way holds; one instruction may be larger.
  explicit StoreWay(const spec::L1Spec& spec)
      : pieces_(spec.way_bytes / spec::kWayPieceBytes), places_(spec.way_instructions) {}

  /// Whether another instruction may come.
  bool has_room() const { return waiting_.size() < places_; }
  /// Whether what is sent, or held back, takes all of it.
  bool full() const { return sent_ >= pieces_; }
  /// Whether instructions wait, for which served() has to be told in time.
  bool waits() const { return !waiting_.empty(); }
  /// Operation `id` with so many pieces comes. True: it has left; false: served() says when.
  bool enter(std::uint32_t id, std::uint32_t pieces) {
    const bool leaves = waiting_.empty() && sent_ < pieces_;
    sent_ += pieces;
    if (leaves) return true;
    waiting_.push({id, pieces});
    held_ += pieces;
    return false;
  }
  /// L2 has done so many pieces: left(id) for each that leaves now.
  template <typename Left>
  void served(std::uint32_t pieces, Left&& left) {
    sent_ -= pieces;
    while (!waiting_.empty() && sent_ < pieces_ + held_) {
      const Waiting first = waiting_.pop();
      held_ -= first.pieces;
      left(first.id);
    }
  }

 private:
  struct Waiting {
    std::uint32_t id = 0, pieces = 0;
  };
  const std::uint32_t pieces_, places_;  // instructions that wait
  std::uint32_t sent_ = 0, held_ = 0;    // pieces not done; of these: of instructions that wait
  support::Ring<Waiting> waiting_;
};

}  // namespace foretrace::sm
