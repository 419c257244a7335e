#include "model/sm/l1_tags.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "model/work/address_space.h"

namespace foretrace::sm {

L1Tags::L1Tags(std::uint64_t bytes, const spec::L1Spec& spec)
    : set_bits_(static_cast<std::uint32_t>(std::countr_zero(spec.sets))), widest_fold_(set_bits_),
      stretch_(spec.replacement_stretch), ages_(0, 0) {
  const auto all = static_cast<std::uint32_t>(bytes / kLineBytes);
  const std::uint32_t lines = all > spec.lines_kept_back ? all - spec.lines_kept_back : 0;
  lines_per_set_ = std::max(1u, lines / spec.sets);
  const double again = spec.used_again_share * lines - spec.lines_used_once;
  again_per_set_ = std::min(lines_per_set_ - 1, static_cast<std::uint32_t>(std::max(0.0, again) / spec.sets));
  while (set_bits_ != 0 && widest_fold_ * 2 < 64) widest_fold_ *= 2;
  entries_.resize(std::size_t{lines_per_set_} * spec.sets);
  places_.resize(entries_.size());
  sets_.resize(spec.sets);
  ages_ = LineAges(static_cast<std::uint32_t>(entries_.size()), kLists * spec.sets);
  slots_.resize(std::bit_ceil(entries_.size() * 2));
  slot_mask_ = static_cast<std::uint32_t>(slots_.size() - 1);
  slot_shift_ = 64 - static_cast<std::uint32_t>(std::countr_zero(slots_.size()));
}

void L1Tags::use(const Entry& entry) {
  used_ = true;
  const std::uint32_t at = position(entry), s = at / lines_per_set_, again = kLists * s + 1;
  const std::uint32_t now = stretch(sets_[s]);
  const bool was_again = ages_.list_of(at) == again;
  if (was_again && ages_.stretch_of(at) == now) return;
  ages_.remove(at);
  ages_.add(again, at, now);
  if (was_again || ages_.count(again) <= again_per_set_) return;
  any_ = any_ * 1664525u + 1013904223u;
  const std::uint32_t back = ages_.oldest(again, any_ >> 8);
  const std::uint32_t age = ages_.stretch_of(back);
  ages_.remove(back);
  ages_.add(kLists * s, back, age);
}

std::uint32_t L1Tags::victim(std::uint32_t s) {
  const std::uint32_t list = kLists * s;
  any_ = any_ * 1664525u + 1013904223u;  // the multiplier and increment of Numerical Recipes' quick generator
  return ages_.oldest(ages_.count(list) != 0 ? list : list + 1, any_ >> 8);
}

L1Tags::Entry& L1Tags::allocate(std::uint64_t line) {
  used_ = true;
  const std::uint32_t s = set_of(line);
  Set& set = sets_[s];
  std::uint32_t at = s * lines_per_set_ + set.taken;
  if (set.taken < lines_per_set_) {
    ++set.taken;
    places_[at] = places_taken_++;
  } else {
    at = victim(s);
    leave(entries_[at].line);
    ages_.remove(at);
  }
  ages_.add(kLists * s, at, stretch(set));
  enter(line, at);
  if (!stored_.empty()) stored_[at] = {};
  return entries_[at] = {.line = line};
}

void L1Tags::enter(std::uint64_t line, std::uint32_t entry) {
  std::uint32_t slot = slot_of(line);
  while (slots_[slot].entry != kEmpty) slot = (slot + 1) & slot_mask_;
  slots_[slot] = {mark_of(line), entry};
}

void L1Tags::leave(std::uint64_t line) {
  std::uint32_t hole = slot_of(line);
  while (entries_[slots_[hole].entry].line != line) hole = (hole + 1) & slot_mask_;
  // Those behind it that are not found across a hole move up into it.
  for (std::uint32_t slot = (hole + 1) & slot_mask_; slots_[slot].entry != kEmpty;
       slot = (slot + 1) & slot_mask_) {
    const std::uint32_t wanted = slot_of(entries_[slots_[slot].entry].line);
    if (((slot - wanted) & slot_mask_) >= ((slot - hole) & slot_mask_)) {
      slots_[hole] = slots_[slot];
      hole = slot;
    }
  }
  slots_[hole] = {};
}

std::uint8_t L1Tags::store(Entry& entry, std::uint8_t sectors,
                           const std::array<std::uint32_t, kSectorsPerLine>& bytes, bool joins, bool held,
                           Cycle now) {
  if (stored_.empty()) stored_.resize(entries_.size());
  Stored& stored = stored_[position(entry)];
  const auto time = static_cast<std::uint32_t>(now);
  std::uint8_t follows = 0;
  for (unsigned s = 0; s < kSectorsPerLine; ++s) {
    const auto sector = static_cast<std::uint8_t>(1u << s);
    if (!(sectors & sector)) continue;
    const bool on_its_way = (stored.held & sector) != 0 ||
                            (stored.out[s] != 0 && static_cast<std::int32_t>(stored.out[s] - time) > 0);
    if (!joins && on_its_way) {
      follows = static_cast<std::uint8_t>(follows | sector);
      entry.valid = static_cast<std::uint8_t>(entry.valid & ~sector);
      stored.bytes[s] = 0;
    }
    stored.bytes[s] |= bytes[s];
    if (stored.bytes[s] == ~0u) entry.valid = static_cast<std::uint8_t>(entry.valid | sector);
  }
  if (held) stored.held = static_cast<std::uint8_t>(stored.held | sectors);
  entry.written = static_cast<std::uint8_t>(entry.written | sectors);
  return follows;
}

void L1Tags::left(std::uint64_t line, std::uint8_t sectors, Cycle out) {
  const Entry* const entry = stored_.empty() ? nullptr : find(line);
  if (!entry) return;
  Stored& stored = stored_[position(*entry)];
  stored.held = static_cast<std::uint8_t>(stored.held & ~sectors);
  for (unsigned s = 0; s < kSectorsPerLine; ++s) {
    if (sectors >> s & 1) stored.out[s] = static_cast<std::uint32_t>(out) | 1u;
  }
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
  if (!std::exchange(used_, false)) return;  // as a spin loop does it, each time around
  for (Entry& entry : entries_) {
    if (entry.valid != 0 && !entry.by_texture && !work::is_local(entry.line * kLineBytes))
      drop(entry, (1u << kSectorsPerLine) - 1);
  }
}

}  // namespace foretrace::sm
