#include "sim/emulate/memory/global_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "model/units/error.h"
#include "model/work/address_space.h"

namespace foretrace::emulate {

namespace {

constexpr std::uint64_t kQuarantine = std::uint64_t{256}
                                      << 20;  // bytes freed before the first of them is given out again
constexpr std::size_t kMostFreed = 1 << 16;

/// 0, or why not: EEXIST where something is mapped there.
int reserve_addresses(std::uint64_t base, std::uint64_t bytes) {
  void* const wanted = reinterpret_cast<void*>(base);
  void* const got = mmap(wanted, bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return errno;
  if (got == wanted) return 0;
  munmap(got, bytes);  // a kernel that takes the address for a hint
  return EEXIST;
}

/// Where the model sees something else (model/work/address_space.h).
bool is_the_models(std::uint64_t piece) {
  return piece == work::kLocalBase || piece == work::kCodeBase || piece == work::kConstantBase;
}

struct Arena {
  std::uint64_t base = kHostArena, bytes = kHostArenaBytes;
};

Arena reserve_arena() {
  Arena arena;
  int error = reserve_addresses(arena.base, arena.bytes);
  if (error == EEXIST) {
    arena = {kArenaPiece, kArenaPiece};
    while (error == EEXIST && arena.base < work::kSharedWindow - kArenaPiece) {
      arena.base += kArenaPiece;
      if (!is_the_models(arena.base)) error = reserve_addresses(arena.base, arena.bytes);
    }
  }
  if (error == 0) return arena;
  throw InputError(
      fmt::format("cannot reserve {} TiB of addresses at 0x{:x} for device memory ({}); expected no limit "
                  "on the size of the "
                  "process's address space (ulimit -v)",
                  arena.bytes >> 40, arena.base, std::strerror(error)));
}

}  // namespace

GlobalMemory::GlobalMemory(Backing backing) : backing_(backing), places_(kGlobalBase, kGlobalBytes) {
  if (backing_ != Backing::host) return;
  const Arena arena = reserve_arena();
  arena_ = open_end_ = arena.base;
  arena_bytes_ = arena.bytes;
  places_ = Places(arena.base, arena.bytes);
}

GlobalMemory::~GlobalMemory() {
  for (std::uint64_t i = 0; i < page_count_; ++i) std::free(pages_[i].load());
  if (backing_ == Backing::host) munmap(reinterpret_cast<void*>(arena_), arena_bytes_);
}

std::vector<GlobalMemory::Allocation>::iterator GlobalMemory::after(std::uint64_t address) {
  return std::upper_bound(allocations_.begin(), allocations_.end(), address,
                          [](std::uint64_t a, const Allocation& b) { return a < b.address; });
}

std::uint64_t GlobalMemory::allocate(std::uint64_t size, std::string name, Fill fill) {
  size = std::max<std::uint64_t>(size, 1);
  std::uint64_t address = take_freed(size);
  if (address == 0) {
    const std::optional<std::uint64_t> place = places_.take(size);
    if (!place) {
      throw InputError(fmt::format("buffer {}: {} bytes do not fit in the {} TiB of emulated global memory",
                                   name, size,
                                   (backing_ == Backing::host ? arena_bytes_ : kGlobalBytes) >> 40));
    }
    address = *place;
    if (backing_ == Backing::host) {
      open_arena(Places::end_of(address, size));
    } else if (backing_ == Backing::pages) {
      make_pages(address, size);
    }
  }
  const auto placed = allocations_.insert(after(address), {address, size, std::move(name), std::move(fill)});
  if (!placed->fill) written_.add(address, size);
  if (!placed->fill) return address;
  if (backing_ == Backing::host) {
    placed->fill(0, {at(address), size});
    return address;
  }
  // A page that was touched before gets its new tenant's contents now.
  if (std::byte* memory = pages_[(address - kGlobalBase) / kPageBytes].load(); memory != nullptr) {
    const std::uint64_t offset = (address - kGlobalBase) % kPageBytes;
    placed->fill(0, {memory + offset, std::min(size, kPageBytes - offset)});
  }
  return address;
}

void GlobalMemory::make_pages(std::uint64_t address, std::uint64_t size) {
  const std::uint64_t end = Places::end_of(address, size);
  const std::uint64_t pages = round_up(end - kGlobalBase, kPageBytes) / kPageBytes;
  if (pages <= page_count_) return;
  const std::uint64_t count = std::max(pages, 2 * page_count_);
  auto grown = std::make_unique<std::atomic<std::byte*>[]>(count);
  for (std::uint64_t i = 0; i < page_count_; ++i) grown[i].store(pages_[i].load());
  pages_ = std::move(grown);
  page_count_ = count;
}

void GlobalMemory::open_arena(std::uint64_t end) {
  if (end <= open_end_) return;
  const std::uint64_t to = round_up(end, kPlacementBytes);  // whole pages of the device: on_page()
  if (mprotect(reinterpret_cast<void*>(open_end_), to - open_end_, PROT_READ | PROT_WRITE) != 0) {
    throw InputError(
        fmt::format("out of host memory for the device's global memory: {}", std::strerror(errno)));
  }
  open_end_ = to;
}

bool GlobalMemory::free(std::uint64_t address) {
  const auto next = after(address);
  if (next == allocations_.begin() || (next - 1)->address != address) return false;
  written_.remove(address);
  freed_.push_back(std::move(*(next - 1)));
  allocations_.erase(next - 1);
  freed_.back().fill = {};
  freed_bytes_ += freed_.back().size;
  while (freed_bytes_ > kQuarantine || freed_.size() > kMostFreed) {
    const Allocation& oldest = freed_.front();
    reusable_[round_up(oldest.size, kAllocationAlignment)].push_back(oldest.address);
    freed_bytes_ -= oldest.size;
    freed_.pop_front();
  }
  return true;
}

/// Addresses of a freed allocation of the same size, zero as new ones; 0: there are none.
std::uint64_t GlobalMemory::take_freed(std::uint64_t size) {
  const auto same = reusable_.find(round_up(size, kAllocationAlignment));
  if (same == reusable_.end()) return 0;
  const std::uint64_t address = same->second.back(), end = address + same->first;
  same->second.pop_back();
  if (same->second.empty()) reusable_.erase(same);
  if (backing_ == Backing::host) {
    constexpr std::uint64_t kHostPage = 4096;
    const std::uint64_t first = round_up(address, kHostPage), last = end / kHostPage * kHostPage;
    if (first < last) {
      std::memset(at(address), 0, first - address);
      if (madvise(at(first), last - first, MADV_DONTNEED) != 0) std::memset(at(first), 0, last - first);
      std::memset(at(last), 0, end - last);
    } else {
      std::memset(at(address), 0, end - address);
    }
    return address;
  }
  for (std::uint64_t at_byte = address; at_byte < end;) {
    const std::uint64_t part = std::min(end - at_byte, kPageBytes - (at_byte - kGlobalBase) % kPageBytes);
    if (pages_[(at_byte - kGlobalBase) / kPageBytes].load() != nullptr) std::memset(at(at_byte), 0, part);
    at_byte += part;
  }
  return address;
}

bool GlobalMemory::adopt(std::uint64_t address, std::uint64_t size, std::string name) {
  FORETRACE_ASSERT(backing_ == Backing::host,
                   "only where addresses are host addresses can host memory be adopted");
  const auto next = after(address);
  if (next != allocations_.begin() && address - (next - 1)->address < (next - 1)->size) return false;
  if (next != allocations_.end() && next->address - address < size) return false;
  allocations_.insert(next, {address, size, std::move(name), {}});
  return true;
}

bool GlobalMemory::forget(std::uint64_t address) {
  const auto next = after(address);
  if (next == allocations_.begin() || (next - 1)->address != address) return false;
  allocations_.erase(next - 1);
  return true;
}

const GlobalMemory::Allocation* GlobalMemory::freed(std::uint64_t address) const {
  const auto found = std::find_if(freed_.rbegin(), freed_.rend(),
                                  [&](const Allocation& a) { return address - a.address < a.size; });
  return found == freed_.rend() ? nullptr : &*found;
}

const GlobalMemory::Allocation* GlobalMemory::find(std::uint64_t address) const {
  auto next = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                               [](std::uint64_t a, const Allocation& b) { return a < b.address; });
  if (next == allocations_.begin()) return nullptr;
  --next;
  return address - next->address < next->size ? &*next : nullptr;
}

bool GlobalMemory::on_page(std::uint64_t address, std::uint64_t size) const {
  if (address - arena_ >= arena_bytes_) return false;
  const std::uint64_t page = address / kPlacementBytes * kPlacementBytes;
  if (address + size > page + kPlacementBytes) return false;
  const auto next = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                     [](std::uint64_t a, const Allocation& b) { return a < b.address; });
  // The nearest before may reach into the page, the nearest behind may start in it.
  if (next != allocations_.end() && next->address < page + kPlacementBytes) return true;
  return next != allocations_.begin() && (next - 1)->address + (next - 1)->size > page;
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

/// First contents of a fork's page: what the memory below holds there now, without making pages in it.
void GlobalMemory::copy_page(std::uint64_t begin, std::byte* to) {
  for (const Allocation& a : allocations_) {
    const std::uint64_t first = std::max(begin, a.address),
                        last = std::min(begin + kPageBytes, a.address + a.size);
    if (first >= last) continue;
    const std::span<std::byte> part(to + (first - begin), last - first);
    if (parent_->find(first) == nullptr) continue;  // placed in the fork itself: zero
    if (parent_->backing_ == Backing::pages && !parent_->pages_[(begin - kGlobalBase) / kPageBytes].load()) {
      if (a.fill) a.fill(first - a.address, part);
    } else {
      std::memcpy(part.data(), parent_->at(first), part.size());
    }
  }
}

std::byte* GlobalMemory::at_fork(std::uint64_t address) {
  const std::lock_guard lock(making_);  // pages stay where they are
  std::unique_ptr<std::byte[]>& page = own_[address / kPageBytes];
  if (!page) {
    page = std::make_unique<std::byte[]>(kPageBytes);
    copy_page(address / kPageBytes * kPageBytes, page.get());
    resident_ += kPageBytes;
  }
  return page.get() + address % kPageBytes;
}

std::unique_ptr<GlobalMemory> GlobalMemory::fork() {
  auto forked = std::make_unique<GlobalMemory>();
  forked->backing_ = Backing::fork;
  forked->parent_ = this;
  forked->arena_ = arena_;
  forked->arena_bytes_ = arena_bytes_;
  forked->allocations_ = allocations_;
  forked->places_ = places_;
  forked->heap_ = heap_;
  return forked;
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
  written_.mark(address, bytes.size());
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
