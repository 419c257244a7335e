// Names and texts of CUDA's error codes.
#pragma once

#include <cuda_runtime_api.h>

namespace foretrace::runtime {

/// "cudaErrorInvalidValue"; null: no such code.
const char* error_name(cudaError_t error);
/// "invalid argument"; null: no such code.
const char* error_text(cudaError_t error);

}  // namespace foretrace::runtime
