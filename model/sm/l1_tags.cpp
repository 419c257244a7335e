#include "model/sm/l1_tags.h"

#include <algorithm>

namespace foretrace::sm {

L1Tags::L1Tags(std::uint64_t bytes, std::uint32_t ways)
    : ways_(ways), sets_(static_cast<std::uint32_t>(std::max<std::uint64_t>(1, bytes / kLineBytes / ways))),
      share_of_set_(~std::uint64_t{0} / sets_ + 1) {
  entries_.resize(std::size_t{ways_} * sets_);
  marks_.resize(entries_.size(), mark_of(Entry{}.line));
  used_.resize(entries_.size());
  places_.resize(entries_.size());
}

L1Tags::Entry* L1Tags::find(std::uint64_t line) {
  const std::uint32_t first = set_of(line) * ways_, mark = mark_of(line);
  for (std::uint32_t at = first; at < first + ways_; ++at) {
    if (marks_[at] == mark && entries_[at].line == line) {
      used_[at] = ++clock_;
      return &entries_[at];
    }
  }
  return nullptr;
}

L1Tags::Entry& L1Tags::allocate(std::uint64_t line) {
  const auto set = used_.begin() + static_cast<std::ptrdiff_t>(std::size_t{set_of(line)} * ways_);
  const auto at = static_cast<std::size_t>(std::min_element(set, set + ways_) - used_.begin());
  if (used_[at] == 0) places_[at] = places_taken_++;
  used_[at] = ++clock_;
  marks_[at] = mark_of(line);
  if (!stored_.empty()) stored_[at] = {};
  return entries_[at] = {line, -1, 0, 0, 0};
}

std::uint8_t L1Tags::store(Entry& entry, std::uint8_t sectors,
                           const std::array<std::uint32_t, kSectorsPerLine>& bytes, bool joins, Cycle now,
                           Cycle flight) {
  if (stored_.empty()) stored_.resize(entries_.size());
  Stored& stored = stored_[position(entry)];
  const auto time = static_cast<std::uint32_t>(now) | 1u;
  std::uint8_t follows = 0;
  for (unsigned s = 0; s < kSectorsPerLine; ++s) {
    const auto sector = static_cast<std::uint8_t>(1u << s);
    if (!(sectors & sector)) continue;
    if (!joins && stored.last[s] != 0 && time - stored.last[s] < flight) {
      entry.valid = static_cast<std::uint8_t>(entry.valid & ~sector);
      stored.bytes[s] = 0;
      follows = static_cast<std::uint8_t>(follows | sector);
    }
    stored.last[s] = time;
    stored.bytes[s] |= bytes[s];
    if (stored.bytes[s] == ~0u) entry.valid = static_cast<std::uint8_t>(entry.valid | sector);
  }
  entry.written = static_cast<std::uint8_t>(entry.written | sectors);
  return follows;
}

void L1Tags::drop(Entry& entry, std::uint8_t sectors) {
  entry.valid = static_cast<std::uint8_t>(entry.valid & ~sectors);
  if (stored_.empty()) return;
  for (unsigned s = 0; s < kSectorsPerLine; ++s) {
    if (sectors >> s & 1) stored_[position(entry)].bytes[s] = 0;
  }
}

std::uint8_t L1Tags::covered(const Entry& entry, std::uint8_t sectors,
                             const std::array<std::uint32_t, kSectorsPerLine>& bytes) const {
  if (stored_.empty()) return 0;
  const Stored& stored = stored_[position(entry)];
  std::uint8_t found = 0;
  for (unsigned s = 0; s < kSectorsPerLine; ++s) {
    if ((sectors >> s & 1) && (bytes[s] & ~stored.bytes[s]) == 0)
      found = static_cast<std::uint8_t>(found | 1u << s);
  }
  return found;
}

void L1Tags::invalidate() {
  std::fill(entries_.begin(), entries_.end(), Entry{});
  std::fill(stored_.begin(), stored_.end(), Stored{});
  std::fill(marks_.begin(), marks_.end(), mark_of(Entry{}.line));
  std::fill(used_.begin(), used_.end(), 0u);
  places_taken_ = 0;
}

}  // namespace foretrace::sm
