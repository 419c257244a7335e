// libnvidia-ml.so.1: what programs ask about the machine before they start.
//
// Models:  devices of one chip without displays or other users; its memory as the program's own allocations leave it; clocks of the
//          config. What would need a GPU that works (power, temperature, utilisation) is "not supported".
// Source:  NVML API Reference Guide for the functions' forms and codes.
#include "sim/runtime/management/nvml.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "sim/runtime/device/context.h"
#include "sim/runtime/device/device_attributes.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;
using nvml::Device, nvml::Memory, nvml::Pci, nvml::PciExt;

namespace {

enum Code : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
};

constexpr unsigned kMostDevices = 64;
constexpr int kCudaVersion = 13000;
constexpr const char* kDriverVersion = "580.00";

int users = 0;               // nvmlInit without nvmlShutdown
char handles[kMostDevices];  // their addresses are the devices' handles

/// Its ordinal; negative: no handle of ours.
int number_of(Device device) {
  for (int i = 0; i < device_count(); ++i) {
    if (device == &handles[i]) return i;
  }
  return -1;
}

template <class Body>
int call_initialised(Body&& body) {
  if (users == 0) return kUninitialized;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return body(s);
}

template <class Body>
int device_call(Device device, Body&& body) {
  return call_initialised([&](State& s) { return number_of(device) >= 0 ? body(s) : int{kInvalidArgument}; });
}

int give_text(const std::string& text, char* out, unsigned room) {
  if (out == nullptr) return kInvalidArgument;
  if (text.size() + 1 > room) return kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

template <class T>
int give(T* out, T value) {
  if (out == nullptr) return kInvalidArgument;
  *out = value;
  return kSuccess;
}

std::string uuid_of(const State& s, int number) {
  const cudaDeviceProp p = device_properties({s.spec.get(), s.chip.title, s.memory.capacity(), number});
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(p.uuid.bytes[i]));
  }
  return text;
}

int attribute(const State& s, cudaDeviceAttr which) {
  return device_attribute({s.spec.get(), s.chip.title, s.memory.capacity()}, which).value_or(0);
}

/// The first device for which `is_it` holds.
template <class Is>
int give_device(Device* out, Is&& is_it) {
  if (out == nullptr) return kInvalidArgument;
  for (int i = 0; i < device_count(); ++i) {
    if (!is_it(i)) continue;
    *out = &handles[i];
    return kSuccess;
  }
  return kNotFound;
}

struct MemoryV2 {  // nvmlMemory_v2_t
  unsigned version;
  unsigned long long total, reserved, free, used;
};

/// In MHz; the graphics, SM and video clocks are one, number 2 is the memory's.
unsigned clock_of(const State& s, int type) {
  return static_cast<unsigned>((type == 2 ? s.spec->clock.dram : s.spec->clock.sm) / 1000000);
}

}  // namespace

NVML_API int nvmlInitWithFlags(unsigned) {
  (void)state();
  ++users;
  return kSuccess;
}
NVML_API int nvmlInit_v2() { return nvmlInitWithFlags(0); }
NVML_API int nvmlInit() { return nvmlInitWithFlags(0); }
NVML_API int nvmlShutdown() {
  if (users == 0) return kUninitialized;
  --users;
  return kSuccess;
}
NVML_API const char* nvmlErrorString(int code) {
  switch (code) {
    case kSuccess: return "Success";
    case kUninitialized: return "Uninitialized";
    case kInvalidArgument: return "Invalid Argument";
    case kNotSupported: return "Not Supported";
    case kNotFound: return "Not Found";
    case kInsufficientSize: return "Insufficient Size";
    default: return "Unknown Error";
  }
}

NVML_API int nvmlSystemGetDriverVersion(char* text, unsigned room) {
  return call_initialised([&](State&) { return give_text(kDriverVersion, text, room); });
}
NVML_API int nvmlSystemGetNVMLVersion(char* text, unsigned room) {
  return call_initialised(
      [&](State&) { return give_text(fmt::format("13.{}", kDriverVersion), text, room); });
}
NVML_API int nvmlSystemGetCudaDriverVersion(int* version) {
  return call_initialised([&](State&) { return give(version, kCudaVersion); });
}
NVML_API int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

