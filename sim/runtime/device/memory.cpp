#include "sim/runtime/device/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/runtime/device/context.h"

namespace foretrace::runtime {

namespace {

const char* name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device: return "device memory";
    case MemoryKind::host: return "pinned host memory";
    case MemoryKind::registered: return "registered host memory";
    case MemoryKind::managed: return "managed memory";
    case MemoryKind::variable: return "device variables";
    case MemoryKind::mapped: return "mapped memory";
    case MemoryKind::graph: return "graph memory";
  }
  return "memory";
}

bool on_device(MemoryKind kind) { return kind == MemoryKind::device || kind == MemoryKind::managed; }

/// Allocations take whole granules of the device: what cudaMemGetInfo shows.
constexpr std::uint64_t kGranule = emulate::kPlacementBytes;
std::uint64_t granules(std::uint64_t size) { return (size + kGranule - 1) / kGranule * kGranule; }
/// A small block's part of the granule that it shares.
std::uint64_t part(std::uint64_t size) {
  constexpr std::uint64_t kAlignment = emulate::kAllocationAlignment;
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

/// Zeroes, and the host gets the whole pages back.
void clear(std::uint64_t address, std::uint64_t size) {
  constexpr std::uint64_t kPage = 4096;  // the host's
  const std::uint64_t end = address + size, first = std::min(end, (address + kPage - 1) / kPage * kPage);
  const std::uint64_t last = std::max(first, end / kPage * kPage);
  const auto zero = [](std::uint64_t from, std::uint64_t to) {
    std::memset(reinterpret_cast<void*>(from), 0, to - from);
  };
  zero(address, first);
  if (first != last && madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED) != 0)
    zero(first, last);
  zero(last, end);
}

/// The block that holds the address; null: none.
const MemoryBlock* block_at(const std::map<std::uint64_t, MemoryBlock>& blocks, const void* pointer) {
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(pointer);
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin()) return nullptr;
  const MemoryBlock& block = (--next)->second;
  // An empty allocation still has an address of its own.
  return address - block.address < (block.size == 0 ? 1 : block.size) ? &block : nullptr;
}

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t capacity, int devices)
    : capacity_(capacity), used_(static_cast<std::size_t>(devices)) {}

void* DeviceMemory::allocate(std::uint64_t size, MemoryKind kind, unsigned flags) {
  if (on_device(kind)) {
    if (granules(size) < size || !take_block(size)) return nullptr;
  } else if (size > emulate::kHostArenaBytes / 4) {
    return nullptr;
  }
  const std::uint64_t id = next_id_++;
  const std::uint64_t address = global_.allocate(size, fmt::format("{} {}", name_of(kind), id));
  blocks_[address] = {address, size, kind, flags, id, current_device()};
  if (kind != MemoryKind::device) mark_written(reinterpret_cast<void*>(address), size);
  return reinterpret_cast<void*>(address);
}

void DeviceMemory::track_writes() {
  tracks_ = true;
  global_.written().track();
}

void DeviceMemory::mark_written(const void* pointer, std::uint64_t size) {
  if (tracks_ && holds(pointer, size)) global_.written().mark(reinterpret_cast<std::uint64_t>(pointer), size);
}

bool DeviceMemory::release(void* pointer, MemoryKind kind) {
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == blocks_.end()) return false;
  const MemoryBlock& block = found->second;
  if (block.kind != kind && !(on_device(block.kind) && on_device(kind))) return false;
  if (on_device(block.kind)) give_back_block(block.size, block.device);
  if (block.kind == MemoryKind::registered) {
    global_.forget(block.address);
  } else {
    global_.free(block.address);
  }
  blocks_.erase(found);
  return true;
}

bool DeviceMemory::register_host(void* pointer, std::uint64_t size, unsigned flags) {
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(pointer), id = next_id_++;
  if (!global_.adopt(address, size, fmt::format("{} {}", name_of(MemoryKind::registered), id))) return false;
  blocks_[address] = {address, size, MemoryKind::registered, flags, id, current_device()};
  mark_written(pointer, size);
  return true;
}

