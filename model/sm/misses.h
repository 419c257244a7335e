// The loads of an SM that are on their way to L2, and who waits for them.
//
// Models:  so many lines and so many sectors at a time; a load whose sectors are on their way already waits with the others, in order of
//          age.
// Ignores: stores, whose number is bounded apart.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/support/large_pages.h"

namespace foretrace::sm {

class Misses {
 public:
  struct Miss {
    std::uint64_t line = 0;
    std::uint32_t entry = 0;                           ///< position in the tag array
    std::int32_t next = -1;                            ///< older one of the line
    std::int32_t first_waiter = -1, last_waiter = -1;  ///< operations that wait for it, by age
    std::uint8_t sectors = 0;
    bool tagged = false;  ///< an entry of the tag array knows of it
  };

  Misses(std::uint32_t most_lines, std::uint32_t most_sectors)
      : most_lines_(most_lines), most_sectors_(most_sectors) {}

  /// Whether a line's sectors may leave. With none under way there is room for any.
  bool room(std::uint32_t sectors) const {
    return lines_ < most_lines_ && (sectors_ == 0 || sectors_ + sectors <= most_sectors_);
  }
  /// The number of a new one.
  std::uint32_t take(std::uint64_t line, std::uint8_t sectors) {
    std::uint32_t id = static_cast<std::uint32_t>(misses_.size());
    if (free_.empty()) {
      misses_.emplace_back();
    } else {
      id = free_.back();
      free_.pop_back();
    }
    misses_[id] = {.line = line, .sectors = sectors};
    ++lines_;
    sectors_ += memory::sector_count(sectors);
    return id;
  }
  Miss& operator[](std::size_t id) { return misses_[id]; }
  const Miss& operator[](std::size_t id) const { return misses_[id]; }
  /// The operation waits for the data, last of those that do.
  void wait(std::uint32_t id, std::uint32_t operation) {
    std::int32_t waiter = free_waiter_;
    if (waiter < 0) {
      waiter = static_cast<std::int32_t>(waiters_.size());
      waiters_.emplace_back();
    } else {
      free_waiter_ = waiters_[static_cast<std::size_t>(waiter)].next;
    }
    waiters_[static_cast<std::size_t>(waiter)] = {operation, -1};
    Miss& miss = misses_[id];
    (miss.last_waiter < 0 ? miss.first_waiter : waiters_[static_cast<std::size_t>(miss.last_waiter)].next) =
        waiter;
    miss.last_waiter = waiter;
  }
  /// The first that waits for it will be looked at soon.
  [[gnu::always_inline]] void bring_waiter(const Miss& miss) const {
    if (miss.first_waiter >= 0) support::prefetch(&waiters_[static_cast<std::size_t>(miss.first_waiter)]);
  }
  /// Takes it out of its line's list, which begins at `first`. False: it is not there (the line was given to others meanwhile).
  bool unlink(std::int32_t& first, std::uint32_t id) {
    std::int32_t* link = &first;  // the list is short
    while (*link >= 0 && *link != static_cast<std::int32_t>(id))
      link = &misses_[static_cast<std::size_t>(*link)].next;
    if (*link < 0) return false;
    *link = misses_[id].next;
    return true;
  }
  /// Its data are there: go_on(operation) for each that waits, by age. Its number is free then.
  template <typename GoOn>
  void end(std::uint32_t id, GoOn&& go_on) {
    const Miss& miss = misses_[id];
    --lines_;
    sectors_ -= memory::sector_count(miss.sectors);
    for (std::int32_t at = miss.first_waiter; at >= 0;) {
      Waiter& waiter = waiters_[static_cast<std::size_t>(at)];
      go_on(waiter.operation);
      const std::int32_t following = waiter.next;
      waiter.next = free_waiter_;
      free_waiter_ = at;
      at = following;
    }
    free_.push_back(id);
  }

 private:
  struct Waiter {
    std::uint32_t operation = 0;
    std::int32_t next = -1;  // of the same miss, or free
  };
  const std::uint32_t most_lines_, most_sectors_;
  std::uint32_t lines_ = 0, sectors_ = 0;
  std::vector<Miss> misses_;
  std::vector<std::uint32_t> free_;
  std::vector<Waiter> waiters_;
  std::int32_t free_waiter_ = -1;
};

}  // namespace foretrace::sm
