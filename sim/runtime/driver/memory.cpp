// Allocating and freeing memory, pools, and what a pointer is.
#include <bit>
#include <cstring>

#include "sim/runtime/device/pool.h"
#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

/// What the runtime allocates, as an address.
template <class Allocate>
CUresult allocate(CUdeviceptr* out, size_t size, Allocate&& body) {
  return in_context([&]() -> CUresult {
    if (out == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
    void* made = nullptr;
    const cudaError_t result = body(&made);
    if (result == cudaSuccess) *out = address(made);
    return result_of(result);
  });
}

/// The attribute's value for the block, written to `data`.
CUresult attribute_of(const MemoryBlock& block, CUdeviceptr given, CUpointer_attribute attribute,
                      void* data) {
  const auto put = [&](auto value) {
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  const bool host = block.kind == MemoryKind::host || block.kind == MemoryKind::registered;
  const bool managed = block.kind == MemoryKind::managed;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put(&contexts().primary[static_cast<std::size_t>(block.device)].context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(unsigned{host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE});
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put(given);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!host && !managed) return CUDA_ERROR_INVALID_VALUE;
      return put(given);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return put(0u);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return put(static_cast<unsigned long long>(block.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return put(managed ? 1u : 0u);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(0);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return put(0u);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return put(static_cast<CUdeviceptr>(block.address));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put(static_cast<size_t>(block.size));
    case CU_POINTER_ATTRIBUTE_MAPPED: return put(1u);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return put(std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return put(0u);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return put(unsigned{CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE});
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return put(CUmemoryPool{nullptr});
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

FORETRACE_API CUresult cuMemGetInfo_v2(size_t* available, size_t* total) {
  return in_context([&] { return cudaMemGetInfo(available, total); });
}
FORETRACE_API CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t size) {
  return allocate(out, size, [&](void** made) { return cudaMalloc(made, size); });
}
FORETRACE_API CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height,
                                          unsigned element) {
  if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
  return allocate(out, width * height,
                  [&](void** made) { return cudaMallocPitch(made, pitch, width, height); });
}
FORETRACE_API CUresult cuMemAllocManaged(CUdeviceptr* out, size_t size, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
    return CUDA_ERROR_INVALID_VALUE;
  return allocate(out, size, [&](void** made) { return cudaMallocManaged(made, size, flags); });
}
FORETRACE_API CUresult cuMemFree_v2(CUdeviceptr where) {
  return in_context([&] { return cudaFree(pointer(where)); });
}
FORETRACE_API CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr where) {
  return with_state([&](State& s) {
    const MemoryBlock* block = s.memory.known(pointer(where));
    if (block == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = block->address;
    if (size != nullptr) *size = block->size;
    return CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuMemHostAlloc(void** out, size_t size, unsigned flags) {
  return in_context([&] { return size == 0 ? cudaErrorInvalidValue : cudaHostAlloc(out, size, flags); });
}
FORETRACE_API CUresult cuMemAllocHost_v2(void** out, size_t size) { return cuMemHostAlloc(out, size, 0); }
FORETRACE_API CUresult cuMemFreeHost(void* where) {
  return in_context([&] { return where == nullptr ? cudaErrorInvalidValue : cudaFreeHost(where); });
}
FORETRACE_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* host, unsigned flags) {
  return in_context([&]() -> CUresult {
    void* device = nullptr;
    const cudaError_t result =
        out == nullptr ? cudaErrorInvalidValue : cudaHostGetDevicePointer(&device, host, flags);
    if (result == cudaSuccess) *out = address(device);
    return result_of(result);
  });
}
FORETRACE_API CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return in_context([&] { return cudaHostGetFlags(flags, host); });
}
FORETRACE_API CUresult cuMemHostRegister_v2(void* where, size_t size, unsigned flags) {
  return in_context([&] { return cudaHostRegister(where, size, flags); });
}
FORETRACE_SAME(cuMemHostRegister, cuMemHostRegister_v2);
FORETRACE_API CUresult cuMemHostUnregister(void* where) {
  return in_context([&] { return cudaHostUnregister(where); });
}

FORETRACE_API CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr where) {
  return with_state([&](State& s) {
    if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const MemoryBlock* block = s.memory.find(pointer(where));
    return block == nullptr ? CUDA_ERROR_INVALID_VALUE : attribute_of(*block, where, attribute, data);
  });
}
FORETRACE_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                              CUdeviceptr where) {
  return with_state([&](State& s) {
    if (count == 0 || attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const MemoryBlock* block = s.memory.find(pointer(where));
    for (unsigned i = 0; i < count; ++i) {
      // What the pointer does not have is null.
      const CUpointer_attribute attribute = attributes[i];
      const bool wide =
          attribute == CU_POINTER_ATTRIBUTE_CONTEXT || attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
          attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER || attribute == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
          attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
          attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE ||
          attribute == CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES ||
          attribute == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
      if (data[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      std::memset(data[i], 0, wide ? 8 : 4);
      if (block == nullptr && attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
        const int none = -2;  // CU_DEVICE_INVALID
        std::memcpy(data[i], &none, sizeof none);
      }
      if (block != nullptr) (void)attribute_of(*block, where, attribute, data[i]);
    }
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                                             CUdeviceptr where) {
  return with_state([&](State& s) {
    if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
    return s.memory.find(pointer(where)) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuMemAdvise_v2(CUdeviceptr where, size_t size, CUmem_advise advice,
                                      CUmemLocation place) {
  const cudaMemLocation location{static_cast<cudaMemLocationType>(place.type), place.id};
  return in_context(
      [&] { return cudaMemAdvise(pointer(where), size, static_cast<cudaMemoryAdvise>(advice), location); });
}
FORETRACE_API CUresult cuMemAdvise(CUdeviceptr where, size_t size, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(
      where, size, advice,
      {device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, {device}});
}
FORETRACE_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr where, size_t size, CUmemLocation place,
                                             unsigned flags, CUstream stream) {
  const cudaMemLocation location{static_cast<cudaMemLocationType>(place.type), place.id};
  return in_context([&] { return cudaMemPrefetchAsync(pointer(where), size, location, flags, stream); });
}
FORETRACE_API CUresult cuMemPrefetchAsync(CUdeviceptr where, size_t size, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync_v2(
      where, size,
      {device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, {device}}, 0,
      stream);
}
FORETRACE_API CUresult cuMemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute,
                                              CUdeviceptr where, size_t count) {
  return in_context([&] {
    return cudaMemRangeGetAttribute(data, size, static_cast<cudaMemRangeAttribute>(attribute), pointer(where),
                                    count);
  });
}
FORETRACE_API CUresult cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes,
                                               size_t number, CUdeviceptr where, size_t count) {
  return in_context([&] {
    return cudaMemRangeGetAttributes(data, sizes, reinterpret_cast<cudaMemRangeAttribute*>(attributes),
                                     number, pointer(where), count);
  });
}

FORETRACE_API CUresult cuMemAllocAsync(CUdeviceptr* out, size_t size, CUstream stream) {
  if (out != nullptr && size == 0) {
    return in_context([&] {
      *out = 0;  // nothing, and no error, as an H100 answers
      return CUDA_SUCCESS;
    });
  }
  return allocate(out, size, [&](void** made) { return cudaMallocAsync(made, size, stream); });
}
FORETRACE_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t size, CUmemoryPool pool,
                                               CUstream stream) {
  return allocate(out, size, [&](void** made) { return cudaMallocFromPoolAsync(made, size, pool, stream); });
}
FORETRACE_API CUresult cuMemFreeAsync(CUdeviceptr where, CUstream stream) {
  return in_context([&] { return cudaFreeAsync(pointer(where), stream); });
}

FORETRACE_API CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
  return initialised(
      [&] { return cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties)); });
}
FORETRACE_API CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return initialised([&] { return cudaMemPoolDestroy(pool); });
}
FORETRACE_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t size) {
  return initialised([&] { return cudaMemPoolTrimTo(pool, size); });
}
FORETRACE_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return initialised(
      [&] { return cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value); });
}
FORETRACE_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return initialised(
      [&] { return cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value); });
}
FORETRACE_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list, size_t count) {
  return initialised(
      [&] { return cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(list), count); });
}
FORETRACE_API CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* place) {
  return initialised([&] {
    return cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags*>(flags), pool,
                                reinterpret_cast<cudaMemLocation*>(place));
  });
}
FORETRACE_API CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr where) {
  return in_context(
      [&] { return cudaIpcGetMemHandle(reinterpret_cast<cudaIpcMemHandle_t*>(handle), pointer(where)); });
}
FORETRACE_API CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return in_context(
      [&] { return cudaIpcGetEventHandle(reinterpret_cast<cudaIpcEventHandle_t*>(handle), event); });
}
FORETRACE_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* where, CUipcMemHandle handle, unsigned flags) {
  return in_context([&] {
    return cudaIpcOpenMemHandle(reinterpret_cast<void**>(where), std::bit_cast<cudaIpcMemHandle_t>(handle),
                                flags);
  });
}
FORETRACE_SAME(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2);
FORETRACE_API CUresult cuIpcCloseMemHandle(CUdeviceptr where) {
  return in_context([&] { return cudaIpcCloseMemHandle(pointer(where)); });
}
FORETRACE_API CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return in_context(
      [&] { return cudaIpcOpenEventHandle(event, std::bit_cast<cudaIpcEventHandle_t>(handle)); });
}
FORETRACE_API CUresult cuMemPoolExportToShareableHandle(void* descriptor, CUmemoryPool pool,
                                                        CUmemAllocationHandleType type,
                                                        unsigned long long flags) {
  return initialised([&] {
    return cudaMemPoolExportToShareableHandle(
        descriptor, pool, static_cast<cudaMemAllocationHandleType>(type), static_cast<unsigned>(flags));
  });
}
FORETRACE_API CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* descriptor,
                                                          CUmemAllocationHandleType type,
                                                          unsigned long long flags) {
  return initialised([&] {
    return cudaMemPoolImportFromShareableHandle(
        pool, descriptor, static_cast<cudaMemAllocationHandleType>(type), static_cast<unsigned>(flags));
  });
}
FORETRACE_API CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr where) {
  return initialised([&] {
    return cudaMemPoolExportPointer(reinterpret_cast<cudaMemPoolPtrExportData*>(data), pointer(where));
  });
}
FORETRACE_API CUresult cuMemPoolImportPointer(CUdeviceptr* where, CUmemoryPool pool,
                                              CUmemPoolPtrExportData* data) {
  return initialised([&] {
    return cudaMemPoolImportPointer(reinterpret_cast<void**>(where), pool,
                                    reinterpret_cast<cudaMemPoolPtrExportData*>(data));
  });
}
