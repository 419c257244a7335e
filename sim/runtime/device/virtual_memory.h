// Virtual memory management: addresses that are reserved, physical memory that is made, and the one mapped to the other.
//
// Models:  memory keeps its contents while it is mapped nowhere, and may be mapped at several addresses at once; what lies side by side
//          in one reservation is one range for copies. Physical memory counts against the chip's.
// Source:  CUDA Driver API, "Virtual Memory Management": sizes and addresses are whole granules, memory that is mapped can be reached
//          once its access was set, and lives until it is released and unmapped everywhere.
// Ignores: memory of other devices or of the host (not supported), read-only access (taken as read and write).
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "sim/runtime/device/memory.h"

namespace foretrace::runtime {

/// Physical memory: a file without a name.
class PhysicalMemory {
 public:
  /// Null when the chip has no room for it, or the host. The memory must outlive it.
  static std::shared_ptr<PhysicalMemory> make(DeviceMemory& memory, std::uint64_t size);
  /// What another process has made, by a descriptor of its file; null: it is none. It counts against no chip's memory here.
  static std::shared_ptr<PhysicalMemory> import(DeviceMemory& memory, int descriptor);
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  std::uint64_t size() const { return size_; }
  int file() const { return file_; }

 private:
  PhysicalMemory(DeviceMemory& memory, std::uint64_t size, std::uint64_t counted, int device, int file)
      : memory_(memory), size_(size), counted_(counted), device_(device), file_(file) {}
  DeviceMemory& memory_;
  std::uint64_t size_, counted_;
  int device_, file_;
};

class VirtualMemory {
 public:
  static constexpr std::uint64_t kGranule = emulate::kPlacementBytes;  ///< bytes

  explicit VirtualMemory(DeviceMemory& memory) : memory_(memory) {}

  /// The address, 0 where there is no room; `wanted` is taken if it is free.
  std::uint64_t reserve(std::uint64_t size, std::uint64_t wanted);
  /// False: no reservation of that size starts there, or something is mapped in it.
  bool free(std::uint64_t address, std::uint64_t size);
  /// False: not inside one reservation, or something is mapped there already, or not all of it is the memory's.
  bool map(std::uint64_t address, std::uint64_t size, std::uint64_t offset,
           const std::shared_ptr<PhysicalMemory>& physical);
  /// False: not whole mappings.
  bool unmap(std::uint64_t address, std::uint64_t size);
  /// False: not all of it is mapped.
  bool set_access(std::uint64_t address, std::uint64_t size, bool reachable);
  /// The memory that is mapped there; null: none.
  std::shared_ptr<PhysicalMemory> physical_at(std::uint64_t address) const;
  bool reachable(std::uint64_t address) const;

 private:
  struct Mapping {
    std::uint64_t size = 0;
    std::shared_ptr<PhysicalMemory> physical;
    bool reachable = false;
  };
  struct Reservation {
    std::uint64_t size = 0;
    std::map<std::uint64_t, Mapping> mappings;      // by address
    std::map<std::uint64_t, std::uint64_t> ranges;  // that the device knows: address, size
  };
  Reservation* reservation_of(std::uint64_t address, std::uint64_t size);
  const Mapping* mapping_at(std::uint64_t address) const;
  bool covered(const Reservation& room, std::uint64_t address, std::uint64_t size, bool ends) const;
  void tell_device(Reservation& room);

  DeviceMemory& memory_;
  std::map<std::uint64_t, Reservation> reservations_;  // by address
  std::uint64_t next_ = 0;
};

}  // namespace foretrace::runtime
