#include "sim/emulate/global_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::emulate {

namespace {

constexpr std::uint64_t kLargest = std::uint64_t{1} << 40;
constexpr std::uint64_t kOwnPages = 1024 * 1024;  // allocations of this size and more start on a page

std::uint64_t round_up(std::uint64_t x, std::uint64_t to) { return (x + to - 1) / to * to; }

}  // namespace

GlobalMemory::~GlobalMemory() {
  for (std::uint64_t i = 0; i < page_count_; ++i) std::free(pages_[i].load());
}

std::uint64_t GlobalMemory::allocate(std::uint64_t size, std::string name, Fill fill) {
  size = std::max<std::uint64_t>(size, 1);
  const std::uint64_t left = kGlobalBase + kLargest - next_;
  if (size > left || size + 2 * kPageBytes > left) {
    throw InputError(
        fmt::format("buffer {}: {} bytes do not fit in the 1 TiB of emulated global memory", name, size));
  }
  const std::uint64_t address = round_up(next_, size >= kOwnPages ? kPageBytes : kAllocationAlignment);
  allocations_.push_back({address, size, std::move(name), std::move(fill)});
  next_ = round_up(address + size, kAllocationAlignment) + kAllocationAlignment;
  const std::uint64_t pages = round_up(next_ - kGlobalBase, kPageBytes) / kPageBytes;
  if (pages > page_count_) {
    const std::uint64_t count = std::max(pages, 2 * page_count_);
    auto grown = std::make_unique<std::atomic<std::byte*>[]>(count);
    for (std::uint64_t i = 0; i < page_count_; ++i) grown[i].store(pages_[i].load());
    pages_ = std::move(grown);
    page_count_ = count;
  }
  // A page that was touched before gets its new tenant's contents now.
  const std::uint64_t page = (address - kGlobalBase) / kPageBytes;
  if (std::byte* memory = pages_[page].load(); memory != nullptr && allocations_.back().fill) {
    const std::uint64_t offset = (address - kGlobalBase) % kPageBytes;
    allocations_.back().fill(0, {memory + offset, std::min(size, kPageBytes - offset)});
  }
  return address;
}

const GlobalMemory::Allocation* GlobalMemory::find(std::uint64_t address) const {
  auto after = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                [](std::uint64_t a, const Allocation& b) { return a < b.address; });
  if (after == allocations_.begin()) return nullptr;
  --after;
  return address - after->address < after->size ? &*after : nullptr;
}

const GlobalMemory::Allocation* GlobalMemory::nearest(std::uint64_t address) const {
  const Allocation* best = nullptr;
  std::uint64_t best_distance = ~std::uint64_t{0};
  for (const Allocation& a : allocations_) {
    const std::uint64_t end = a.address + a.size;
    const std::uint64_t distance = address < a.address ? a.address - address
                                   : address >= end    ? address - end
                                                       : 0;
    if (distance < best_distance) {
      best = &a;
      best_distance = distance;
    }
  }
  return best;
}

std::byte* GlobalMemory::make_page(std::uint64_t page) {
  const std::lock_guard lock(making_);
  if (std::byte* made = pages_[page].load()) return made;
  auto* memory = static_cast<std::byte*>(std::calloc(kPageBytes, 1));
  if (memory == nullptr) throw InputError("out of host memory for the kernel's global memory");
  const std::uint64_t begin = kGlobalBase + page * kPageBytes, end = begin + kPageBytes;
  for (const Allocation& a : allocations_) {
    const std::uint64_t from = std::max(begin, a.address), to = std::min(end, a.address + a.size);
    if (from < to && a.fill) a.fill(from - a.address, {memory + (from - begin), to - from});
  }
  resident_ += kPageBytes;
  pages_[page].store(memory, std::memory_order_release);
  return memory;
}

void GlobalMemory::check_range(std::uint64_t address, std::uint64_t size) const {
  const Allocation* a = find(address);
  if (a == nullptr || size > a->size - (address - a->address)) {
    throw InputError(fmt::format("{} bytes at 0x{:x} are not inside one buffer", size, address));
  }
}

void GlobalMemory::write(std::uint64_t address, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  check_range(address, bytes.size());
  while (!bytes.empty()) {
    const std::uint64_t part =
        std::min<std::uint64_t>(bytes.size(), kPageBytes - (address - kGlobalBase) % kPageBytes);
    std::memcpy(at(address), bytes.data(), part);
    address += part;
    bytes = bytes.subspan(part);
  }
}

void GlobalMemory::read(std::uint64_t address, std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  check_range(address, bytes.size());
  while (!bytes.empty()) {
    const std::uint64_t part =
        std::min<std::uint64_t>(bytes.size(), kPageBytes - (address - kGlobalBase) % kPageBytes);
    std::memcpy(bytes.data(), at(address), part);
    address += part;
    bytes = bytes.subspan(part);
  }
}

}  // namespace foretrace::emulate
