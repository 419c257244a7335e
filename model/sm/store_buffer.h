// Where stores wait in an SM for the next ones to the same lines.
//
// Models:  what the last store instruction of each sub-core wrote, line by line. What its next one writes to the same lines joins
//          it and leaves as one packet; lines that the next one does not write leave when it comes, all leave a while after the last.
//          An instruction that writes more lines than are held leaves at once.
// Ignores: that stores of different sub-cores to a line meet where they come within a few cycles.
// Source:  our store_window on H100: parts of 16 bytes that a warp stores one after the other come to L2 as one packet a line, also
//          with loads between them, up to 16 lines; none do where stores to other lines lie between, where they go to 32 lines, or
//          where some 90 cycles do (store_parts).
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

  /// Holds up to `lines` (at most kMostLines) a sub-core, for `cycles` after the last store.
  StoreBuffer(std::uint32_t lines, Cycle cycles) : lines_(lines), cycles_(cycles) {
    FORETRACE_ASSERT(lines <= kMostLines, "a store buffer holds at most 32 lines a sub-core");
  }

  std::uint32_t room() const { return lines_; }
  /// When something next leaves by itself, kNever if nothing waits.
  Cycle due() const { return due_; }

  /// A line of a store instruction that writes at most room() lines. Returns how many sectors more are held.
  std::uint32_t hold(int sub_core, const memory::Request& store) {
    Held& held = held_[static_cast<std::size_t>(sub_core)];
    std::uint32_t at = 0;
    while (at < held.size && held.stores[at].line != store.line) ++at;
    memory::Request& there = held.stores[at];
    held.fresh |= std::uint64_t{1} << at;
    if (at == held.size) {
      there = store;
      ++held.size;
      return memory::sector_count(store.sectors);
    }
    const auto added = static_cast<std::uint8_t>(store.sectors & ~there.sectors);
    there.sectors = static_cast<std::uint8_t>(there.sectors | store.sectors);
    for (std::size_t s = 0; s < there.bytes.size(); ++s) there.bytes[s] |= store.bytes[s];
    return memory::sector_count(added);
  }
  /// The instruction held its last line: calls leave(request) for what an earlier one wrote and it did not.
  template <typename Leave>
  void end_instruction(int sub_core, Cycle now, Leave&& leave) {
    Held& held = held_[static_cast<std::size_t>(sub_core)];
    std::uint32_t kept = 0;
    for (std::uint32_t at = 0; at < held.size; ++at) {
      if (!(held.fresh >> at & 1)) {
        leave(held.stores[at]);
      } else if (kept++ != at) {
        held.stores[kept - 1] = held.stores[at];
      }
    }
    held.size = kept;
    held.fresh = 0;
    held.due = now + cycles_;
    find_due();
  }
  /// Calls leave(request, due) for all that are due at `now`, by time.
  template <typename Leave>
  void leave_due(Cycle now, Leave&& leave) {
    while (due_ <= now) {
      const auto first = std::min_element(held_.begin(), held_.end(),
                                          [](const Held& a, const Held& b) { return a.due < b.due; });
      empty(*first, [&](const memory::Request& store) { leave(store, first->due); });
    }
  }
  /// Calls leave(request) for all that a sub-core's stores left here.
  template <typename Leave>
  void leave_all(int sub_core, Leave&& leave) {
    empty(held_[static_cast<std::size_t>(sub_core)], leave);
  }

 private:
  struct Held {
    std::array<memory::Request, 2 * kMostLines> stores;  // of an instruction and of the one before it
    std::uint32_t size = 0;
    std::uint64_t fresh = 0;  // bit i: stores[i] was written by the instruction at hand
    Cycle due = kNever;
  };
  template <typename Leave>
  void empty(Held& held, Leave&& leave) {
    for (std::uint32_t at = 0; at < held.size; ++at) leave(held.stores[at]);
    held.size = 0;
    held.due = kNever;
    find_due();
  }
  void find_due() {
    due_ = kNever;
    for (const Held& held : held_) due_ = std::min(due_, held.due);
  }

  std::uint32_t lines_;
  Cycle cycles_;
  Cycle due_ = kNever;
  std::array<Held, kSubCores> held_{};
};

}  // namespace foretrace::sm
