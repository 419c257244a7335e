// Virtual memory management: cuMemAddressReserve, cuMemCreate, cuMemMap and their relatives.
#include <fcntl.h>

#include <unordered_map>

#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

struct Handle {
  std::shared_ptr<PhysicalMemory> physical;
  CUmemAllocationProp properties{};
  unsigned count = 1;  // cuMemCreate and cuMemRetainAllocationHandle without cuMemRelease
};

std::unordered_map<CUmemGenericAllocationHandle, Handle>& handles() {
  static auto* all = new std::unordered_map<CUmemGenericAllocationHandle, Handle>;
  return *all;
}
CUmemGenericAllocationHandle last_handle = 0;

/// Null for a handle that is none.
Handle* find(CUmemGenericAllocationHandle handle) {
  const auto found = handles().find(handle);
  return found == handles().end() ? nullptr : &found->second;
}

bool whole(std::uint64_t size) { return size != 0 && size % VirtualMemory::kGranule == 0; }

/// What this device makes: pinned memory of its own. Whether it is to be shared is for later: see below.
CUresult check(const CUmemAllocationProp* properties) {
  if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  if (!is_device(properties->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  const unsigned others = static_cast<unsigned>(properties->requestedHandleTypes) &
                          ~unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
  return others == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult value_unless(bool done) { return done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

}  // namespace

FORETRACE_API CUresult cuMemGetAllocationGranularity(size_t* granularity,
                                                     const CUmemAllocationProp* properties,
                                                     CUmemAllocationGranularity_flags option) {
  return initialised([&]() -> CUresult {
    if (granularity == nullptr || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
      return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult refused = check(properties); refused != CUDA_SUCCESS) return refused;
    *granularity = VirtualMemory::kGranule;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuMemAddressReserve(CUdeviceptr* out, size_t size, size_t alignment,
                                           CUdeviceptr wanted, unsigned long long flags) {
  return with_state([&](State& s) -> CUresult {
    const bool power = (alignment & (alignment - 1)) == 0;
    if (out == nullptr || !whole(size) || !power || alignment > VirtualMemory::kGranule || flags != 0)
      return CUDA_ERROR_INVALID_VALUE;
    *out = s.virtual_memory.reserve(size, wanted);
    return *out == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuMemAddressFree(CUdeviceptr where, size_t size) {
  return with_state([&](State& s) { return value_unless(s.virtual_memory.free(where, size)); });
}
FORETRACE_API CUresult cuMemCreate(CUmemGenericAllocationHandle* out, size_t size,
                                   const CUmemAllocationProp* properties, unsigned long long flags) {
  return with_state([&](State& s) -> CUresult {
    if (out == nullptr || !whole(size) || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult refused = check(properties); refused != CUDA_SUCCESS) return refused;
    auto physical = PhysicalMemory::make(s.memory, size);
    if (physical == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = ++last_handle;
    handles()[*out] = {std::move(physical), *properties, 1};
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return with_state([&](State&) -> CUresult {
    Handle* found = find(handle);
    if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (--found->count == 0) handles().erase(handle);
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuMemMap(CUdeviceptr where, size_t size, size_t offset,
                                CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return with_state([&](State& s) -> CUresult {
    const Handle* found = find(handle);
    if (found == nullptr || !whole(size) || where % VirtualMemory::kGranule != 0 || flags != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (offset % VirtualMemory::kGranule != 0) return CUDA_ERROR_INVALID_VALUE;
    return value_unless(s.virtual_memory.map(where, size, offset, found->physical));
  });
}
FORETRACE_API CUresult cuMemUnmap(CUdeviceptr where, size_t size) {
  return with_state([&](State& s) { return value_unless(s.virtual_memory.unmap(where, size)); });
}
FORETRACE_API CUresult cuMemSetAccess(CUdeviceptr where, size_t size, const CUmemAccessDesc* access,
                                      size_t count) {
  return with_state([&](State& s) -> CUresult {
    if (access == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    bool reachable = false;
    for (size_t i = 0; i < count; ++i) {
      if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
      if (!is_device(access[i].location.id)) return CUDA_ERROR_INVALID_DEVICE;
      reachable = access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    }
    return value_unless(s.virtual_memory.set_access(where, size, reachable));
  });
}
FORETRACE_API CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                                      CUdeviceptr where) {
  return with_state([&](State& s) -> CUresult {
    if (flags == nullptr || location == nullptr || s.virtual_memory.physical_at(where) == nullptr)
      return CUDA_ERROR_INVALID_VALUE;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id != 0) return CUDA_ERROR_INVALID_DEVICE;
    *flags = s.virtual_memory.reachable(where) ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                               : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* where) {
  return with_state([&](State& s) -> CUresult {
    const auto physical = s.virtual_memory.physical_at(address(where));
    if (out == nullptr || physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (auto& [handle, what] : handles()) {
      if (what.physical != physical) continue;
      ++what.count;
      *out = handle;
      return CUDA_SUCCESS;
    }
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    *out = ++last_handle;
    handles()[*out] = {physical, properties, 1};
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                              CUmemGenericAllocationHandle handle) {
  return with_state([&](State&) -> CUresult {
    const Handle* found = find(handle);
    if (properties == nullptr || found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *properties = found->properties;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuMemExportToShareableHandle(void* out, CUmemGenericAllocationHandle handle,
                                                    CUmemAllocationHandleType type,
                                                    unsigned long long flags) {
  return with_state([&](State&) -> CUresult {
    const Handle* found = find(handle);
    if (out == nullptr || found == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
    if (found->properties.requestedHandleTypes != type) return CUDA_ERROR_INVALID_VALUE;
    const int copy = fcntl(found->physical->file(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return CUDA_ERROR_OPERATING_SYSTEM;
    *static_cast<int*>(out) = copy;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* out, void* descriptor,
                                                      CUmemAllocationHandleType type) {
  return with_state([&](State& s) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
    auto physical =
        PhysicalMemory::import(s.memory, static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)));
    if (physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = type;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    *out = ++last_handle;
    handles()[*out] = {std::move(physical), properties, 1};
    return CUDA_SUCCESS;
  });
}
