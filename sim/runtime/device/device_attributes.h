// What the device that a program sees says about itself.
//
// Models:  the chip's config, as far as it knows; limits that CUDA gives to every device of these compute capabilities; features that
//          this runtime provides. What a single GPU with no display, no peers and no MPS answers.
// Source:  configs/*.toml; CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", for limits of the grid,
//          textures and surfaces.
#pragma once

#include <optional>
#include <string>

#include <cuda_runtime_api.h>

#include "model/spec/gpu_spec.h"

namespace foretrace::runtime {

struct DeviceFacts {
  const spec::GpuSpec* spec = nullptr;
  std::string title;  ///< the config's title: the device's name
  std::uint64_t memory_bytes = 0;
  int device = 0;  ///< its ordinal
};

/// "0000:01:00.0" of the second device.
std::string bus_id(int device);

/// Empty: no such attribute.
std::optional<int> device_attribute(const DeviceFacts& facts, cudaDeviceAttr attribute);

cudaDeviceProp device_properties(const DeviceFacts& facts);

}  // namespace foretrace::runtime