void DeviceMemory::add_range(std::uint64_t address, std::uint64_t size) {
  const std::uint64_t id = next_id_++;
  const bool fresh = global_.adopt(address, size, fmt::format("{} {}", name_of(MemoryKind::mapped), id));
  FORETRACE_ASSERT(fresh, "reserved addresses hold nothing else");
  blocks_[address] = {address, size, MemoryKind::mapped, 0, id, current_device()};
  mark_written(reinterpret_cast<void*>(address), size);
}

void DeviceMemory::remove_range(std::uint64_t address) {
  global_.forget(address);
  blocks_.erase(address);
}

std::uint64_t DeviceMemory::reserve(std::uint64_t size, int device) {
  const std::uint64_t id = next_id_++;
  const std::uint64_t address = global_.allocate(size, name_of(MemoryKind::graph));
  reserved_[address] = {address, size, MemoryKind::graph, 0, id, device};
  global_.written().remove(address);
  global_.forget(address);
  return address;
}

void DeviceMemory::place(std::uint64_t address) {
  const MemoryBlock& block = reserved_.at(address);
  const bool fresh = global_.adopt(address, block.size, fmt::format("{} {}", name_of(block.kind), block.id));
  FORETRACE_ASSERT(fresh, "reserved addresses hold nothing else");
  global_.written().add(address, block.size);
  blocks_[address] = block;
}

void DeviceMemory::displace(std::uint64_t address) {
  clear(address, reserved_.at(address).size);
  global_.written().remove(address);
  global_.forget(address);
  blocks_.erase(address);
}

void DeviceMemory::give_up(std::uint64_t address) {
  place(address);
  blocks_.erase(address);
  reserved_.erase(address);
  global_.free(address);  // others may have the addresses in time
}

std::uint64_t DeviceMemory::Use::bytes() const { return whole + granules(small); }

bool DeviceMemory::take(std::uint64_t size, int device) {
  Use& use = used_[static_cast<std::size_t>(device)];
  if (size > capacity_ - use.bytes()) return false;
  use.whole += size;
  return true;
}

void DeviceMemory::give_back(std::uint64_t size, int device) {
  used_[static_cast<std::size_t>(device)].whole -= size;
}

bool DeviceMemory::take_block(std::uint64_t size) {
  if (size >= kGranule) return take(granules(size), current_device());
  Use& use = used_[static_cast<std::size_t>(current_device())];
  use.small += part(size);
  if (use.bytes() <= capacity_) return true;
  use.small -= part(size);
  return false;
}

void DeviceMemory::give_back_block(std::uint64_t size, int device) {
  Use& use = used_[static_cast<std::size_t>(device)];
  if (size >= kGranule) {
    use.whole -= granules(size);
  } else {
    use.small -= part(size);
  }
}

std::uint64_t DeviceMemory::used() const { return used(current_device()); }

void DeviceMemory::release_all() {
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const auto [address, what] = *block++;
    if (what.device == current_device() && what.kind != MemoryKind::variable &&
        what.kind != MemoryKind::mapped && what.kind != MemoryKind::graph)
      release(reinterpret_cast<void*>(address), what.kind);
  }
}

const MemoryBlock* DeviceMemory::find(const void* pointer) const { return block_at(blocks_, pointer); }

const MemoryBlock* DeviceMemory::known(const void* pointer) const {
  const MemoryBlock* block = find(pointer);
  return block != nullptr ? block : block_at(reserved_, pointer);
}

bool DeviceMemory::holds(const void* pointer, std::uint64_t size) const {
  const MemoryBlock* block = find(pointer);
  return block != nullptr &&
         size <= block->size - (reinterpret_cast<std::uint64_t>(pointer) - block->address);
}

}  // namespace foretrace::runtime
