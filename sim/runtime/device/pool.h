// Memory pools: handles with attributes. What they hand out is ordinary memory: a device's, pinned host memory or managed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include "sim/runtime/device/memory.h"

namespace foretrace::runtime {

struct Pool {
  MemoryKind kind = MemoryKind::device;  ///< what it hands out
  std::uint64_t max_size = 0;            ///< bytes; 0: as much as there is
  int follow_events = 1, opportunistic = 1, internal = 1;
  bool shared = false;               ///< with other processes
  bool imported = false;             ///< another process's
  unsigned long long threshold = 0;  ///< bytes that a trim keeps
  /// Of what was handed out in streams and is not free: the pool reserves no more than that.
  std::map<const void*, std::uint64_t> blocks;
  std::uint64_t used = 0, used_high = 0, reserved_high = 0;  ///< bytes

  bool has_room(std::uint64_t size) const {
    return max_size == 0 || (size <= max_size && used <= max_size - size);
  }
  void hand_out(const void* pointer, std::uint64_t size) {
    blocks[pointer] = size;
    used += size;
    used_high = std::max(used_high, used);
    reserved_high = std::max(reserved_high, used);
  }
  void take_back(const void* pointer) {
    const auto found = blocks.find(pointer);
    if (found == blocks.end()) return;
    used -= found->second;
    blocks.erase(found);
  }
};

/// Of one kind of memory: the pool that is there from the start, and the one in use.
struct PoolPlace {
  explicit PoolPlace(MemoryKind kind) { standard.kind = kind; }
  Pool standard;
  Pool* current = &standard;
};

struct Pools {
  PoolPlace device{MemoryKind::device}, host{MemoryKind::host}, managed{MemoryKind::managed};
  std::vector<std::unique_ptr<Pool>> made;
};
Pools& pools();

/// The pool that it came from; null: none.
Pool* owner_of(const void* pointer);

/// The pool that it came from, if any, counts it no longer.
void take_back(const void* pointer);

/// Null for a handle that is none.
Pool* pool_of(cudaMemPool_t handle);
inline cudaMemPool_t handle_of(Pool* pool) { return reinterpret_cast<cudaMemPool_t>(pool); }

}  // namespace foretrace::runtime
