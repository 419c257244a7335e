// Where allocations of global memory begin.
//
// Models:  512-byte alignment; allocations of 2 MiB and more start on a 2 MiB page of their own, smaller ones go to the first page
//          for small ones that has room. Behind an allocation at least 512 bytes stay free, so that running over its end is noticed
//          (a device places them back to back); 64 behind one of less than 512, so that counters lie 512 bytes apart as on a device,
//          where that puts them into one slice of L2. What no longer fits into 2 MiB with those bytes has pages of its own.
// Ignores: addresses that are given back (GlobalMemory gives them out again).
// Source:  cudaMalloc's documented alignment (256 bytes at least); 512 bytes and 2 MiB pages are what devices show
//          (validate/host/allocations.cu).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace foretrace::emulate {

inline constexpr std::uint64_t kPlacementBytes = 2 * 1024 * 1024;  ///< a device's page
inline constexpr std::uint64_t kAllocationAlignment = 512;

inline std::uint64_t round_up(std::uint64_t x, std::uint64_t to) { return (x + to - 1) / to * to; }

class Places {
 public:
  /// Addresses from `base`, a multiple of kPlacementBytes, on, `bytes` of them.
  Places(std::uint64_t base, std::uint64_t bytes) : next_(base), last_(base + bytes) {}

  /// The address for `size` > 0 bytes; none: the addresses are used up.
  std::optional<std::uint64_t> take(std::uint64_t size);
  /// Behind an allocation and the bytes that stay free there.
  static std::uint64_t end_of(std::uint64_t address, std::uint64_t size);

 private:
  std::optional<std::uint64_t> take_pages(std::uint64_t size);

  std::uint64_t next_;                    // behind all pages given out
  std::uint64_t last_;                    // behind the last address there is
  std::vector<std::uint64_t> page_ends_;  // of each page for small allocations: where its next one can begin
};

}  // namespace foretrace::emulate
