// Where stores wait in an SM for others to the same lines.
//
// Models:  the lines that the SM's warps stored to last, up to a number of them. A store to a line that its warp's last one wrote, or
//          another warp's a few cycles before, joins what is there and leaves with it as one packet. A line leaves when its warp's next store
//          instruction does not write it, when the room is needed (the line that was written longest ago), and some cycles after the last store
//          to it, the more the more lines that wrote, and not before the way out is free. While the way to L2 is full lines stay, but where the
//          room is needed, and any warp's store to one joins it. An instruction that writes more lines than are held
//          leaves at once.
// Ignores: what the loads between do (H100, store_flush: nothing).
// Source:  our store_window, record_stores, store_order, store_flush and local_words on H100: parts of 16 bytes that a warp stores one after
//          the other come to L2 as one packet per line, also with loads between them; none do where stores of the thread to other lines lie between;
//          43 cycles apart one to twelve lines have left, twenty have not; four warps of 28 lines meet their own, of 32 none do.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "model/memory/memory_system.h"
#include "model/sm/store_way.h"
#include "model/units/error.h"
#include "model/units/units.h"

namespace foretrace::sm {

class StoreBuffer {
 public:
  static constexpr std::uint32_t kMostLines = 32;
  struct Added {
    std::uint32_t sectors = 0, pieces = 0;  ///< of the way to L2
  };

  /// Holds up to `lines` (at most kMostLines), each for `cycles` after the last store to it, or for `line_cycles` for each line that this
  /// store wrote. Stores of different warps to a line merge where they are less than `together` cycles apart.
  StoreBuffer(std::uint32_t lines, Cycle cycles, Cycle line_cycles, Cycle together, const WayPieces& pieces)
      : lines_(lines), cycles_(cycles), line_cycles_(line_cycles), together_(together), pieces_(pieces) {
    FORETRACE_ASSERT(lines <= kMostLines, "a store buffer holds at most 32 lines");
  }

  std::uint32_t room() const { return lines_; }
  /// How long a line of an instruction that writes so many waits, or would.
  Cycle time_of(std::uint32_t lines) const { return std::max(cycles_, line_cycles_ * lines); }
  /// When something next leaves by itself, kNever if nothing waits.
  Cycle due() const { return due_; }
  /// Whether a warp's store at `now` joins what is held of the line.
  bool joins(std::uint64_t line, std::uint16_t warp, Cycle now) const {
    const std::uint32_t at = find(line);
    return at < size_ && joins_at(at, warp, now);
  }
  /// From now on: while nothing can leave by itself, what is held of a line is joined by any store to it.
  void stays(bool stays) { stays_ = stays; }

  /// A line of a warp's store instruction, which writes `lines` of them, at most room(), at `now`. Returns what is held more. Calls
  /// leave(request, due) for what has to make room for it; the request's id is what it takes of the way.
  template <typename Leave>
  Added hold(std::uint16_t warp, const memory::Request& store, std::uint32_t lines, Cycle now,
             Leave&& leave) {
    std::uint32_t at = find(store.line);
    if (at < size_ && !joins_at(at, warp, now)) {
      leave_one(at, leave);
      at = size_;
    }
    const bool held = at < size_;
    if (!held) {
      if (size_ == lines_) leave_one(oldest(), leave);
      at = size_++;
      names_[at] = store.line;
    }
    const Cycle due = now + time_of(lines);
    marks_[at] = {due, now, ++order_, warp, true};
    due_ = std::min(due_, due);
    memory::Request& there = stores_[at];
    if (!held) {
      there = store;
      there.id = pieces_.of_store(there);
      return {memory::sector_count(store.sectors), there.id};
    }
    const auto added = static_cast<std::uint8_t>(store.sectors & ~there.sectors);
    there.sectors = static_cast<std::uint8_t>(there.sectors | store.sectors);
    for (std::size_t s = 0; s < there.bytes.size(); ++s) there.bytes[s] |= store.bytes[s];
    const std::uint32_t before = std::exchange(there.id, pieces_.of_store(there));
    return {memory::sector_count(added), there.id - before};
  }
  /// The instruction held its last line, at `now`: calls leave(request, due) for what the warp wrote before and it did not. While nothing
  /// can leave by itself it stays, and is due.
  template <typename Leave>
  void end_instruction(std::uint16_t warp, Cycle now, Leave&& leave) {
    for (std::uint32_t at = 0; at < size_;) {
      const bool goes = marks_[at].warp == warp && !marks_[at].fresh;
      if (goes && !stays_) {
        leave_one(at, leave);
        continue;
      }
      if (goes) due_ = std::min(due_, marks_[at].due = std::min(marks_[at].due, now));
      marks_[at++].fresh = false;
    }
  }
  /// Calls leave(request, when, due) for all that are due at `now`, by time, none before free(): when the way out is free again.
  template <typename Free, typename Leave>
  void leave_due(Cycle now, Free&& free, Leave&& leave) {
    if (due_ > now) return;
    while (size_ != 0) {
      const std::uint32_t at = next_due();
      due_ = marks_[at].due;
      const Cycle when = std::max(due_, free());
      if (when > now) return;
      leave_one(at, [&](const memory::Request& store, Cycle due) { leave(store, when, due); });
    }
    due_ = kNever;
  }
  /// Calls leave(request, due) for all that wait, by age.
  template <typename Leave>
  void leave_all(Leave&& leave) {
    while (size_ != 0) leave_one(oldest(), leave);
    due_ = kNever;
  }

 private:
  struct Mark {
    Cycle due = kNever, stored = 0;
    std::uint64_t order = 0;
    std::uint16_t warp = 0;
    bool fresh = false;  // written by the instruction at hand
  };
  std::uint32_t find(std::uint64_t line) const {
    std::uint32_t at = 0;
    while (at < size_ && names_[at] != line) ++at;
    return at;
  }
  bool joins_at(std::uint32_t at, std::uint16_t warp, Cycle now) const {
    return stays_ || marks_[at].warp == warp || now < marks_[at].stored + together_;
  }
  std::uint32_t oldest() const {
    return first_by([](const Mark& mark) { return mark.order; });
  }
  std::uint32_t next_due() const {
    return first_by([](const Mark& mark) { return std::pair(mark.due, mark.order); });
  }
  template <typename Key>
  std::uint32_t first_by(Key&& key) const {
    std::uint32_t first = 0;
    for (std::uint32_t at = 1; at < size_; ++at) {
      if (key(marks_[at]) < key(marks_[first])) first = at;
    }
    return first;
  }
  template <typename Leave>
  void leave_one(std::uint32_t at, Leave&& leave) {
    leave(stores_[at], marks_[at].due);
    if (--size_ == 0) due_ = kNever;
    stores_[at] = stores_[size_];
    marks_[at] = marks_[size_];
    names_[at] = names_[size_];
  }

  std::uint32_t lines_, size_ = 0;
  bool stays_ = false;
  Cycle cycles_, line_cycles_;
  Cycle together_;
  WayPieces pieces_;
  Cycle due_ = kNever;  // no later than the first of the lines' times
  std::uint64_t order_ = 0;
  std::array<std::uint64_t, kMostLines> names_{};
  std::array<Mark, kMostLines> marks_{};
  std::array<memory::Request, kMostLines> stores_;
};

}  // namespace foretrace::sm
