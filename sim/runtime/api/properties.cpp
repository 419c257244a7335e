// The devices: their number, properties, attributes, flags, peers. All are of one chip.
#include <cstring>

#include <cuda_profiler_api.h>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/device_attributes.h"
#include "sim/runtime/device/launch_attributes.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

DeviceFacts facts_of(const State& s, int device) {
  return {s.spec.get(), s.chip.title, s.memory.capacity(), device};
}

/// What a call that names a device answers when it is not ours; the body is run when it is.
template <class Body>
cudaError_t device_call(int device, Body&& body) {
  return call([&](State& s) { return is_device(device) ? body(s) : cudaErrorInvalidDevice; });
}

}  // namespace

FORETRACE_API cudaError_t cudaGetDeviceCount(int* count) {
  return call([&](State&) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = device_count();
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGetDevice(int* device) {
  return call([&](State&) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = current_device();
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaSetDevice(int device) {
  return device_call(device, [&](State&) {
    if (device != current_device()) use_device(device);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return device_call(device, [](State&) { return cudaSuccess; });
}

FORETRACE_API cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call([&](State&) {
    if (count < 0 || (count > 0 && devices == nullptr)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i) {
      if (!is_device(devices[i])) return cudaErrorInvalidDevice;
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
    *properties = device_properties(facts_of(s, device));
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return device_call(device, [&](State& s) {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto known = device_attribute(facts_of(s, device), attribute);
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
    const std::string id = bus_id(device);
    if (text == nullptr || size <= static_cast<int>(id.size())) return cudaErrorInvalidValue;
    std::strcpy(text, id.c_str());
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call([&](State&) {
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    for (int i = 0; i < device_count(); ++i) {
      if (bus_id(i) != text) continue;
      *device = i;
      return cudaSuccess;
    }
    return cudaErrorInvalidDevice;
  });
}

// Peers: each device reaches every other, and is no peer of itself.
FORETRACE_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return device_call(device, [&](State&) {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (!is_device(peer)) return cudaErrorInvalidDevice;
    *can = peer != device ? 1 : 0;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return device_call(peer, [&](State& s) {
    if (flags != 0) return cudaErrorInvalidValue;
    if (peer == current_device()) return cudaErrorInvalidDevice;
    return s.peers.insert({current_device(), peer}).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}
FORETRACE_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return device_call(peer, [&](State& s) {
    return s.peers.erase({current_device(), peer}) != 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}
FORETRACE_API cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from,
                                                    int to) {
  return device_call(from, [&](State&) {
    if (value == nullptr || attribute < cudaDevP2PAttrPerformanceRank) return cudaErrorInvalidValue;
    if (!is_device(to) || from == to) return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevP2PAttrPerformanceRank: *value = 0; break;
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
      case cudaDevP2PAttrCudaArrayAccessSupported: *value = 1; break;
      default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

// Writes of other devices: an answer that programs have to be ready for.
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
