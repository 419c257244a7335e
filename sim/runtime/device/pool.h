// Memory pools: handles with attributes. What they hand out is ordinary device memory.
#pragma once

#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

namespace foretrace::runtime {

struct Pool {
  int follow_events = 1, opportunistic = 1, internal = 1;
  unsigned long long threshold = 0;  ///< bytes that a trim keeps
};

struct Pools {
  Pool standard;
  Pool* current = &standard;
  std::vector<std::unique_ptr<Pool>> made;
};
Pools& pools();

/// Null for a handle that is none.
Pool* pool_of(cudaMemPool_t handle);
inline cudaMemPool_t handle_of(Pool* pool) { return reinterpret_cast<cudaMemPool_t>(pool); }

}  // namespace foretrace::runtime
