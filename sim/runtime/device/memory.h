// The program's allocations on all devices as the CUDA runtime knows them: what kind each is, where, and what the host may do with it.
//
// Models:  device, pinned host and managed memory. All of it is host memory at the address that kernels use (GlobalMemory with
//          Backing::host), so a managed pointer is the same on both sides. Memory of device kind counts against the chip's capacity.
// Ignores: that host code may not touch device memory; pageable host memory is out of a kernel's reach, as on a GPU without HMM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/emulate/memory/global_memory.h"

namespace foretrace::runtime {

enum class MemoryKind : std::uint8_t {
  device,
  host,
  registered,
  managed,
  variable,
  mapped,  ///< of virtual_memory.h, which counts it
  graph    ///< of graph_memory.h, which counts it
};

struct MemoryBlock {
  std::uint64_t address = 0, size = 0;  ///< bytes
  MemoryKind kind = MemoryKind::device;
  unsigned flags = 0;    ///< as given to cudaHostAlloc, cudaHostRegister, cudaMallocManaged
  std::uint64_t id = 0;  ///< unique in the process
  int device = 0;        ///< whose memory it is, or whose context was current
};

/// Whether the block lies in its device's memory, wherever it is used from.
inline bool is_of_one_device(const MemoryBlock& block) {
  return block.kind == MemoryKind::device || block.kind == MemoryKind::variable ||
         block.kind == MemoryKind::mapped || block.kind == MemoryKind::graph;
}

class DeviceMemory {
 public:
  /// `capacity`: bytes of each device's memory.
  DeviceMemory(std::uint64_t capacity, int devices);

  /// From now on reads of device memory that nothing has written can be told (emulate::Checks). Host code writes unseen: memory
  /// that it may touch counts as written.
  void track_writes();
  /// Tells the tracking of bytes that a copy or a fill has written.
  void mark_written(const void* pointer, std::uint64_t size);

  /// Null when the chip has no room for it.
  void* allocate(std::uint64_t size, MemoryKind kind, unsigned flags = 0);
  /// False: no block of that kind (device and managed count as one) starts there.
  bool release(void* pointer, MemoryKind kind);
  bool register_host(void* pointer, std::uint64_t size, unsigned flags);
  /// Memory that stands at an address of its own (virtual_memory.h) becomes the device's, and is no longer.
  void add_range(std::uint64_t address, std::uint64_t size);
  void remove_range(std::uint64_t address);
  /// Addresses of a block of graph memory, which comes to stand there, zero, and goes; until it comes nothing is there.
  std::uint64_t reserve(std::uint64_t size, int device);
  void give_up(std::uint64_t address);
  void place(std::uint64_t address);
  void displace(std::uint64_t address);
  /// Bytes of a device's memory for both; false: there are not so many.
  bool take(std::uint64_t size, int device);
  void give_back(std::uint64_t size, int device);
  /// Frees every block of the current device but the program's variables and what is mapped.
  void release_all();

  /// The block that holds the address; null: none.
  const MemoryBlock* find(const void* pointer) const;
  /// The same, or the block that the address is reserved for: what can be said of a pointer before its memory is there.
  const MemoryBlock* known(const void* pointer) const;
  /// Whether [pointer, pointer + size) lies in one block.
  bool holds(const void* pointer, std::uint64_t size) const;

  const std::map<std::uint64_t, MemoryBlock>& blocks() const { return blocks_; }  ///< by address
  std::uint64_t capacity() const { return capacity_; }
  /// Of the current device.
  std::uint64_t used() const;
  std::uint64_t used(int device) const { return used_[static_cast<std::size_t>(device)].bytes(); }
  emulate::GlobalMemory& global() { return global_; }

 private:
  std::uint64_t capacity_;
  /// The chip's memory is given out in whole granules; small blocks share them.
  struct Use {
    std::uint64_t whole = 0, small = 0;
    std::uint64_t bytes() const;
  };
  /// Adds the block, or takes it off again.
  bool take_block(std::uint64_t size);
  void give_back_block(std::uint64_t size, int device);

  std::vector<Use> used_;  // of device, managed and graphs' blocks, by device
  std::uint64_t next_id_ = 1;
  bool tracks_ = false;
  emulate::GlobalMemory global_{emulate::Backing::host};
  std::map<std::uint64_t, MemoryBlock> blocks_, reserved_;  // by address
};

}  // namespace foretrace::runtime
