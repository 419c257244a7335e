// How a function of the CUDA driver is written here: on top of the runtime's, which does the work.
//
// Models:  the driver's own rules: cuInit first (CUDA_ERROR_NOT_INITIALIZED), a current context for all that needs one
//          (CUDA_ERROR_INVALID_CONTEXT), its own codes where the runtime has others. The runtime's last error stays as it was.
#pragma once

// Every version of every function is declared, none renamed.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/context.h"
#include "sim/runtime/device/state.h"

/// The function of that name with another name, for variants that differ in nothing here.
#define FORETRACE_SAME(name, as) \
  extern "C" __attribute__((visibility("default"), alias(#as))) decltype(as) name

namespace foretrace::runtime::driver {

constexpr int kVersion = 13000;  ///< as cuDriverGetVersion says

/// The code that the driver has where the runtime has one of its own.
CUresult result_of(cudaError_t error);
inline CUresult result_of(CUresult result) { return result; }

/// Keeps what a call of the runtime would leave behind in the thread: its last error, the primary context as current one.
class Aside {
 public:
  Aside();
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  cudaError_t error_;
  bool had_context_, runtime_;
  unsigned retained_;
};

/// What needs cuInit and no context, and does not call the runtime: it may change the thread's context.
template <class Body>
CUresult started(Body&& body) {
  return contexts().initialised ? result_of(body()) : CUDA_ERROR_NOT_INITIALIZED;
}

/// What needs cuInit and no context.
template <class Body>
CUresult initialised(Body&& body) {
  return started([&] {
    const Aside aside;
    return body();
  });
}

/// What needs a current context.
template <class Body>
CUresult in_context(Body&& body) {
  if (!contexts().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Aside aside;
  return result_of(body());
}

/// The same with the state locked; a kernel's fault comes out here as in every call.
template <class Body>
CUresult with_state(Body&& body) {
  CUresult result = CUDA_SUCCESS;
  const CUresult outer = in_context([&] {
    return call([&](State& s) {
      result = result_of(body(s));
      return cudaSuccess;
    });
  });
  return outer != CUDA_SUCCESS ? outer : result;
}

inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace foretrace::runtime::driver
