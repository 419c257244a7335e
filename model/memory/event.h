// What happens next in the memory system, and to whom: what its calendars hold.
//
// Models:  nothing. A packet's event carries its passage, so that a write is not touched before its line is.
// Ignores: its time, which is where it stands in a calendar.
#pragma once

#include <cstdint>

#include "model/memory/transaction.h"
#include "model/units/error.h"

namespace foretrace::memory {

enum class EventKind : std::uint8_t {
  arrive,   ///< a packet comes to a slice, at the end of the way from its SM or from the other partition
  serve,    ///< its turn at the slice's port
  fill,     ///< sectors come from DRAM or from the other partition
  reply,    ///< an answer leaves its slice
  channel,  ///< a DRAM channel's turn
  retry,    ///< what waits for an entry of a queue may have it
  way,      ///< an SM's way may be open again
  peer,     ///< a packet comes to the link to other devices, or its answer from there
};

/// Two words, since fields that were just stored one by one would hold up the host where it reads them together.
class Event {
 public:
  Event() = default;
  Event(std::uint32_t index, EventKind kind)
      : high_(std::uint64_t{index & kMaxIndex} << 36 | std::uint64_t(kind) << 33) {
    FORETRACE_ASSERT(index <= kMaxIndex, "more transactions are under way than an event can name");
  }
  Event(std::uint32_t index, EventKind kind, const Passage& is, bool write) : Event(index, kind) {
    low_ = std::uint64_t{is.tag} << 32 | std::uint64_t{is.sm} << 16 | is.index;
    high_ |= (write ? kWrite : 0) | std::uint64_t{is.set} << 16 | std::uint64_t{is.sectors} << 12 |
             std::uint64_t{is.write_flits} << 8 | (is.at ? kAt : 0) | (is.near ? kNear : 0) |
             (is.home ? kHome : 0) | (is.crossed ? kCrossed : 0) | (is.counted ? kCounted : 0);
  }
  /// Transaction or write, channel, queue or SM.
  std::uint32_t index() const { return static_cast<std::uint32_t>(high_ >> 36); }
  EventKind kind() const { return static_cast<EventKind>(high_ >> 33 & 7); }
  /// Whether it is of one.
  bool write() const { return (high_ & kWrite) != 0; }
  std::uint16_t sm() const { return static_cast<std::uint16_t>(low_ >> 16); }
  bool crossed() const { return (high_ & kCrossed) != 0; }
  bool at_home() const { return ((high_ & kAt) != 0) == ((high_ & kHome) != 0); }
  bool near_home() const { return ((high_ & kNear) != 0) == ((high_ & kHome) != 0); }
  // The passage of what arrives or is served; a write's is nowhere else.
  std::uint32_t tag() const { return static_cast<std::uint32_t>(low_ >> 32); }
  std::uint32_t slice_index() const { return static_cast<std::uint32_t>(low_ & 0xffff); }
  std::uint32_t set() const { return static_cast<std::uint32_t>(high_ >> 16 & 0xffff); }
  std::uint8_t sectors() const { return static_cast<std::uint8_t>(high_ >> 12 & 15); }
  std::uint32_t flits() const { return static_cast<std::uint32_t>(high_ >> 8 & 15); }
  std::uint32_t at() const { return high_ & kAt ? 1 : 0; }
  std::uint32_t near() const { return high_ & kNear ? 1 : 0; }
  std::uint32_t home() const { return high_ & kHome ? 1 : 0; }
  bool counted() const { return (high_ & kCounted) != 0; }
  Event as(EventKind kind) const {
    Event other = *this;
    other.high_ = (high_ & ~(std::uint64_t{7} << 33)) | std::uint64_t(kind) << 33;
    return other;
  }
  void cross() { high_ |= kCrossed; }
  void count() { high_ |= kCounted; }
  /// It is on its way to the line's partition.
  void go_home() { high_ = (high_ & ~kAt) | ((high_ & kHome) != 0 ? kAt : 0); }

 private:
  static constexpr std::uint32_t kMaxIndex = (1u << 28) - 1;
  static constexpr std::uint64_t kAt = 1, kNear = 2, kHome = 4, kCrossed = 8, kCounted = 16,
                                 kWrite = std::uint64_t{1} << 32;
  std::uint64_t low_ = 0, high_ = 0;
};
static_assert(sizeof(Event) == 16);

}  // namespace foretrace::memory
