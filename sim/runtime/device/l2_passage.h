// What copies, fills and launches that were not simulated have brought through each device's L2 since its last launch.
//
// Models:  as many bytes as L2 holds leave nothing of what was there: do_bench of Triton and others clear L2 that way between launches. What
//          begins at the same address counts once. Reads count as writes do: a copy within a device has two sides. A launch that is
//          represented does so where the one that stands for it moved as much between L2 and DRAM: clearing L2 may be a kernel's work.
// Ignores: fewer bytes, which leave L2 as the launch before left it (the last one simulated), and that the next launch may find the last bytes written.
// Source:  validate/harness measures the time from DRAM behind a fill of 256 MB (cuMemsetD8Async); predictions of cold launches are held
//          against it.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "sim/runtime/device/memory.h"
#include "sim/runtime/device/operation.h"

namespace foretrace::runtime {

class L2Passage {
 public:
  /// `l2_bytes`: what L2 of each device holds.
  explicit L2Passage(std::uint64_t l2_bytes) : l2_bytes_(l2_bytes) {}
  /// A fill or a copy that has been executed.
  void add(const FillCall& fill, const DeviceMemory& memory);
  void add(const CopyCall& copy, const DeviceMemory& memory);
  /// A launch that was executed and not simulated, of a kind that moves as much between L2 and DRAM as L2 holds.
  void add_all(int device) { passed_[device].sum = l2_bytes_; }
  /// Whether nothing is left in the device's L2 of what its last launch left there. From now on it is asked about a later launch.
  bool take(int device);

 private:
  struct Passed {
    std::unordered_map<std::uint64_t, std::uint64_t> bytes;  // by address
    std::uint64_t sum = 0;
  };
  void add(std::uint64_t address, std::uint64_t bytes, const DeviceMemory& memory);

  std::uint64_t l2_bytes_;
  std::unordered_map<int, Passed> passed_;  // by device
};

}  // namespace foretrace::runtime
