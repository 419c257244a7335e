// How a function of the CUDA runtime is written here.
#pragma once

#include <cuda_runtime_api.h>

/// An exported function. Takes the place of its namesake in stubs.cpp.
#define FORETRACE_API extern "C" __attribute__((visibility("default")))

namespace foretrace::runtime {

/// The stream that a call of the per-thread default stream's variants (..._ptsz, ..._ptds) means.
inline cudaStream_t per_thread(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

}  // namespace foretrace::runtime
