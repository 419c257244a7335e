#include "model/sm/l1_tags.h"

#include <algorithm>

namespace foretrace::sm {

L1Tags::L1Tags(std::uint64_t bytes, std::uint32_t ways)
    : ways_(ways), sets_(static_cast<std::uint32_t>(std::max<std::uint64_t>(1, bytes / kLineBytes / ways))) {
  entries_.resize(std::size_t{ways_} * sets_);
}

std::uint32_t L1Tags::set_of(std::uint64_t line) const {
  const std::uint64_t mixed = (line ^ (line >> 7) ^ (line >> 17)) & 0xffffffffu;
  return static_cast<std::uint32_t>(mixed % sets_);
}

L1Tags::Entry* L1Tags::find(std::uint64_t line) {
  Entry* set = &entries_[std::size_t{set_of(line)} * ways_];
  for (std::uint32_t way = 0; way < ways_; ++way) {
    if (set[way].line == line) {
      set[way].used = ++clock_;
      return &set[way];
    }
  }
  return nullptr;
}

L1Tags::Entry& L1Tags::allocate(std::uint64_t line) {
  Entry* set = &entries_[std::size_t{set_of(line)} * ways_];
  Entry* oldest = std::min_element(set, set + ways_, [](const Entry& a, const Entry& b) { return a.used < b.used; });
  *oldest = {line, ++clock_, -1, 0, 0, 0};
  return *oldest;
}

void L1Tags::invalidate() { std::fill(entries_.begin(), entries_.end(), Entry{}); }

}  // namespace foretrace::sm
