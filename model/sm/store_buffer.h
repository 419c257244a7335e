// Where stores wait in an SM for others to the same lines.
//
// Models:  the lines that the SM's warps stored to last, up to a number of them. A store to a line that its warp's last one wrote, or
//          another warp's a few cycles before, joins what is there and leaves with it as one packet. A line leaves when its warp's next store instruction does not write it, when the room is needed (the
//          line that was written longest ago), and some cycles after the last store to it. An instruction that writes more lines than are
//          held leaves at once.
// Ignores: that a line waits less where the clock is read between the stores (H100, store_order).
// Source:  our store_window, record_stores and store_order on H100: parts of 16 bytes that a warp stores one after the other come to L2 as
//          one packet per line, also with loads between them; none do where stores of the thread to other lines lie between; 32 warps
//          that each write records of four words, 30 cycles of other work between the words, do; four warps of 28 lines do, of 32 none.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/memory/memory_system.h"
#include "model/units/error.h"
#include "model/units/units.h"

namespace foretrace::sm {

class StoreBuffer {
 public:
  static constexpr std::uint32_t kMostLines = 32;

  /// Holds up to `lines` (at most kMostLines), each for `cycles` after the last store to it. Stores of different warps to a line merge
  /// where they are less than `together` cycles apart.
  StoreBuffer(std::uint32_t lines, Cycle cycles, Cycle together)
      : lines_(lines), cycles_(cycles), together_(together) {
    FORETRACE_ASSERT(lines <= kMostLines, "a store buffer holds at most 32 lines");
  }

  std::uint32_t room() const { return lines_; }
  /// When something next leaves by itself, kNever if nothing waits.
  Cycle due() const { return due_; }
  /// Whether a warp's store at `now` joins what is held of the line.
  bool joins(std::uint64_t line, std::uint16_t warp, Cycle now) const {
    const std::uint32_t at = find(line);
    return at < size_ && joins_at(at, warp, now);
  }

  /// A line of a warp's store instruction, which writes at most room() lines, at `now`. Returns how many sectors more are held. Calls
  /// leave(request) for what has to make room for it.
  template <typename Leave>
  std::uint32_t hold(std::uint16_t warp, const memory::Request& store, Cycle now, Leave&& leave) {
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
    marks_[at] = {now + cycles_, ++order_, warp, true};
    due_ = std::min(due_, now + cycles_);
    memory::Request& there = stores_[at];
    if (!held) {
      there = store;
      return memory::sector_count(store.sectors);
    }
    const auto added = static_cast<std::uint8_t>(store.sectors & ~there.sectors);
    there.sectors = static_cast<std::uint8_t>(there.sectors | store.sectors);
    for (std::size_t s = 0; s < there.bytes.size(); ++s) there.bytes[s] |= store.bytes[s];
    return memory::sector_count(added);
  }
  /// The instruction held its last line: calls leave(request) for what the warp wrote before and it did not.
  template <typename Leave>
  void end_instruction(std::uint16_t warp, Leave&& leave) {
    for (std::uint32_t at = 0; at < size_;) {
      if (marks_[at].warp == warp && !marks_[at].fresh) {
        leave_one(at, leave);
      } else {
        marks_[at++].fresh = false;
      }
    }
  }
  /// Calls leave(request, due) for all that are due at `now`, by time.
  template <typename Leave>
  void leave_due(Cycle now, Leave&& leave) {
    if (due_ > now) return;
    while (size_ != 0) {
      const std::uint32_t at = oldest();
      const Cycle due = marks_[at].due;
      due_ = due;
      if (due > now) return;
      leave_one(at, [&](const memory::Request& store) { leave(store, due); });
    }
    due_ = kNever;
  }
  /// Calls leave(request) for all that wait, by age.
  template <typename Leave>
  void leave_all(Leave&& leave) {
    while (size_ != 0) leave_one(oldest(), leave);
    due_ = kNever;
  }

 private:
  struct Mark {
    Cycle due = kNever;
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
    return marks_[at].warp == warp || now < marks_[at].due - cycles_ + together_;
  }
  std::uint32_t oldest() const {
    std::uint32_t first = 0;
    for (std::uint32_t at = 1; at < size_; ++at) {
      if (marks_[at].order < marks_[first].order) first = at;
    }
    return first;
  }
  template <typename Leave>
  void leave_one(std::uint32_t at, Leave&& leave) {
    leave(stores_[at]);
    if (--size_ == 0) due_ = kNever;
    stores_[at] = stores_[size_];
    marks_[at] = marks_[size_];
    names_[at] = names_[size_];
  }

  std::uint32_t lines_, size_ = 0;
  Cycle cycles_;
  Cycle together_;
  Cycle due_ = kNever;  // no later than the first of the lines' times
  std::uint64_t order_ = 0;
  std::array<std::uint64_t, kMostLines> names_{};
  std::array<Mark, kMostLines> marks_{};
  std::array<memory::Request, kMostLines> stores_;
};

}  // namespace foretrace::sm
