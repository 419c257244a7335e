#include "sim/runtime/device/sharing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

namespace foretrace::runtime {

namespace {

constexpr std::uint64_t kPage = 4096;  // the host's

std::uint64_t down(std::uint64_t x, std::uint64_t to) { return x / to * to; }
std::uint64_t up(std::uint64_t x, std::uint64_t to) { return down(x + to - 1, to); }
void* pointer_to(std::uint64_t address) { return reinterpret_cast<void*>(address); }

/// Bytes into the file are bytes into the arena, or into the usual one that lies around it.
std::uint64_t offset_of(std::uint64_t address) { return address % emulate::kHostArenaBytes; }

}  // namespace

int SharedMemory::file() {
  if (file_ >= 0) return file_;
  const int made = memfd_create("device memory", MFD_CLOEXEC);
  if (made < 0) return -1;
  if (ftruncate(made, static_cast<off_t>(emulate::kHostArenaBytes)) != 0) {
    ::close(made);
    return -1;
  }
  return file_ = made;
}

/// Pages [first, last) become the file's, with what they hold.
bool SharedMemory::share_pages(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t at = first; at < last;) {
    const std::uint64_t size = last - at;
    auto* const bytes = static_cast<const char*>(pointer_to(at));
    for (std::uint64_t done = 0; done < size;) {
      const ssize_t n = pwrite(file(), bytes + done, size - done, static_cast<off_t>(offset_of(at) + done));
      if (n <= 0) return false;
      done += static_cast<std::uint64_t>(n);
    }
    if (mmap(pointer_to(at), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file(),
             static_cast<off_t>(offset_of(at))) == MAP_FAILED)
      return false;
    pages_[at] = last;
    at = last;
  }
  return true;
}

std::optional<SharedHandle> SharedMemory::share(const void* pointer) {
  const MemoryBlock* block = memory_.find(pointer);
  if (block == nullptr || block->kind != MemoryKind::device || file() < 0) return std::nullopt;
  std::uint64_t at = down(block->address, kPage);
  const std::uint64_t end = up(block->address + block->size, kPage);
  while (at < end) {  // what a neighbour has shared already stays as it is
    auto next = pages_.upper_bound(at);
    if (next != pages_.begin() && std::prev(next)->second > at) {
      at = std::prev(next)->second;
      continue;
    }
    const std::uint64_t to = next == pages_.end() ? end : std::min(end, next->first);
    if (!share_pages(at, to)) return std::nullopt;
    at = to;
  }
  SharedHandle handle;
  handle.mark = SharedHandle::kMark;
  handle.process = getpid();
  handle.file = file();
  handle.offset = offset_of(block->address);
  handle.size = block->size;
  return handle;
}

void* SharedMemory::open(const SharedHandle& handle) {
  if (!handle.is_of_block()) return nullptr;
  for (auto& [address, opened] : opened_) {
    if (opened.handle.process != handle.process || opened.handle.offset != handle.offset) continue;
    ++opened.count;
    return pointer_to(address);
  }
  const int theirs =
      ::open(fmt::format("/proc/{}/fd/{}", handle.process, handle.file).c_str(), O_RDWR | O_CLOEXEC);
  if (theirs < 0) return nullptr;
  const std::uint64_t first = down(handle.offset, kPage), into = handle.offset - first;
  const std::uint64_t size = up(into + handle.size, VirtualMemory::kGranule);
  struct stat what {};
  const bool holds = fstat(theirs, &what) == 0 && static_cast<std::uint64_t>(what.st_size) >= first + size;
  const std::uint64_t room = holds ? addresses_.reserve(size, 0) : 0;
  const bool mapped =
      room != 0 && mmap(pointer_to(room), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, theirs,
                        static_cast<off_t>(first)) != MAP_FAILED;
  ::close(theirs);
  if (!mapped) {
    if (room != 0) addresses_.free(room, size);
    return nullptr;
  }
  memory_.add_range(room + into, handle.size);
  opened_[room + into] = {handle, room, size, 1};
  return pointer_to(room + into);
}

bool SharedMemory::close(const void* pointer) {
  const auto found = opened_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == opened_.end()) return false;
  Opened& opened = found->second;
  if (--opened.count != 0) return true;
  memory_.remove_range(found->first);
  addresses_.free(opened.room, opened.room_size);
  opened_.erase(found);
  return true;
}

void SharedMemory::forget(std::uint64_t address, std::uint64_t size) {
  const auto next = pages_.upper_bound(address);
  if (next == pages_.begin() || std::prev(next)->second <= address || size == 0) return;
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset_of(address)),
            static_cast<off_t>(size));
}

}  // namespace foretrace::runtime
