// The heap that device code's malloc, free, new and delete use.
//
// Models:  one arena of a fixed size (cudaLimitMallocHeapSize, 8 MiB unless set), placed in global memory at the first use and kept
//          from launch to launch; blocks aligned to 16 bytes; a null pointer when nothing fits.
// Ignores: the allocator's own overhead and its choice of places. Freed space is taken up as late as possible, so that a use
//          after free is noticed.
// Source:  CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations".
#pragma once

#include <cstdint>
#include <map>

namespace foretrace::emulate {

class GlobalMemory;

inline constexpr std::uint64_t kDefaultHeapBytes = 8 * 1024 * 1024;

class DeviceHeap {
 public:
  enum class Released : std::uint8_t { yes, twice, unknown };
  struct Block {
    std::uint64_t address = 0;
    std::uint64_t size = 0;  ///< bytes asked for
    bool freed = false;
  };

  /// Bytes of the arena; false: it has been placed already and keeps its size.
  bool set_limit(std::uint64_t bytes);
  std::uint64_t limit() const { return limit_; }

  /// Places the arena in `memory`, once. Not while a launch runs.
  void place(GlobalMemory& memory);
  /// The address of `bytes` bytes (0 counts as 1), 0 when they do not fit or there is no arena.
  std::uint64_t allocate(std::uint64_t bytes);
  Released release(std::uint64_t address);

  /// True for an address of the arena.
  bool holds(std::uint64_t address) const { return address - base_ < placed_; }
  /// The block that holds `bytes` bytes at the address and is in use.
  bool usable(std::uint64_t address, std::uint64_t bytes) const;
  /// The last block that starts at or below the address, in use or freed; size 0: there is none.
  Block below(std::uint64_t address) const;
  /// Bytes in use, as asked for.
  std::uint64_t in_use() const { return in_use_; }

 private:
  struct Extent {
    std::uint64_t size = 0;    // rounded up to 16
    std::uint64_t wanted = 0;  // as asked for
  };
  std::uint64_t limit_ = kDefaultHeapBytes;
  std::uint64_t base_ = 0, placed_ = 0, cursor_ = 0;
  std::map<std::uint64_t, Extent> used_;          // by address
  std::map<std::uint64_t, std::uint64_t> free_;   // address, size; neighbours are merged
  std::map<std::uint64_t, std::uint64_t> freed_;  // address, size asked for: what a late access may mean
  std::uint64_t in_use_ = 0;
};

}  // namespace foretrace::emulate
