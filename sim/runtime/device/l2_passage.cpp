#include "sim/runtime/device/l2_passage.h"

#include <algorithm>

#include "sim/runtime/device/array.h"

namespace foretrace::runtime {

namespace {

/// Where a side of a copy is: an array's address stands for any box of it.
std::uint64_t address_of(const std::byte* memory, const Array* array) {
  return array == nullptr ? reinterpret_cast<std::uint64_t>(memory) : array->image.levels.front().address;
}

}  // namespace

void L2Passage::add(const FillCall& fill, const DeviceMemory& memory) {
  add(reinterpret_cast<std::uint64_t>(fill.to), fill.element * fill.width * fill.height * fill.depth, memory);
}

void L2Passage::add(const CopyCall& copy, const DeviceMemory& memory) {
  const std::uint64_t bytes = copy.width * copy.height * copy.depth;
  add(address_of(copy.from, copy.from_array), bytes, memory);
  add(address_of(copy.to, copy.to_array), bytes, memory);
}

void L2Passage::add(std::uint64_t address, std::uint64_t bytes, const DeviceMemory& memory) {
  const MemoryBlock* block = memory.find(reinterpret_cast<const void*>(address));
  if (block == nullptr || block->kind == MemoryKind::host || block->kind == MemoryKind::registered) return;
  Passed& passed = passed_[block->device];
  if (passed.sum >= l2_bytes_) return;  // it is known
  std::uint64_t& known = passed.bytes[address];
  passed.sum += std::max(known, bytes) - known;
  known = std::max(known, bytes);
}

bool L2Passage::take(int device) {
  const auto found = passed_.find(device);
  if (found == passed_.end()) return false;
  const bool all = found->second.sum >= l2_bytes_;
  passed_.erase(found);
  return all;
}

}  // namespace foretrace::runtime
