// Events in order of time, those of one cycle in the order in which they were put in.
//
// Models:  nothing; it is the event queue of the memory system. Time is cut into blocks of cycles: this block and the next have
//          a list per cycle, the blocks of the near future a list each, and what is further still is in a heap. The lists of cycles
//          are chunks of one pool; the next that is needed is the one that was left last, which a host's cache still holds.
// Ignores: ties other than by order of insertion: whoever needs another order inserts in it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/support/large_pages.h"
#include "model/units/units.h"

namespace foretrace::support {

template <typename Event>
class Calendar {
 public:
  /// `time` must not be before the last time that was taken.
  void push(std::uint64_t time, const Event& event) {
    if (time / kBlock - block_ < 2) {
      put_near(time, event);
    } else {
      put_far(time, event);
    }
    if (time < next_) next_ = time;
  }
  /// Earliest time with an event, kNever without one.
  std::uint64_t next() const { return next_; }

  /// Calls handle(event) for every event of cycle `now` = next(), with those pushed for `now` meanwhile.
  template <typename Handle>
  void take(std::uint64_t now, Handle&& handle) {
    move_to(now);
    Bucket& bucket = ring_[now % kRing];
    for (std::uint32_t at = bucket.first; at != kNoChunk;) {
      for (std::uint32_t i = 0; i < (at == bucket.last ? bucket.in_last : kPerChunk); ++i) {
        const Event event = chunks_[at].events[i];
        handle(event);
      }
      const std::uint32_t following = chunks_[at].next;
      chunks_[at].next = free_;
      free_ = at;
      at = following;
    }
    bucket = {};
    occupied_[now % kRing / 64] &= ~(std::uint64_t{1} << (now % 64));
    next_ = find(now + 1);
  }
  /// Calls look(event) for what is known by now of cycle `time`, which is not more than a block away.
  template <typename Look>
  [[gnu::always_inline]] void look_at(std::uint64_t time, Look&& look) const {
    const Bucket& bucket = ring_[time % kRing];
    for (std::uint32_t at = bucket.first; at != kNoChunk; at = chunks_[at].next) {
      const Chunk& chunk = chunks_[at];
      const std::uint32_t count = at == bucket.last ? bucket.in_last : kPerChunk;
      for (std::uint32_t i = 0; i < count; ++i) look(chunk.events[i]);
    }
  }

  /// No event before `now` is left.
  void move_to(std::uint64_t now) {
    const std::uint64_t block = now / kBlock;
    if (block == block_) return;
    block_ = block;
    // A block's events come from the heap, then from its list, then singly: in the order in which they were pushed.
    while (!far_.empty() && far_.front().time / kBlock - block < kBlocks) {
      std::pop_heap(far_.begin(), far_.end(), later);
      put_later(far_.back().time, far_.back().event);
      far_.pop_back();
    }
    for (const std::uint64_t near : {block, block + 1}) {
      Later& list = later_[near % kBlocks];
      for (const Timed& timed : list.events) put_near(near * kBlock + timed.cycle, timed.event);
      list.events.clear();
      list.first = kBlock;
      listed_[near % kBlocks / 64] &= ~(std::uint64_t{1} << (near % 64));
    }
  }

  /// Forgets the time; there must be no events left.
  void restart() { block_ = 0, next_ = kNever, order_ = 0; }

 private:
  static constexpr std::uint64_t kBlock = 256;        // cycles
  static constexpr std::uint64_t kRing = 2 * kBlock;  // most events of a loaded GPU are nearer
  static constexpr std::uint64_t kBlocks = 1024;
  static constexpr std::uint32_t kPerChunk = 15, kNoChunk = ~std::uint32_t{0};
  struct alignas(64) Chunk {
    std::array<Event, kPerChunk> events;
    std::uint32_t next;  // of the cycle, or free
  };
  struct Bucket {
    std::uint32_t first = kNoChunk, last = kNoChunk;
    std::uint32_t in_last = 0;  // events in the last chunk
  };
  struct Timed {
    std::uint32_t cycle;  // within the block
    Event event;
  };
  struct Later {
    std::vector<Timed> events;
    std::uint32_t first = kBlock;  // earliest cycle of them within the block
  };
  struct Far {
    std::uint64_t time, order;
    Event event;
  };
  static bool later(const Far& a, const Far& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }

  void put_far(std::uint64_t time, const Event& event) {
    if (time / kBlock - block_ < kBlocks) {
      put_later(time, event);
    } else {
      far_.push_back({time, order_++, event});
      std::push_heap(far_.begin(), far_.end(), later);
    }
  }
  void put_near(std::uint64_t time, const Event& event) {
    Bucket& bucket = ring_[time % kRing];
    if (bucket.last == kNoChunk || bucket.in_last == kPerChunk) add_chunk(bucket);
    chunks_[bucket.last].events[bucket.in_last++] = event;
    occupied_[time % kRing / 64] |= std::uint64_t{1} << (time % 64);
  }
  void add_chunk(Bucket& bucket) {
    std::uint32_t chunk = free_;
    if (chunk == kNoChunk) {
      chunk = static_cast<std::uint32_t>(chunks_.size());
      chunks_.emplace_back();
    } else {
      free_ = chunks_[chunk].next;
    }
    chunks_[chunk].next = kNoChunk;
    (bucket.last == kNoChunk ? bucket.first : chunks_[bucket.last].next) = chunk;
    bucket.last = chunk;
    bucket.in_last = 0;
  }
  void put_later(std::uint64_t time, const Event& event) {
    Later& list = later_[time / kBlock % kBlocks];
    const auto cycle = static_cast<std::uint32_t>(time % kBlock);
    list.events.push_back({cycle, event});
    list.first = std::min(list.first, cycle);
    listed_[time / kBlock % kBlocks / 64] |= std::uint64_t{1} << (time / kBlock % 64);
  }
  std::uint64_t find(std::uint64_t from) const {
    const std::uint64_t near = first_bit(occupied_, from, (block_ + 2) * kBlock);
    if (near != kNever) return near;
    const std::uint64_t block = first_bit(listed_, block_ + 2, block_ + kBlocks);
    if (block != kNever) return block * kBlock + later_[block % kBlocks].first;
    return far_.empty() ? kNever : far_.front().time;
  }
  /// First of [from, end) whose bit is set, kNever: none. Bits outside of it are of earlier ones, hence clear.
  template <std::size_t kWords>
  static std::uint64_t first_bit(const std::array<std::uint64_t, kWords>& bits, std::uint64_t from,
                                 std::uint64_t end) {
    for (std::uint64_t at = from; at < end; at += 64 - at % 64) {
      const std::uint64_t word = bits[at / 64 % kWords] >> (at % 64);
      if (word) return at + static_cast<unsigned>(std::countr_zero(word));
    }
    return kNever;
  }

  std::array<Bucket, kRing> ring_;
  LargeVector<Chunk> chunks_;
  std::uint32_t free_ = kNoChunk;
  std::array<std::uint64_t, kRing / 64> occupied_{};
  std::array<Later, kBlocks> later_;
  std::array<std::uint64_t, kBlocks / 64> listed_{};
  std::vector<Far> far_;
  std::uint64_t block_ = 0, next_ = kNever, order_ = 0;
};

}  // namespace foretrace::support
