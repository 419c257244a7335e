// How a function of the CUDA runtime is written here.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

/// An exported function. Takes the place of its namesake in stubs.cpp.
#define FORETRACE_API extern "C" __attribute__((visibility("default")))

namespace foretrace::runtime {

/// The stream that a call of the per-thread default stream's variants (..._ptsz, ..._ptds) means.
inline cudaStream_t per_thread(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

/// Whether a batch of so many parts is divided into kinds as CUDA asks for: where each begins, ascending, the first at part 0.
inline bool are_batch_kinds(const std::size_t* indices, std::size_t kinds, std::size_t parts) {
  if (parts == 0 || kinds == 0 || kinds > parts || indices == nullptr || indices[0] != 0) return false;
  for (std::size_t i = 1; i < kinds; ++i) {
    if (indices[i] <= indices[i - 1] || indices[i] >= parts) return false;
  }
  return true;
}

}  // namespace foretrace::runtime
