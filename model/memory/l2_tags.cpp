#include "model/memory/l2_tags.h"

#include <algorithm>

namespace foretrace::memory {

L2Tags::L2Tags(std::uint32_t slices, std::uint32_t sets, std::uint32_t ways)
    : sets_(sets), ways_(ways), tags_(std::size_t{slices} * sets * ways, kEmpty), lines_(tags_.size()), bytes_(tags_.size()),
      clock_(slices), random_(slices), dirty_(slices) {
  invalidate_all();
}

void L2Tags::invalidate_all() {
  std::fill(tags_.begin(), tags_.end(), kEmpty);
  std::fill(lines_.begin(), lines_.end(), Line{});
  std::fill(clock_.begin(), clock_.end(), 0u);
  std::fill(dirty_.begin(), dirty_.end(), DirtyList{});
  for (std::size_t slice = 0; slice < random_.size(); ++slice) {
    random_[slice] = static_cast<std::uint32_t>(slice) * 2654435761u + 1u;
  }
}

std::uint32_t L2Tags::victim(std::uint32_t slice, std::uint32_t set, bool dirty_too, bool copy) {
  const std::uint32_t first = (slice * sets_ + set) * ways_;
  if (copy) {
    std::uint32_t pending = 0;
    for (std::uint32_t slot = first; slot < first + ways_; ++slot) pending += lines_[slot].pending != 0;
    if (pending + 1 >= ways_) return kNone;
  }
  for (std::uint32_t slot = first; slot < first + ways_; ++slot) {
    if (tags_[slot] == kEmpty) return slot;
  }
  random_[slice] = random_[slice] * 1664525u + 1013904223u;
  const std::uint32_t start = static_cast<std::uint32_t>((std::uint64_t{random_[slice]} * ways_) >> 32);
  const std::uint32_t half = std::max(1u, ways_ / 2);
  const std::uint32_t now = clock_[slice];
  std::uint32_t best = kNone, best_age = 0;
  for (std::uint32_t i = 0; i < ways_; ++i) {
    if (i >= half && best != kNone) break;  // the other half only if this one can give nothing
    const std::uint32_t way = start + i < ways_ ? start + i : start + i - ways_;
    const Line& line = lines_[first + way];
    if (line.pending || (line.dirty && !dirty_too)) continue;
    const std::uint32_t age = now - line.stamp;
    if (best == kNone || age > best_age) {
      best = first + way;
      best_age = age;
    }
  }
  return best;
}

void L2Tags::install(std::uint32_t slice, std::uint32_t slot, std::uint64_t line) {
  if (lines_[slot].listed) unlist_dirty(slice, slot);
  tags_[slot] = line;
  lines_[slot] = Line{};
  touch(slice, slot);
}

void L2Tags::drop(std::uint32_t slot, std::uint8_t sectors) {
  Line& line = lines_[slot];
  line.valid = static_cast<std::uint8_t>(line.valid & ~sectors);
  if (line.valid == 0 && line.pending == 0 && line.dirty == 0) tags_[slot] = kEmpty;
}

void L2Tags::list_dirty(std::uint32_t slice, std::uint32_t slot) {
  DirtyList& list = dirty_[slice];
  if (list.newest == slot) return;
  if (lines_[slot].listed) unlist_dirty(slice, slot);
  Line& line = lines_[slot];
  line.listed = 1;
  line.older = list.newest;
  line.newer = kNone;
  (list.newest == kNone ? list.oldest : lines_[list.newest].newer) = slot;
  list.newest = slot;
  ++list.count;
}

void L2Tags::unlist_dirty(std::uint32_t slice, std::uint32_t slot) {
  DirtyList& list = dirty_[slice];
  Line& line = lines_[slot];
  (line.older == kNone ? list.oldest : lines_[line.older].newer) = line.newer;
  (line.newer == kNone ? list.newest : lines_[line.newer].older) = line.older;
  line.older = line.newer = kNone;
  line.listed = 0;
  --list.count;
}

}  // namespace foretrace::memory
