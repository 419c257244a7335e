#include "sim/runtime/device/virtual_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "model/work/address_space.h"
#include "sim/runtime/device/context.h"

namespace foretrace::runtime {

namespace {

/// Reservations lie above the arena of ordinary allocations, at the same addresses in every run.
constexpr std::uint64_t kFirst = emulate::kHostArena + emulate::kHostArenaBytes;
constexpr std::uint64_t kStep = std::uint64_t{1} << 40;

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

bool close_to_access(std::uint64_t address, std::uint64_t size, int more) {
  return mmap(pointer(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more, -1, 0) ==
         pointer(address);
}

}  // namespace

std::shared_ptr<PhysicalMemory> PhysicalMemory::make(DeviceMemory& memory, std::uint64_t size) {
  const int device = current_device();
  if (!memory.take(size, device)) return nullptr;
  const int file = memfd_create("device memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
    if (file >= 0) close(file);
    memory.give_back(size, device);
    return nullptr;
  }
  return std::shared_ptr<PhysicalMemory>(new PhysicalMemory(memory, size, size, device, file));
}

std::shared_ptr<PhysicalMemory> PhysicalMemory::import(DeviceMemory& memory, int descriptor) {
  struct stat what {};
  if (fstat(descriptor, &what) != 0 || !S_ISREG(what.st_mode)) return nullptr;
  const auto size = static_cast<std::uint64_t>(what.st_size);
  const int file =
      size == 0 || size % VirtualMemory::kGranule != 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (file < 0) return nullptr;
  return std::shared_ptr<PhysicalMemory>(new PhysicalMemory(memory, size, 0, 0, file));
}

PhysicalMemory::~PhysicalMemory() {
  close(file_);
  memory_.give_back(counted_, device_);
}

std::uint64_t VirtualMemory::reserve(std::uint64_t size, std::uint64_t wanted) {
  if (wanted % kGranule == 0 && wanted >= kFirst && close_to_access(wanted, size, MAP_FIXED_NOREPLACE)) {
    reservations_[wanted] = {size, {}, {}};
    next_ = std::max(next_, wanted + size);
    return wanted;
  }
  std::uint64_t address = std::max(next_, kFirst);
  // Further up where the program's allocator has mapped something at an address of its own choice.
  while (!close_to_access(address, size, MAP_FIXED_NOREPLACE)) {
    if (errno != EEXIST || address > work::kSharedWindow - kStep) return 0;
    address += kStep;
  }
  next_ = address + size;
  reservations_[address] = {size, {}, {}};
  return address;
}

bool VirtualMemory::free(std::uint64_t address, std::uint64_t size) {
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second.size != size || !found->second.mappings.empty())
    return false;
  munmap(pointer(address), size);
  reservations_.erase(found);
  return true;
}

VirtualMemory::Reservation* VirtualMemory::reservation_of(std::uint64_t address, std::uint64_t size) {
  auto next = reservations_.upper_bound(address);
  if (next == reservations_.begin()) return nullptr;
  auto& [begin, room] = *--next;
  const std::uint64_t into = address - begin;
  return into < room.size && size <= room.size - into ? &room : nullptr;
}

bool VirtualMemory::map(std::uint64_t address, std::uint64_t size, std::uint64_t offset,
                        const std::shared_ptr<PhysicalMemory>& physical) {
  Reservation* room = reservation_of(address, size);
  if (room == nullptr || size == 0 || offset > physical->size() || size > physical->size() - offset)
    return false;
  auto next = room->mappings.lower_bound(address);
  if (next != room->mappings.end() && next->first < address + size) return false;
  if (next != room->mappings.begin()) {
    --next;
    if (next->first + next->second.size > address) return false;
  }
  if (mmap(pointer(address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, physical->file(),
           static_cast<off_t>(offset)) == MAP_FAILED)
    return false;
  room->mappings[address] = {size, physical, false};
  return true;
}

/// Whether mappings cover all of it; `ends`: and none reaches out of it.
bool VirtualMemory::covered(const Reservation& room, std::uint64_t address, std::uint64_t size,
                            bool ends) const {
  auto next = room.mappings.upper_bound(address);
  if (next == room.mappings.begin()) return false;
  --next;
  if (ends && next->first != address) return false;
  std::uint64_t at = address;
  for (; next != room.mappings.end() && next->first <= at && at < address + size; ++next)
    at = next->first + next->second.size;
  return ends ? at == address + size : at >= address + size;
}

bool VirtualMemory::unmap(std::uint64_t address, std::uint64_t size) {
  Reservation* room = reservation_of(address, size);
  if (room == nullptr || !covered(*room, address, size, true)) return false;
  room->mappings.erase(room->mappings.lower_bound(address), room->mappings.lower_bound(address + size));
  tell_device(*room);
  return close_to_access(address, size, MAP_FIXED);
}

bool VirtualMemory::set_access(std::uint64_t address, std::uint64_t size, bool reachable) {
  Reservation* room = reservation_of(address, size);
  if (room == nullptr || !covered(*room, address, size, true)) return false;
  for (auto here = room->mappings.lower_bound(address);
       here != room->mappings.end() && here->first < address + size; ++here)
    here->second.reachable = reachable;
  tell_device(*room);
  return true;
}

const VirtualMemory::Mapping* VirtualMemory::mapping_at(std::uint64_t address) const {
  auto next = reservations_.upper_bound(address);
  if (next == reservations_.begin()) return nullptr;
  const auto& mappings = (--next)->second.mappings;
  auto here = mappings.upper_bound(address);
  if (here == mappings.begin()) return nullptr;
  --here;
  return address - here->first < here->second.size ? &here->second : nullptr;
}

std::shared_ptr<PhysicalMemory> VirtualMemory::physical_at(std::uint64_t address) const {
  const Mapping* mapping = mapping_at(address);
  return mapping == nullptr ? nullptr : mapping->physical;
}

bool VirtualMemory::reachable(std::uint64_t address) const {
  const Mapping* mapping = mapping_at(address);
  return mapping != nullptr && mapping->reachable;
}

/// Neighbours that can be reached become one range of the device's memory.
void VirtualMemory::tell_device(Reservation& room) {
  std::map<std::uint64_t, std::uint64_t> ranges;
  std::uint64_t last = 0;  // where the last range begins
  for (const auto& [address, mapping] : room.mappings) {
    if (!mapping.reachable) continue;
    if (!ranges.empty() && last + ranges[last] == address) {
      ranges[last] += mapping.size;
    } else {
      last = address;
      ranges[address] = mapping.size;
    }
  }
  for (const auto& [address, size] : room.ranges) {
    const auto same = ranges.find(address);
    if (same == ranges.end() || same->second != size) memory_.remove_range(address);
  }
  for (const auto& [address, size] : ranges) {
    const auto same = room.ranges.find(address);
    if (same == room.ranges.end() || same->second != size) memory_.add_range(address, size);
  }
  room.ranges = std::move(ranges);
}

}  // namespace foretrace::runtime
