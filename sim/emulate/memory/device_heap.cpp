#include "sim/emulate/memory/device_heap.h"

#include <algorithm>
#include <iterator>

#include "sim/emulate/memory/global_memory.h"

namespace foretrace::emulate {

namespace {
constexpr std::uint64_t kAlignment = 16;
}

bool DeviceHeap::set_limit(std::uint64_t bytes) {
  if (placed_ != 0) return bytes == limit_;
  limit_ = std::max(bytes, kAlignment);
  return true;
}

void DeviceHeap::place(GlobalMemory& memory) {
  if (placed_ != 0) return;
  base_ = memory.allocate(limit_, "device heap");
  placed_ = limit_;
  cursor_ = base_;
  free_[base_] = limit_ / kAlignment * kAlignment;
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  if (bytes > placed_) return 0;
  const std::uint64_t size = (std::max<std::uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const auto fits = [&](const auto& extent) { return extent.second >= size; };
  // From behind the last one to the end, then from the start.
  auto middle = free_.lower_bound(cursor_);
  if (middle != free_.begin()) {
    const auto around = std::prev(middle);
    const std::uint64_t end = around->first + around->second;
    if (around->first < cursor_ && end > cursor_ && end - cursor_ >= size) {
      around->second = cursor_ - around->first;
      middle = free_.emplace(cursor_, end - cursor_).first;
    }
  }
  auto place = std::find_if(middle, free_.end(), fits);
  if (place == free_.end()) {
    place = std::find_if(free_.begin(), middle, fits);
    if (place == middle) return 0;
  }
  const auto [address, available] = *place;
  free_.erase(place);
  if (available > size) free_[address + size] = available - size;
  cursor_ = address + size;
  used_[address] = {size, bytes};
  in_use_ += bytes;
  // What was freed here is forgotten.
  auto gone = freed_.upper_bound(address);
  if (gone != freed_.begin() && std::prev(gone)->first + std::prev(gone)->second > address) --gone;
  while (gone != freed_.end() && gone->first < address + size) gone = freed_.erase(gone);
  return address;
}

DeviceHeap::Released DeviceHeap::release(std::uint64_t address) {
  const auto found = used_.find(address);
  if (found == used_.end()) return freed_.contains(address) ? Released::twice : Released::unknown;
  const std::uint64_t size = found->second.size;
  freed_[address] = found->second.wanted;
  in_use_ -= found->second.wanted;
  used_.erase(found);
  auto next = free_.upper_bound(address);
  std::uint64_t start = address, end = address + size;
  if (next != free_.end() && next->first == end) {
    end += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      before->second = end - before->first;
      return Released::yes;
    }
  }
  free_[start] = end - start;
  return Released::yes;
}

bool DeviceHeap::usable(std::uint64_t address, std::uint64_t bytes) const {
  auto after = used_.upper_bound(address);
  if (after == used_.begin()) return false;
  const auto& [start, extent] = *std::prev(after);
  return address - start < extent.wanted && bytes <= extent.wanted - (address - start);
}

DeviceHeap::Block DeviceHeap::below(std::uint64_t address) const {
  Block best;
  if (const auto after = freed_.upper_bound(address); after != freed_.begin()) {
    const auto& [start, size] = *std::prev(after);
    best = {start, size, true};
  }
  if (const auto after = used_.upper_bound(address); after != used_.begin()) {
    const auto& [start, extent] = *std::prev(after);
    // Inside the freed block counts before nearness to one in use.
    if (best.size == 0 || (address - best.address >= best.size && start >= best.address)) {
      best = {start, extent.wanted, false};
    }
  }
  return best;
}

}  // namespace foretrace::emulate
