// Memory pools: handles with attributes. What they hand out is ordinary device memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

namespace foretrace::runtime {

struct Pool {
  int follow_events = 1, opportunistic = 1, internal = 1;
  bool shared = false;               ///< with other processes
  bool imported = false;             ///< another process's
  unsigned long long threshold = 0;  ///< bytes that a trim keeps
  /// Of what was handed out in streams and is not free: the pool reserves no more than that.
  std::map<const void*, std::uint64_t> blocks;
  std::uint64_t used = 0, used_high = 0, reserved_high = 0;  ///< bytes

  void hand_out(const void* pointer, std::uint64_t size) {
    blocks[pointer] = size;
    used += size;
    used_high = std::max(used_high, used);
    reserved_high = std::max(reserved_high, used);
  }
  /// False: it is not of this pool.
  bool take_back(const void* pointer) {
    const auto found = blocks.find(pointer);
    if (found == blocks.end()) return false;
    used -= found->second;
    blocks.erase(found);
    return true;
  }
};

struct Pools {
  Pool standard;
  Pool* current = &standard;
  std::vector<std::unique_ptr<Pool>> made;
};
Pools& pools();

/// The pool that it came from, if any, counts it no longer.
void take_back(const void* pointer);

/// Null for a handle that is none.
Pool* pool_of(cudaMemPool_t handle);
inline cudaMemPool_t handle_of(Pool* pool) { return reinterpret_cast<cudaMemPool_t>(pool); }

}  // namespace foretrace::runtime
