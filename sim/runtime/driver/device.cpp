// The device: its number, name, identity and attributes.
//
// Models:  what device_attributes knows; of the attributes that the driver has and the runtime has not: what this driver provides.
#include <algorithm>
#include <cstring>

#include "sim/runtime/device/device_attributes.h"
#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

/// What a call that names a device answers when it is not ours; else what the body says.
template <class Body>
CUresult device_call(CUdevice device, Body&& body) {
  return initialised([&] { return is_device(device) ? body(state()) : CUDA_ERROR_INVALID_DEVICE; });
}

DeviceFacts facts_of(const State& s, int device = 0) {
  return {s.spec.get(), s.chip.title, s.memory.capacity(), device};
}

/// Attributes of the driver alone; empty: the runtime knows it too, or nobody.
std::optional<int> own_attribute(const State& s, CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS: return 1;
    // Nothing is compressed here.
    case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED: return static_cast<int>(s.spec->cuda.compression);
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED: return s.spec->sm_number >= 90 ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER: return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK:
    case CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH:
    case CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: return 0;
    default: return std::nullopt;
  }
}

}  // namespace

FORETRACE_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return initialised([&] {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuDeviceGetCount(int* count) {
  return initialised([&] {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = device_count();
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return device_call(device, [&](const State& s) {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::strncpy(name, s.chip.title.c_str(), static_cast<std::size_t>(length));
    name[length - 1] = '\0';
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return device_call(device, [&](const State& s) {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const cudaDeviceProp properties = device_properties(facts_of(s, device));
    std::memcpy(uuid->bytes, properties.uuid.bytes, sizeof uuid->bytes);
    return CUDA_SUCCESS;
  });
}
FORETRACE_SAME(cuDeviceGetUuid, cuDeviceGetUuid_v2);
FORETRACE_API CUresult cuDeviceGetLuid(char*, unsigned*, CUdevice device) {
  return device_call(device, [](const State&) { return CUDA_ERROR_NOT_SUPPORTED; });
}
FORETRACE_API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return device_call(device, [&](const State& s) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = s.memory.capacity();
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return device_call(device, [&](const State& s) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::optional<int> found = own_attribute(s, attribute);
    if (!found) found = device_attribute(facts_of(s, device), static_cast<cudaDeviceAttr>(attribute));
    if (!found) return CUDA_ERROR_INVALID_VALUE;
    *value = *found;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return device_call(device, [&](const State& s) {
    if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *major = s.spec->sm_number / 10;
    *minor = s.spec->sm_number % 10;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return device_call(device, [&](const State& s) {
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const cudaDeviceProp p = device_properties(facts_of(s));
    std::memset(properties, 0, sizeof *properties);
    properties->maxThreadsPerBlock = p.maxThreadsPerBlock;
    std::copy(std::begin(p.maxThreadsDim), std::end(p.maxThreadsDim), properties->maxThreadsDim);
    std::copy(std::begin(p.maxGridSize), std::end(p.maxGridSize), properties->maxGridSize);
    properties->sharedMemPerBlock = static_cast<int>(p.sharedMemPerBlock);
    properties->totalConstantMemory = static_cast<int>(p.totalConstMem);
    properties->SIMDWidth = p.warpSize;
    properties->memPitch = static_cast<int>(p.memPitch);
    properties->regsPerBlock = p.regsPerBlock;
    properties->clockRate = device_attribute(facts_of(s), cudaDevAttrClockRate).value_or(0);
    properties->textureAlign = static_cast<int>(p.textureAlignment);
    return CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return initialised([&] { return cudaDeviceGetByPCIBusId(device, id); });
}
FORETRACE_API CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return initialised([&] { return cudaDeviceGetPCIBusId(id, length, device); });
}
FORETRACE_API CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return initialised([&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}
FORETRACE_API CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from,
                                               CUdevice to) {
  return initialised(
      [&] { return cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(attribute), from, to); });
}
FORETRACE_API CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice device) {
  return device_call(device, [&](const State&) {
    if (supported == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *supported = 0;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget,
                                                  CUflushGPUDirectRDMAWritesScope) {
  return in_context([] { return CUDA_ERROR_NOT_SUPPORTED; });
}

FORETRACE_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return initialised([&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}
FORETRACE_API CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return initialised([&] { return cudaDeviceGetMemPool(pool, device); });
}
FORETRACE_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return initialised([&] { return cudaDeviceSetMemPool(device, pool); });
}
FORETRACE_API CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                                    void* value) {
  return initialised([&] {
    return cudaDeviceGetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(attribute), value);
  });
}
FORETRACE_API CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                                    void* value) {
  return initialised([&] {
    return cudaDeviceSetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(attribute), value);
  });
}
FORETRACE_API CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return initialised([&] { return cudaDeviceGraphMemTrim(device); });
}