NVML_API int nvmlDeviceGetCount_v2(unsigned* count) {
  return call_initialised([&](State&) { return give(count, static_cast<unsigned>(device_count())); });
}
NVML_API int nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }
NVML_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  return call_initialised([&](State&) {
    return index >= static_cast<unsigned>(device_count())
               ? int{kInvalidArgument}
               : give_device(device, [&](int i) { return static_cast<unsigned>(i) == index; });
  });
}
NVML_API int nvmlDeviceGetHandleByIndex(unsigned index, Device* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}
NVML_API int nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  return call_initialised([&](State& s) {
    if (uuid == nullptr) return int{kInvalidArgument};
    // cuda.core gives it without "GPU-".
    return give_device(
        device, [&](int i) { return uuid_of(s, i) == uuid || uuid_of(s, i) == std::string("GPU-") + uuid; });
  });
}
NVML_API int nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device* device) {
  return call_initialised([&](State&) {
    if (id == nullptr) return int{kInvalidArgument};
    // Domains are written with four digits or with eight.
    return give_device(device, [&](int i) { return id == bus_id(i) || id == "0000" + bus_id(i); });
  });
}
NVML_API int nvmlDeviceGetHandleByPciBusId(const char* id, Device* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

NVML_API int nvmlDeviceGetName(Device device, char* text, unsigned room) {
  return device_call(device, [&](State& s) { return give_text(s.chip.title, text, room); });
}
NVML_API int nvmlDeviceGetUUID(Device device, char* text, unsigned room) {
  return device_call(device, [&](State& s) { return give_text(uuid_of(s, number_of(device)), text, room); });
}
NVML_API int nvmlDeviceGetIndex(Device device, unsigned* index) {
  return device_call(device, [&](State&) { return give(index, static_cast<unsigned>(number_of(device))); });
}
NVML_API int nvmlDeviceGetMinorNumber(Device device, unsigned* number) {
  return device_call(device, [&](State&) { return give(number, static_cast<unsigned>(number_of(device))); });
}
NVML_API int nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  return device_call(device, [&](State& s) {
    const std::uint64_t used = s.memory.used(number_of(device));
    return give(memory, Memory{s.memory.capacity(), s.memory.capacity() - used, used});
  });
}
NVML_API int nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory) {
  return device_call(device, [&](State& s) {
    if (memory == nullptr) return int{kInvalidArgument};
    const std::uint64_t used = s.memory.used(number_of(device));
    return give(memory, MemoryV2{memory->version, s.memory.capacity(), 0, s.memory.capacity() - used, used});
  });
}
NVML_API int nvmlDeviceGetPciInfo_v3(Device device, Pci* pci) {
  return device_call(device, [&](State&) {
    if (pci == nullptr) return int{kInvalidArgument};
    *pci = {};
    pci->bus = static_cast<unsigned>(number_of(device));
    std::strcpy(pci->bus_id_legacy, bus_id(number_of(device)).c_str());
    std::strcpy(pci->bus_id, ("0000" + bus_id(number_of(device))).c_str());
    return int{kSuccess};
  });
}
// The older structure ends after the subsystem's number, with 16 bytes that nobody reads.
NVML_API int nvmlDeviceGetPciInfo_v2(Device device, Pci* pci) {
  Pci whole{};
  const int code = nvmlDeviceGetPciInfo_v3(device, pci == nullptr ? nullptr : &whole);
  if (code == kSuccess) std::memcpy(pci, &whole, offsetof(Pci, bus_id));
  return code;
}
NVML_API int nvmlDeviceGetPciInfo(Device device, Pci* pci) { return nvmlDeviceGetPciInfo_v2(device, pci); }
NVML_API int nvmlDeviceGetPciInfoExt(Device device, PciExt* pci) {
  return device_call(device, [&](State&) {
    if (pci == nullptr) return int{kInvalidArgument};
    *pci = {pci->version, 0, static_cast<unsigned>(number_of(device)), 0, 0, 0, 0, 0, {}};
    const std::string id = "0000" + bus_id(number_of(device));
    std::memcpy(pci->bus_id, id.c_str(), std::min(id.size(), sizeof pci->bus_id - 1));  // the rest is 0
    return int{kSuccess};
  });
}
NVML_API int nvmlDeviceGetClockInfo(Device device, int type, unsigned* clock) {
  return device_call(device, [&](State& s) {
    return type < 0 || type > 3 ? int{kInvalidArgument} : give(clock, clock_of(s, type));
  });
}
NVML_API int nvmlDeviceGetMaxClockInfo(Device device, int type, unsigned* clock) {
  return nvmlDeviceGetClockInfo(device, type, clock);
}
NVML_API int nvmlDeviceGetApplicationsClock(Device device, int type, unsigned* clock) {
  return nvmlDeviceGetClockInfo(device, type, clock);
}
NVML_API int nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  return device_call(device, [&](State& s) {
    if (major == nullptr || minor == nullptr) return int{kInvalidArgument};
    *major = s.spec->sm_number / 10;
    *minor = s.spec->sm_number % 10;
    return int{kSuccess};
  });
}
/// nvml.h's NVML_DEVICE_ARCH_...
NVML_API int nvmlDeviceGetArchitecture(Device device, unsigned* architecture) {
  constexpr unsigned kAmpere = 7, kAda = 8, kHopper = 9, kBlackwell = 10;
  return device_call(device, [&](State& s) {
    const int sm = s.spec->sm_number;
    return give(architecture, sm < 89 ? kAmpere : sm == 89 ? kAda : sm < 100 ? kHopper : kBlackwell);
  });
}
NVML_API int nvmlDeviceGetMemoryBusWidth(Device device, unsigned* bits) {
  return device_call(device, [&](State& s) {
    return give(bits, static_cast<unsigned>(attribute(s, cudaDevAttrGlobalMemoryBusWidth)));
  });
}
NVML_API int nvmlDeviceGetMultiGpuBoard(Device device, unsigned* is_one) {
  return device_call(device, [&](State&) { return give(is_one, 0u); });
}
NVML_API int nvmlDeviceGetComputeMode(Device device, int* mode) {
  return device_call(device, [&](State&) { return give(mode, 0); });
}
NVML_API int nvmlDeviceGetPersistenceMode(Device device, int* mode) {
  return device_call(device, [&](State&) { return give(mode, 1); });
}
NVML_API int nvmlDeviceGetMigMode(Device device, unsigned* now, unsigned* then) {
  return device_call(device, [&](State&) {
    if (then != nullptr) *then = 0;
    return give(now, 0u);
  });
}
NVML_API int nvmlDeviceGetTopologyCommonAncestor(Device device, Device other, int* level) {
  constexpr int kInternal = 0, kSystem = 50;  // nvmlGpuTopologyLevel_t
  return device_call(device, [&](State&) {
    return number_of(other) < 0 ? int{kInvalidArgument} : give(level, other == device ? kInternal : kSystem);
  });
}
/// As the runtime has peers: each device reaches every other, with atomics; links have no state of their own.
NVML_API int nvmlDeviceGetP2PStatus(Device device, Device other, int what, int* status) {
  constexpr int kNvLink = 2, kPci = 4;  // nvmlGpuP2PCapsIndex_t; before and between: reads, writes, atomics
  constexpr int kWorks = 0, kNotThisWay = 5;  // nvmlGpuP2PStatus_t
  return device_call(device, [&](State&) {
    if (number_of(other) < 0 || what < 0 || what > kPci) return int{kInvalidArgument};
    return give(status, what == kNvLink ? kNotThisWay : kWorks);
  });
}
NVML_API int nvmlDeviceGetNvLinkState(Device device, unsigned, int* active) {
  return device_call(device, [&](State&) { return give(active, 0); });
}

// Everything else that the library has, by name.
#define FORETRACE_NOT_SUPPORTED(name)                                   \
  NVML_API int name() {                                                 \
    return call_initialised([](State&) { return int{kNotSupported}; }); \
  }
#include "sim/runtime/management/names.def"
#undef FORETRACE_NOT_SUPPORTED
