#include "sim/runtime/device/pool.h"

namespace foretrace::runtime {

Pools& pools() {
  static auto* all = new Pools;  // never deleted: the program's own destructors may still call
  return *all;
}

void take_back(const void* pointer) {
  if (pools().standard.take_back(pointer)) return;
  for (const auto& made : pools().made) {
    if (made->take_back(pointer)) return;
  }
}

Pool* pool_of(cudaMemPool_t handle) {
  auto* pool = reinterpret_cast<Pool*>(handle);
  if (pool == &pools().standard) return pool;
  for (const auto& made : pools().made) {
    if (made.get() == pool) return pool;
  }
  return nullptr;
}

}  // namespace foretrace::runtime
