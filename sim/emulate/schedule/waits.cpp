#include "sim/emulate/schedule/waits.h"

#include <algorithm>

namespace foretrace::emulate {

void WriteHistory::begin(std::uint64_t word, std::uint32_t value) {
  Entries& entries = words_[word].entries;
  if (entries.empty()) entries.push_back({value, false, {}, {}});
}

void WriteHistory::add(std::uint64_t word, const std::uint32_t* values, std::uint32_t words, work::Signal by,
                       const work::Awaited& seen) {
  put(word, values, words, {0, true, {0, by, 0}, seen});
}

std::uint32_t WriteHistory::count(std::uint64_t word, const std::uint32_t* values, std::uint32_t words) {
  const std::uint32_t counted = ++words_[word].counted;
  put(word, values, words, {0, true, {counted, {}, word / 4}, {}});
  return counted;
}

void WriteHistory::put(std::uint64_t word, const std::uint32_t* values, std::uint32_t words, Entry entry) {
  bool changed = false;
  for (std::uint32_t i = 0; i < words; ++i)
    changed = changed || words_[word + 4 * i].entries.back().value != values[i];
  for (std::uint32_t i = 0; changed && i < words; ++i) {
    Entries& entries = words_[word + 4 * i].entries;
    if (entries.size() >= kLongest) {
      entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(kLongest / 2));
      entries.front().known = false;
    }
    entry.value = values[i];
    entries.push_back(entry);
  }
}

const WriteHistory::Entries* WriteHistory::of(std::uint64_t word) const {
  const auto found = words_.find(word);
  return found == words_.end() || found->second.entries.empty() ? nullptr : &found->second.entries;
}

}  // namespace foretrace::emulate
