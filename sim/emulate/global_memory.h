// Global memory as a device has it: allocations placed as cudaMalloc places them, pages made when first touched.
//
// Models:  512-byte alignment; allocations of 1 MiB and more start on a 2 MiB page of their own, smaller ones share pages;
//          a fixed base address, so that a kernel sees the same addresses in every run. Between two allocations at least
//          512 bytes stay free, so that running over an end is noticed (a device may place them back to back).
// Ignores: freeing, peer and managed memory.
// Source:  cudaMalloc's documented alignment (256 bytes at least); 512 bytes and 2 MiB pages are what devices show.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace foretrace::emulate {

inline constexpr std::uint64_t kGlobalBase = 0x7f0000000000;  ///< address of the first allocation
inline constexpr std::uint64_t kPageBytes = 2 * 1024 * 1024;
inline constexpr std::uint64_t kAllocationAlignment = 512;

class GlobalMemory {
 public:
  /// Writes the first contents of bytes [offset, offset + span.size()) of an allocation, whose memory is zero before. Called once for
  /// every page that is touched, from whichever thread touches it; offset and size are multiples of 512 or end the allocation.
  using Fill = std::function<void(std::uint64_t offset, std::span<std::byte> bytes)>;

  struct Allocation {
    std::uint64_t address = 0;
    std::uint64_t size = 0;  ///< bytes
    std::string name;        ///< as errors call it
    Fill fill;               ///< may be empty: zero
  };

  GlobalMemory() = default;
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;
  ~GlobalMemory();

  /// Places `size` bytes (0 is placed as 1) and returns their address. Not while a launch runs.
  /// Throws InputError when the 1 TiB of addresses are used up.
  std::uint64_t allocate(std::uint64_t size, std::string name, Fill fill = {});

  /// The allocation that holds the address; null: none.
  const Allocation* find(std::uint64_t address) const;
  /// The allocation that ends or starts closest to the address; null: there is none at all.
  const Allocation* nearest(std::uint64_t address) const;

  /// Host memory of an address inside an allocation; it goes on to the end of the 2 MiB page. Safe from several threads.
  std::byte* at(std::uint64_t address) {
    const std::uint64_t offset = address - kGlobalBase;
    std::byte* page = pages_[offset / kPageBytes].load(std::memory_order_acquire);
    if (page == nullptr) page = make_page(offset / kPageBytes);
    return page + offset % kPageBytes;
  }

  /// Copies to and from allocations; InputError when the range is not inside one.
  void write(std::uint64_t address, std::span<const std::byte> bytes);
  void read(std::uint64_t address, std::span<std::byte> bytes);

  /// Bytes of host memory in pages that were touched.
  std::uint64_t resident() const { return resident_.load(); }

 private:
  std::byte* make_page(std::uint64_t page);
  void check_range(std::uint64_t address, std::uint64_t size) const;

  std::vector<Allocation> allocations_;  // ascending addresses
  std::unique_ptr<std::atomic<std::byte*>[]> pages_;
  std::uint64_t page_count_ = 0;
  std::uint64_t next_ = kGlobalBase;
  std::mutex making_;
  std::atomic<std::uint64_t> resident_{0};
};

}  // namespace foretrace::emulate
