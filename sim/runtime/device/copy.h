// Copies and fills of device, pinned, managed and plain host memory.
//
// Models:  what CUDA checks: a side that the direction says is the device's must lie in one allocation, whole.
// Ignores: the time that a copy takes, which is the time line's (clock.h).
#pragma once

#include <cuda_runtime_api.h>

#include "sim/runtime/device/memory.h"
#include "sim/runtime/device/operation.h"

namespace foretrace::runtime {

/// cudaErrorInvalidValue where a device's side is no device memory or too small; a direction that does not exist:
/// cudaErrorInvalidMemcpyDirection.
cudaError_t copy_boxes(DeviceMemory& memory, const CopyCall& copy);
/// What cudaMemcpy3D and a graph's node describe: widths and first coordinates are in texels where an array takes part.
cudaError_t copy_of(const cudaMemcpy3DParms& parameters, CopyCall& copy);
cudaError_t fill_boxes(DeviceMemory& memory, const FillCall& fill);

}  // namespace foretrace::runtime
