// Memory pools, and what a program may say about managed memory without changing what it computes.
//
// Models:  pools as handles with attributes; what they hand out is cudaMalloc's memory (memory.cpp). Advice and prefetches are
//          checked, kept to be told again, and have no effect: managed memory is one memory here.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/graph_memory.h"
#include "sim/runtime/device/pool.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

template <class Body>
cudaError_t pool_call(cudaMemPool_t handle, Body&& body) {
  return call([&](State& s) {
    Pool* pool = pool_of(handle);
    return pool == nullptr ? cudaErrorInvalidValue : body(s, *pool);
  });
}

cudaError_t give(cudaMemPool_t* handle, int device, Pool* pool) {
  return call([&](State&) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *handle = handle_of(pool);
    return cudaSuccess;
  });
}

/// The pools of that memory, in `place`. The host has one NUMA node here.
cudaError_t find_place(const cudaMemLocation& location, cudaMemAllocationType type, PoolPlace*& place) {
  const bool managed = type == cudaMemAllocationTypeManaged;
  if (!managed && type != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
  switch (location.type) {
    case cudaMemLocationTypeDevice:
      if (!is_device(location.id)) return cudaErrorInvalidDevice;
      place = &pools().device;
      break;
    case cudaMemLocationTypeHostNuma:
      if (location.id != 0) return cudaErrorInvalidValue;
      [[fallthrough]];
    case cudaMemLocationTypeHost: place = &pools().host; break;
    case cudaMemLocationTypeInvalid:  // managed memory that is to lie nowhere in particular
      if (!managed) return cudaErrorInvalidValue;
      break;
    default: return cudaErrorInvalidValue;
  }
  if (managed) place = &pools().managed;
  return cudaSuccess;
}

template <class Body>
cudaError_t place_call(const cudaMemLocation* location, cudaMemAllocationType type, Body&& body) {
  return call([&](State&) {
    if (location == nullptr) return cudaErrorInvalidValue;
    PoolPlace* place = nullptr;
    const cudaError_t refused = find_place(*location, type, place);
    return refused == cudaSuccess ? body(*place) : refused;
  });
}

/// Managed memory of that range.
cudaError_t managed(State& s, const void* pointer, size_t size) {
  const MemoryBlock* block = s.memory.find(pointer);
  if (block == nullptr || (block->kind != MemoryKind::managed && block->kind != MemoryKind::variable))
    return cudaErrorInvalidValue;
  return s.memory.holds(pointer, size) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t managed_list(void** pointers, const size_t* sizes, size_t count, unsigned long long flags) {
  return call([&](State& s) {
    if (flags != 0 || count == 0 || pointers == nullptr || sizes == nullptr) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (managed(s, pointers[i], sizes[i]) != cudaSuccess) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

bool is_place(const cudaMemLocation& place) {
  return place.type != cudaMemLocationTypeDevice || is_device(place.id);
}

const cudaMemLocation kNowhere{cudaMemLocationTypeInvalid, cudaInvalidDeviceId};

/// What was advised for managed memory: kept for the whole allocation, whatever part of it was named, and only to be told again.
struct Advice {
  bool read_mostly = false;
  cudaMemLocation preferred = kNowhere, prefetched = kNowhere;
  std::set<int> accessed_by;
};

Advice& advice_of(State& s, const void* managed) {
  static auto* all = new std::map<std::uint64_t, Advice>;  // by MemoryBlock::id, which no other block gets
  return (*all)[s.memory.find(managed)->id];
}

cudaError_t prefetch_list(void** pointers, const size_t* sizes, size_t count, const cudaMemLocation* places,
                          const size_t* indices, size_t kinds, unsigned long long flags) {
  const cudaError_t refused = managed_list(pointers, sizes, count, flags);
  if (refused != cudaSuccess) return refused;
  return call([&](State& s) {
    if (places == nullptr || !are_batch_kinds(indices, kinds, count)) return cudaErrorInvalidValue;
    if (!std::all_of(places, places + kinds, is_place)) return cudaErrorInvalidValue;
    for (size_t i = 0, kind = 0; i < count; ++i) {
      if (kind + 1 < kinds && indices[kind + 1] == i) ++kind;
      advice_of(s, pointers[i]).prefetched = places[kind];
    }
    return cudaSuccess;
  });
}

/// As the attributes that know devices and one host alone say it.
int device_of(const cudaMemLocation& place) {
  if (place.type == cudaMemLocationTypeDevice) return place.id;
  return place.type == cudaMemLocationTypeHost ? cudaCpuDeviceId : cudaInvalidDeviceId;
}

void take(Advice& kept, cudaMemoryAdvise advice, const cudaMemLocation& place) {
  switch (advice) {
    case cudaMemAdviseSetReadMostly: kept.read_mostly = true; break;
    case cudaMemAdviseUnsetReadMostly: kept.read_mostly = false; break;
    case cudaMemAdviseSetPreferredLocation: kept.preferred = place; break;
    case cudaMemAdviseUnsetPreferredLocation: kept.preferred = kNowhere; break;
    case cudaMemAdviseSetAccessedBy: kept.accessed_by.insert(device_of(place)); break;
    case cudaMemAdviseUnsetAccessedBy: kept.accessed_by.erase(device_of(place)); break;
  }
}

int answer(const Advice& advice, cudaMemRangeAttribute attribute) {
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly: return advice.read_mostly ? 1 : 0;
    case cudaMemRangeAttributePreferredLocation: return device_of(advice.preferred);
    case cudaMemRangeAttributeLastPrefetchLocation: return device_of(advice.prefetched);
    case cudaMemRangeAttributePreferredLocationType: return advice.preferred.type;
    case cudaMemRangeAttributePreferredLocationId: return advice.preferred.id;
    case cudaMemRangeAttributeLastPrefetchLocationType: return advice.prefetched.type;
    case cudaMemRangeAttributeLastPrefetchLocationId: return advice.prefetched.id;
    default: return cudaInvalidDeviceId;
  }
}

}  // namespace

FORETRACE_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* handle, int device) {
  return give(handle, device, &pools().device.standard);
}
FORETRACE_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* handle, int device) {
  return give(handle, device, pools().device.current);
}
FORETRACE_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  return pool_call(handle, [&](State&, Pool& pool) {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (pool.kind != MemoryKind::device) return cudaErrorInvalidValue;
    pools().device.current = &pool;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* handle, cudaMemLocation* location,
                                                   cudaMemAllocationType type) {
  return place_call(location, type, [&](PoolPlace& place) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    *handle = handle_of(&place.standard);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMemGetMemPool(cudaMemPool_t* handle, cudaMemLocation* location,
                                            cudaMemAllocationType type) {
  return place_call(location, type, [&](PoolPlace& place) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    *handle = handle_of(place.current);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                                            cudaMemPool_t handle) {
  return place_call(location, type, [&](PoolPlace& place) {
    Pool* pool = pool_of(handle);
    if (pool == nullptr || pool->kind != place.standard.kind) return cudaErrorInvalidValue;
    place.current = pool;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* handle, const cudaMemPoolProps* properties) {
  return call([&](State&) {
    if (handle == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    PoolPlace* place = nullptr;
    if (const cudaError_t refused = find_place(properties->location, properties->allocType, place);
        refused != cudaSuccess)
      return refused;
    const unsigned handles = properties->handleTypes;
    if ((handles & ~unsigned{cudaMemHandleTypePosixFileDescriptor}) != 0) return cudaErrorNotSupported;
    if (handles != 0 && place != &pools().device)
      return properties->location.type == cudaMemLocationTypeHost ? cudaErrorInvalidValue
                                                                  : cudaErrorNotSupported;
    auto made = std::make_unique<Pool>();
    made->kind = place->standard.kind;
    made->max_size = properties->maxSize;
    made->shared = handles != 0;
    *handle = handle_of(made.get());
    pools().made.push_back(std::move(made));
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return pool_call(handle, [&](State&, Pool& pool) {
    for (PoolPlace* place : {&pools().device, &pools().host, &pools().managed}) {
      if (&pool == &place->standard) return cudaErrorInvalidValue;
      if (place->current == &pool) place->current = &place->standard;
    }
    std::erase_if(pools().made, [&](const auto& made) { return made.get() == &pool; });
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t) {
  return pool_call(handle, [](State&, Pool&) { return cudaSuccess; });
}

FORETRACE_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute,
                                                  void* value) {
  return pool_call(handle, [&](State&, Pool& pool) {
    if (value == nullptr) return cudaErrorInvalidValue;
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
        pool.follow_events = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolReuseAllowOpportunistic:
        pool.opportunistic = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolReuseAllowInternalDependencies:
        pool.internal = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        pool.threshold = *static_cast<unsigned long long*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        if (*static_cast<unsigned long long*>(value) != 0) return cudaErrorInvalidValue;
        (attribute == cudaMemPoolAttrUsedMemHigh ? pool.used_high : pool.reserved_high) = pool.used;
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}
FORETRACE_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute,
                                                  void* value) {
  return pool_call(handle, [&](State&, Pool& pool) {
    if (value == nullptr) return cudaErrorInvalidValue;
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
        *static_cast<int*>(value) = pool.follow_events;
        return cudaSuccess;
      case cudaMemPoolReuseAllowOpportunistic:
        *static_cast<int*>(value) = pool.opportunistic;
        return cudaSuccess;
      case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int*>(value) = pool.internal;
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        *static_cast<unsigned long long*>(value) = pool.threshold;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemCurrent:
      case cudaMemPoolAttrUsedMemCurrent:
        *static_cast<unsigned long long*>(value) = pool.used;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
        *static_cast<unsigned long long*>(value) = pool.reserved_high;
        return cudaSuccess;
      case cudaMemPoolAttrUsedMemHigh:
        *static_cast<unsigned long long*>(value) = pool.used_high;
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}
FORETRACE_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list,
                                               size_t count) {
  return pool_call(handle, [&](State&, Pool&) {
    if (count != 0 && list == nullptr) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (!is_place(list[i].location)) return cudaErrorInvalidDevice;
    }
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                               cudaMemLocation* place) {
  return pool_call(handle, [&](State&, Pool&) {
    if (flags == nullptr || place == nullptr || !is_place(*place)) return cudaErrorInvalidValue;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                                         void* value) {
  return call([&](State& s) {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (value == nullptr) return cudaErrorInvalidValue;
    const GraphMemoryUse& use = graph_pool(s, device).use();
    auto& out = *static_cast<unsigned long long*>(value);
    switch (attribute) {
      case cudaGraphMemAttrUsedMemCurrent: out = use.used; return cudaSuccess;
      case cudaGraphMemAttrUsedMemHigh: out = use.used_high; return cudaSuccess;
      case cudaGraphMemAttrReservedMemCurrent: out = use.reserved; return cudaSuccess;
      case cudaGraphMemAttrReservedMemHigh: out = use.reserved_high; return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}
FORETRACE_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                                         void* value) {
  return call([&](State& s) {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    const bool used = attribute == cudaGraphMemAttrUsedMemHigh;
    if (!used && attribute != cudaGraphMemAttrReservedMemHigh) return cudaErrorInvalidValue;
    if (value == nullptr || *static_cast<unsigned long long*>(value) != 0) return cudaErrorInvalidValue;
    graph_pool(s, device).reset_high(used);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaDeviceGraphMemTrim(int device) {
  return call([&](State& s) {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    graph_pool(s, device).trim();
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice,
                                        cudaMemLocation place) {
  return call([&](State& s) {
    if (!is_place(place)) return cudaErrorInvalidDevice;
    const cudaError_t refused = managed(s, pointer, size);
    if (refused == cudaSuccess) take(advice_of(s, pointer), advice, place);
    return refused;
  });
}
FORETRACE_API cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, cudaMemLocation place,
                                               unsigned flags, cudaStream_t stream) {
  return call([&](State& s) {
    if (flags != 0) return cudaErrorInvalidValue;
    if (s.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    if (!is_place(place)) return cudaErrorInvalidDevice;
    const cudaError_t refused = managed(s, pointer, size);
    if (refused == cudaSuccess) advice_of(s, pointer).prefetched = place;
    return refused;
  });
}
FORETRACE_API cudaError_t cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                                    cudaMemLocation* places, size_t* indices, size_t kinds,
                                                    unsigned long long flags, cudaStream_t) {
  return prefetch_list(pointers, sizes, count, places, indices, kinds, flags);
}
FORETRACE_API cudaError_t cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count,
                                                   unsigned long long flags, cudaStream_t) {
  return managed_list(pointers, sizes, count, flags);
}
FORETRACE_API cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                                              cudaMemLocation* places, size_t* indices,
                                                              size_t kinds, unsigned long long flags,
                                                              cudaStream_t) {
  return prefetch_list(pointers, sizes, count, places, indices, kinds, flags);
}

FORETRACE_API cudaError_t cudaMemRangeGetAttribute(void* data, size_t bytes, cudaMemRangeAttribute attribute,
                                                   const void* pointer, size_t size) {
  return call([&](State& s) {
    if (data == nullptr || bytes < sizeof(int)) return cudaErrorInvalidValue;
    const cudaError_t refused = managed(s, pointer, size);
    if (refused != cudaSuccess) return refused;
    const Advice& advice = advice_of(s, pointer);
    std::vector<int> values(bytes / sizeof(int), cudaInvalidDeviceId);
    if (attribute == cudaMemRangeAttributeAccessedBy) {
      std::copy_n(advice.accessed_by.begin(), std::min(values.size(), advice.accessed_by.size()),
                  values.begin());
    } else {
      std::fill(values.begin(), values.end(), answer(advice, attribute));
    }
    std::memcpy(data, values.data(), values.size() * sizeof(int));
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMemRangeGetAttributes(void** data, size_t* bytes,
                                                    cudaMemRangeAttribute* attributes, size_t count,
                                                    const void* pointer, size_t size) {
  if (data == nullptr || bytes == nullptr || attributes == nullptr)
    return call([](State&) { return cudaErrorInvalidValue; });
  for (size_t i = 0; i < count; ++i) {
    const cudaError_t refused = cudaMemRangeGetAttribute(data[i], bytes[i], attributes[i], pointer, size);
    if (refused != cudaSuccess) return refused;
  }
  return cudaSuccess;
}
