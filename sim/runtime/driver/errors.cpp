// The driver's error codes: their names and texts, and what they are of the runtime's.
//
// Source: the enumeration cudaError_enum of cuda.h. Where a code has the same number in both, it means the same.
#include "sim/runtime/device/error_texts.h"
#include "sim/runtime/driver/driver.h"

namespace foretrace::runtime::driver {

namespace {

struct Row {
  CUresult code;
  const char* name;
};
constexpr Row kNames[] = {
#define FORETRACE_RESULT(name) {name, #name},
#include "sim/runtime/driver/results.def"
#undef FORETRACE_RESULT
};

const char* name_of(CUresult code) {
  for (const Row& row : kNames) {
    if (row.code == code) return row.name;
  }
  return nullptr;
}

}  // namespace

CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorMissingConfiguration: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    default: return static_cast<CUresult>(error);
  }
}

Aside::Aside()
    : error_(last_error()), had_context_(current_context() != nullptr),
      runtime_(contexts().primary.front().runtime), retained_(contexts().primary.front().retained) {}

Aside::~Aside() {
  last_error() = error_;
  if (had_context_ || current_context() == nullptr) return;
  context_stack().pop_back();
  contexts().primary.front().runtime = runtime_;
  contexts().primary.front().retained = retained_;
}

}  // namespace foretrace::runtime::driver

using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

FORETRACE_API CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = name_of(error);
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

FORETRACE_API CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = name_of(error) == nullptr ? nullptr : error_text(static_cast<cudaError_t>(error));
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
