#include "sim/runtime/device/pool.h"

#include <algorithm>

namespace foretrace::runtime {

namespace {

/// The first pool for which the test holds; null: none.
template <class Test>
Pool* first(Test&& test) {
  Pools& all = pools();
  for (PoolPlace* place : {&all.device, &all.host, &all.managed}) {
    if (test(place->standard)) return &place->standard;
  }
  const auto made =
      std::find_if(all.made.begin(), all.made.end(), [&](const auto& pool) { return test(*pool); });
  return made == all.made.end() ? nullptr : made->get();
}

}  // namespace

Pools& pools() {
  static auto* all = new Pools;  // never deleted: the program's own destructors may still call
  return *all;
}

Pool* owner_of(const void* pointer) {
  return first([&](const Pool& pool) { return pool.blocks.contains(pointer); });
}

void take_back(const void* pointer) {
  if (Pool* owner = owner_of(pointer)) owner->take_back(pointer);
}

Pool* pool_of(cudaMemPool_t handle) {
  return first([&](const Pool& pool) { return &pool == reinterpret_cast<Pool*>(handle); });
}

}  // namespace foretrace::runtime
