// The device as a whole: waiting for it, resetting it, its limits; the last error.
#include <array>

#include "sim/runtime/api.h"
#include "sim/runtime/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

/// Limits that a program may set, with CUDA's defaults.
std::array<std::size_t, cudaLimitPersistingL2CacheSize + 1>& limits() {
  static std::array<std::size_t, cudaLimitPersistingL2CacheSize + 1> values = {1024, 1 << 20, 8 << 20, 2,
                                                                               2048, 128,     0};
  return values;
}

}  // namespace

FORETRACE_API cudaError_t cudaDeviceSynchronize() {
  return call([](State&) { return cudaSuccess; });
}

FORETRACE_API cudaError_t cudaDeviceReset() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.pending = s.sticky = cudaSuccess;
  last_error() = cudaSuccess;
  s.memory.release_all();
  return cudaSuccess;
}

FORETRACE_API cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call([&](State&) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (limit < 0 || static_cast<std::size_t>(limit) >= limits().size()) return cudaErrorUnsupportedLimit;
    *value = limits()[static_cast<std::size_t>(limit)];
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&](State& s) {
    if (limit < 0 || static_cast<std::size_t>(limit) >= limits().size()) return cudaErrorUnsupportedLimit;
    if (limit == cudaLimitMallocHeapSize && !s.memory.global().heap().set_limit(value))
      return cudaErrorInvalidValue;
    limits()[static_cast<std::size_t>(limit)] = value;
    if (limit == cudaLimitStackSize) s.stack_bytes = value;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGetLastError() {
  State* s = state_if_any();
  const cudaError_t error = last_error();
  // A kernel's fault stays.
  last_error() = s == nullptr ? cudaSuccess : s->sticky;
  return error;
}

FORETRACE_API cudaError_t cudaPeekAtLastError() { return last_error(); }

FORETRACE_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
