// Memory that several processes have: cudaIpc*, and what pools give to other processes.
//
// Models:  all of a process's device memory may be one file without a name; the pages of a block become the file's when the block is
//          shared, at the address that they have. Another process opens the file through /proc and maps these pages at an address of its
//          own. A handle therefore serves while the process that made it runs, as CUDA's does.
// Source:  CUDA Runtime API, "cudaIpc*": a handle stands for a whole block; opened twice it gives the same address, counted; a process
//          cannot open its own. A block of a pool it can import again (H100's driver), at another address.
// Ignores: that memory of another process counts against the chip's; use after free (the pages are zero then).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "sim/runtime/device/memory.h"
#include "sim/runtime/device/virtual_memory.h"

namespace foretrace::runtime {

/// The 64 bytes of a handle.
struct SharedHandle {
  static constexpr std::uint64_t kMark = 0x656361727445524f;  ///< no other handle begins so
  std::uint64_t mark = 0;
  std::int32_t process = 0;  ///< that made it
  std::int32_t file = -1;    ///< the process's number of it
  std::uint64_t offset = 0;  ///< of the block in the file, bytes
  std::uint64_t size = 0;    ///< of the block, bytes; 0: the handle of an event
  std::uint64_t unused[4] = {};
  bool is_of_block() const { return mark == kMark && size != 0; }
};
static_assert(sizeof(SharedHandle) == 64);

class SharedMemory {
 public:
  SharedMemory(DeviceMemory& memory, VirtualMemory& addresses) : memory_(memory), addresses_(addresses) {}

  /// A handle of the block that holds the address; none: it is no memory of the device, or the host has no room.
  std::optional<SharedHandle> share(const void* pointer);
  /// A block that a process has shared, also this one; null: there is none such, or no room for it.
  void* open(const SharedHandle& handle);
  /// False: nothing that was opened starts there.
  bool close(const void* pointer);
  /// A block ends: nobody gets its contents with the next one that is placed there. Blocks that were not shared are left alone.
  void forget(std::uint64_t address, std::uint64_t size);
  /// The file that stands for this process's memory (-1: the host has no room).
  int file();

 private:
  struct Opened {
    SharedHandle handle;
    std::uint64_t room = 0, room_size = 0;  ///< addresses that are reserved for it
    unsigned count = 1;
  };
  bool share_pages(std::uint64_t first, std::uint64_t last);

  DeviceMemory& memory_;
  VirtualMemory& addresses_;
  int file_ = -1;
  std::map<std::uint64_t, std::uint64_t> pages_;  ///< that are the file's: from, to
  std::map<std::uint64_t, Opened> opened_;        ///< by address
};

}  // namespace foretrace::runtime
