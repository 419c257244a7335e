// The device: its number, properties, attributes, flags, peers. There is one, with ordinal 0.
#include <cstring>

#include <cuda_profiler_api.h>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/device_attributes.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

constexpr const char* kBusId = "0000:00:00.0";
constexpr int kGreatestPriority = -5;

DeviceFacts facts_of(const State& s) { return {s.spec.get(), s.chip.title, s.memory.capacity()}; }

/// What a call that names a device answers when it is not ours; the body is run when it is.
template <class Body>
cudaError_t device_call(int device, Body&& body) {
  return call([&](State& s) { return device == 0 ? body(s) : cudaErrorInvalidDevice; });
}

}  // namespace

FORETRACE_API cudaError_t cudaGetDeviceCount(int* count) {
  return call([&](State&) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGetDevice(int* device) {
  return call([&](State&) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaSetDevice(int device) {
  return device_call(device, [](State&) { return cudaSuccess; });
}
FORETRACE_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }

FORETRACE_API cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call([&](State&) {
    if (count < 0 || (count > 0 && devices == nullptr)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i) {
      if (devices[i] != 0) return cudaErrorInvalidDevice;
    }
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  return call([&](State&) {
    if (device == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return device_call(device, [&](State& s) {
    if (properties == nullptr) return cudaErrorInvalidValue;
    *properties = device_properties(facts_of(s));
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return device_call(device, [&](State& s) {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto known = device_attribute(facts_of(s), attribute);
    if (!known) return cudaErrorInvalidValue;
    *value = *known;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call([&](State& s) {
    if ((flags & ~unsigned{cudaDeviceMask}) != 0) return cudaErrorInvalidValue;
    s.choices.flags = flags;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call([&](State& s) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = s.choices.flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache preference) {
  return call([&](State& s) {
    s.choices.cache = preference;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preference) {
  return call([&](State& s) {
    if (preference == nullptr) return cudaErrorInvalidValue;
    *preference = s.choices.cache;
    return cudaSuccess;
  });
}

// Banks of shared memory are four bytes wide on every chip of these compute capabilities: a wish is heard and has no effect.
FORETRACE_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return call([](State&) { return cudaSuccess; });
}
FORETRACE_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return call([&](State&) {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](State&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return device_call(device, [&](State&) {
    if (text == nullptr || size <= static_cast<int>(std::strlen(kBusId))) return cudaErrorInvalidValue;
    std::strcpy(text, kBusId);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call([&](State&) {
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    if (std::strcmp(text, kBusId) != 0) return cudaErrorInvalidDevice;
    *device = 0;
    return cudaSuccess;
  });
}

// Peers: a device is not a peer of itself, and there is no other.
FORETRACE_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return device_call(device, [&](State&) {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (peer != 0) return cudaErrorInvalidDevice;
    *can = 0;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return call([](State&) { return cudaErrorInvalidDevice; });
}
FORETRACE_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return device_call(peer, [](State&) { return cudaErrorPeerAccessNotEnabled; });
}
FORETRACE_API cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return call([](State&) { return cudaErrorInvalidDevice; });
}

// Sharing with other processes, and writes of other devices: an answer that programs have to be ready for.
FORETRACE_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return call([](State&) { return cudaErrorNotSupported; });
}
FORETRACE_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return call([](State&) { return cudaErrorNotSupported; });
}
FORETRACE_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
  return call([](State&) { return cudaErrorNotSupported; });
}
FORETRACE_API cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) {
  return call([](State&) { return cudaErrorNotSupported; });
}
FORETRACE_API cudaError_t cudaIpcCloseMemHandle(void*) {
  return call([](State&) { return cudaErrorNotSupported; });
}
FORETRACE_API cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                                             cudaFlushGPUDirectRDMAWritesScope) {
  return call([](State&) { return cudaErrorNotSupported; });
}

FORETRACE_API cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([](State&) { return cudaSuccess; });
}

FORETRACE_API cudaError_t cudaProfilerStart() {
  return call([](State&) { return cudaSuccess; });
}
FORETRACE_API cudaError_t cudaProfilerStop() {
  return call([](State&) { return cudaSuccess; });
}

FORETRACE_API cudaError_t cudaRuntimeGetVersion(int* version) {
  return call([&](State&) {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
