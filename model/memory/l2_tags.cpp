#include "model/memory/l2_tags.h"

#include <algorithm>

namespace foretrace::memory {
namespace {
constexpr std::size_t kSlack =
    64;  // places of a queue of dirty lines beyond three per line: then it is tidied
constexpr std::size_t kAhead = 8;  // places whose turns are asked for before they are looked at
}  // namespace

L2Tags::L2Tags(std::uint32_t slices, std::uint32_t sets, std::uint32_t ways)
    : sets_(sets), ways_(ways), log2_ways_(static_cast<std::uint32_t>(std::countr_zero(ways))),
      power_of_two_(std::has_single_bit(ways)), tags_(std::size_t{slices} * sets * ways, kEmpty),
      lines_(tags_.size()), slots_(tags_.size()), clock_(std::size_t{slices} * sets), random_(slices),
      queues_(slices), most_filled_(clock_.size() / 4) {
  invalidate_all();
}

/// After a small launch only what it touched is made invalid.
void L2Tags::invalidate_all() {
  if (filled_.size() < most_filled_) {
    for (const std::uint32_t set : filled_) invalidate(set);
  } else {
    for (std::uint32_t set = 0; set < clock_.size(); ++set) invalidate(set);
  }
  filled_.clear();
  for (DirtyQueue& queue : queues_) {
    queue.places.clear();
    queue.first = queue.turn = queue.lines = 0;
  }
  for (std::size_t slice = 0; slice < random_.size(); ++slice) {
    random_[slice] = static_cast<std::uint32_t>(slice) * 2654435761u + 1u;
  }
}

void L2Tags::invalidate(std::uint32_t set) {
  const auto first = static_cast<std::ptrdiff_t>(std::size_t{set} * ways_);
  std::fill_n(tags_.begin() + first, ways_, kEmpty);
  std::fill_n(lines_.begin() + first, ways_, Line{});
  std::fill_n(slots_.begin() + first, ways_, Slot{});
  clock_[set] = 0;
}

std::uint32_t L2Tags::victim(std::uint32_t set, bool dirty_too, bool copy) {
  const std::uint32_t first = set * ways_;
  if (copy) {
    std::uint32_t pending = 0;
    for (std::uint32_t slot = first; slot < first + ways_; ++slot) pending += lines_[slot].pending != 0;
    if (pending + 1 >= ways_) return kNone;
  }
  for (std::uint32_t slot = first; slot < first + ways_; ++slot) {
    if (tags_[slot] == kEmpty) return slot;
  }
  std::uint32_t& random = random_[set / sets_];
  random = random * 1664525u + 1013904223u;
  const std::uint32_t start = static_cast<std::uint32_t>((std::uint64_t{random} * ways_) >> 32);
  const std::uint32_t half = std::max(1u, ways_ / 2);
  const std::uint16_t now = clock_[set];
  std::uint32_t best = kNone, best_age = 0;
  for (std::uint32_t i = 0; i < ways_; ++i) {
    if (i >= half && best != kNone) break;  // the other half only if this one can give nothing
    const std::uint32_t slot = first + (start + i < ways_ ? start + i : start + i - ways_);
    const Line& line = lines_[slot];
    if (line.pending || (line.dirty && !dirty_too)) continue;
    const std::uint32_t age = static_cast<std::uint16_t>(now - line.stamp);
    if (best == kNone || age > best_age) {
      best = slot;
      best_age = age;
    }
  }
  return best;
}

void L2Tags::install(std::uint32_t slot, std::uint32_t tag) {
  if (filled_.size() < most_filled_) filled_.push_back(set_of(slot));
  tags_[slot] = tag;
  lines_[slot] = Line{};
  touch(slot);
}

void L2Tags::drop(std::uint32_t slot, std::uint8_t sectors) {
  Line& line = lines_[slot];
  line.valid = line.valid & ~sectors & kWholeLine;
  if (line.valid == 0 && line.pending == 0 && line.dirty == 0) tags_[slot] = kEmpty;
}

L2Tags::Partly L2Tags::partly(std::uint32_t set) const {
  Partly result;
  std::uint32_t age = 0;
  const std::uint32_t first = set * ways_;
  for (std::uint32_t slot = first; slot < first + ways_; ++slot) {
    if (lines_[slot].partly() == 0) continue;
    ++result.count;
    const std::uint32_t own = static_cast<std::uint16_t>(clock_[set] - lines_[slot].stamp);
    if (result.oldest == kNone || own > age) {
      result.oldest = slot;
      age = own;
    }
  }
  return result;
}

void L2Tags::put_newest_dirty(std::uint32_t slot) {
  DirtyQueue& queue = queues_[set_of(slot) / sets_];
  if (queue.turn != 0 && slots_[slot].turn == queue.turn) return;
  if (queue.places.size() > 3 * std::size_t{queue.lines} + kSlack || queue.turn == kEmpty) tidy(queue);
  if (!lines_[slot].listed) {
    lines_[slot].listed = true;
    ++queue.lines;
  }
  slots_[slot].turn = ++queue.turn;
  queue.places.push_back({slot, queue.turn});
}

void L2Tags::remove_dirty(std::uint32_t slot) {
  --queues_[set_of(slot) / sets_].lines;
  lines_[slot].listed = false;
  slots_[slot].turn = 0;
}

std::uint32_t L2Tags::oldest_dirty(std::uint32_t slice) {
  DirtyQueue& queue = queues_[slice];
  while (slots_[queue.places[queue.first].slot].turn != queue.places[queue.first].turn) {
    ++queue.first;
    support::prefetch(
        &slots_[queue.places[std::min(queue.first + kAhead, queue.places.size() - 1)].slot].turn);
  }
  return queue.places[queue.first].slot;
}

/// Leaves only the places that stand for a line, and numbers their turns from 1.
void L2Tags::tidy(DirtyQueue& queue) {
  queue.turn = 0;
  std::size_t kept = 0;
  for (std::size_t i = queue.first; i < queue.places.size(); ++i) {
    const std::uint32_t slot = queue.places[i].slot;
    if (slots_[slot].turn != queue.places[i].turn) continue;
    slots_[slot].turn = ++queue.turn;
    queue.places[kept++] = {slot, queue.turn};
  }
  queue.places.resize(kept);
  queue.first = 0;
}

}  // namespace foretrace::memory
