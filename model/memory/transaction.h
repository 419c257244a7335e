// A request on its way through the memory system, and the pool that holds all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/memory/l2_tags.h"
#include "model/memory/memory_system.h"
#include "model/support/large_pages.h"

namespace foretrace::memory {

/// L2 cycles of a wait, by where they went. They tile it.
struct Segments {
  std::uint32_t l2 = 0, partition = 0, dram_queue = 0, dram = 0;
};

/// What the way to a slice and into its tags depends on. The events carry it, so that a write is not touched before its line is.
struct Passage {
  std::uint32_t tag = 0;
  std::uint16_t sm = 0;
  std::uint16_t index = 0;       ///< slice within its partition
  std::uint16_t set = 0;         ///< within the slice
  std::uint8_t sectors = 0;      ///< asked for; fills: brought
  std::uint8_t write_flits = 0;  ///< flits of 32 bytes that leave the GPC
  bool at = false;               ///< partition of the slice where it is looked up
  bool near = false;             ///< partition of the SM
  bool home = false;             ///< partition of the line
  bool crossed = false;          ///< its way from the SM lies behind it, that out of the GPC too
  bool counted = false;          ///< its lookup was counted (it is tried again)
};

/// What is kept of a write, for when it reaches its line. Where its time goes nobody asks.
struct alignas(32) Write {
  std::array<std::uint32_t, kSectorsPerLine> bytes{};
  std::uint32_t id = 0;
  std::uint32_t note = 0;  ///< of Signals; 0: none
  bool wants_reply = false;
};

/// What is known of every other transaction.
struct alignas(64) Packet : Passage {
  enum class Kind : std::uint8_t { read, atomic, reduction, instruction, far_read, fill };

  std::uint64_t order = 0;  ///< of submission, for ties between replies
  std::uint64_t since = 0;  ///< L2 cycle up to which its segments are accounted for
  std::uint32_t id = 0;
  std::uint32_t next = kNone;  ///< in a list of waiters
  Kind kind = Kind::read;
  std::uint8_t wait = 0;    ///< sectors it still waits for
  std::uint8_t merged = 0;  ///< reads: how many it takes along
  std::uint8_t visits = 0;  ///< sectors, once for every packet that holds them
  std::uint8_t flits = 0;   ///< atomics: flits of 32 bytes that leave the GPC
  bool wants_reply = false;
  bool multicast = false;        ///< reads: none joins it, and it joins none
  std::uint16_t home_bytes = 0;  ///< atomics: what their home slice could read meanwhile
  std::uint32_t note = 0;        ///< of Signals; 0: none
};

/// Where its time went.
struct alignas(64) Journey {
  std::uint64_t issued = 0;         ///< SM cycle
  std::uint64_t reached = 0;        ///< L2 cycle at which it came to its first slice
  std::uint32_t slot = kNone;       ///< far reads and fills: the line that they fill
  std::uint32_t followers = kNone;  ///< reads: the last of those it takes along
  std::uint32_t peer = kNone;       ///< reads that others may join: the next one of the line
  bool leads = false;               ///< reads: others may join
  bool answered = false;            ///< reads: the data were there at `since`
  std::uint8_t lone = 0;            ///< atomics: packets of a single word, of one word
  std::uint16_t again_bytes =
      0;  ///< of those, each: what more their home slice could read if all its last ones were on their line
  std::uint16_t turn_bytes =
      0;  ///< atomics: what more their home slice could read if its last one, on their sector, wanted an answer and they do not, or the other way
  std::uint32_t back = 0;  ///< far reads: L2 cycles of the way back between the partitions
  Segments segments;       ///< of what delays the reply
};

struct Transaction : Packet, Journey {};
static_assert(sizeof(Write) == 32 && sizeof(Packet) == 64 && sizeof(Transaction) == 128);

/// All that are under way of a kind.
template <typename T>
class Pool {
 public:
  /// One as whoever had it before left it.
  std::uint32_t take() {
    constexpr std::size_t kAhead = 4;  // of those that are free, asked for before they are taken
    std::uint32_t index = made_;
    if (free_.empty()) {
      if (made_ == chunks_.size() * kChunk) chunks_.emplace_back(kChunk);
      ++made_;
    } else {
      if (free_.size() > kAhead) bring(free_[free_.size() - 1 - kAhead]);
      index = free_.back();
      free_.pop_back();
    }
    return index;
  }
  void give_back(std::uint32_t index) { free_.push_back(index); }
  /// Stays where it is while others are taken.
  T& operator[](std::uint32_t index) { return chunks_[index / kChunk][index % kChunk]; }
  /// It will be looked at soon.
  [[gnu::always_inline]] void bring(std::uint32_t index) const {
    const char* const place = reinterpret_cast<const char*>(&chunks_[index / kChunk][index % kChunk]);
    for (std::size_t at = 0; at < sizeof(T); at += 64) support::prefetch(place + at);
  }
  std::uint32_t live() const { return made_ - static_cast<std::uint32_t>(free_.size()); }

 private:
  static constexpr std::uint32_t kChunk = (std::uint32_t{2} << 20) / sizeof(T);  // a large page of the host
  std::vector<support::LargeVector<T>> chunks_;
  std::vector<std::uint32_t> free_;
  std::uint32_t made_ = 0;
};

}  // namespace foretrace::memory
