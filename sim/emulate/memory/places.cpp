#include "sim/emulate/memory/places.h"

#include <algorithm>

namespace foretrace::emulate {

namespace {

constexpr std::uint64_t kFreeBehindSmall =
    64;  // bytes at least, behind allocations of less than one alignment

}  // namespace

std::uint64_t Places::end_of(std::uint64_t address, std::uint64_t size) {
  if (size < kAllocationAlignment) return round_up(address + size + kFreeBehindSmall, kAllocationAlignment);
  return round_up(address + size, kAllocationAlignment) + kAllocationAlignment;
}

std::optional<std::uint64_t> Places::take_pages(std::uint64_t size) {
  const std::uint64_t left = last_ - next_;
  if (size > left || size + 2 * kPlacementBytes > left) return std::nullopt;
  const std::uint64_t address = next_;
  next_ = round_up(end_of(address, size), kPlacementBytes);
  return address;
}

std::optional<std::uint64_t> Places::take(std::uint64_t size) {
  if (size > kPlacementBytes || end_of(0, size) > kPlacementBytes) return take_pages(size);
  const auto room = std::find_if(page_ends_.begin(), page_ends_.end(), [size](std::uint64_t begin) {
    // A full page's end is the next page's begin, where nothing of this page fits.
    return begin % kPlacementBytes != 0 && begin % kPlacementBytes + end_of(0, size) <= kPlacementBytes;
  });
  if (room != page_ends_.end()) {
    const std::uint64_t address = *room;
    *room = end_of(address, size);
    return address;
  }
  const std::optional<std::uint64_t> page = take_pages(size);
  if (page) page_ends_.push_back(end_of(*page, size));
  return page;
}

}  // namespace foretrace::emulate
