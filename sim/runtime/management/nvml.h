// What nvidia_smi.cpp asks of our libnvidia-ml.so.1, so that the compiler holds both to one form.
//
// Source:  NVML API Reference Guide. NVIDIA's nvml.h is in no package that this project builds with (PyPI has nvidia-nvml-dev).
#pragma once

#define NVML_API extern "C" __attribute__((visibility("default")))

namespace foretrace::runtime::nvml {

using Device = void*;  // nvmlDevice_t

struct Memory {  // nvmlMemory_t
  unsigned long long total, free, used;
};
struct Pci {  // nvmlPciInfo_t
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct PciExt {  // nvmlPciInfoExt_v1_t
  unsigned version, domain, bus, device, pci_device_id, pci_subsystem_id, base_class, subclass;
  char bus_id[32];
};

}  // namespace foretrace::runtime::nvml

NVML_API int nvmlInit_v2();
NVML_API int nvmlSystemGetDriverVersion(char* text, unsigned room);
NVML_API int nvmlSystemGetCudaDriverVersion(int* version);
NVML_API int nvmlDeviceGetCount_v2(unsigned* count);
NVML_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, foretrace::runtime::nvml::Device* device);
NVML_API int nvmlDeviceGetName(foretrace::runtime::nvml::Device device, char* text, unsigned room);
NVML_API int nvmlDeviceGetUUID(foretrace::runtime::nvml::Device device, char* text, unsigned room);
NVML_API int nvmlDeviceGetMemoryInfo(foretrace::runtime::nvml::Device device,
                                     foretrace::runtime::nvml::Memory* memory);
NVML_API int nvmlDeviceGetPciInfo_v3(foretrace::runtime::nvml::Device device,
                                     foretrace::runtime::nvml::Pci* pci);
NVML_API int nvmlDeviceGetClockInfo(foretrace::runtime::nvml::Device device, int type, unsigned* clock);
NVML_API int nvmlDeviceGetCudaComputeCapability(foretrace::runtime::nvml::Device device, int* major,
                                                int* minor);
