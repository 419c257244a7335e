// The device as a whole: waiting for it, resetting it, its limits; the last error.
#include "sim/runtime/api/api.h"
#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/error_texts.h"
#include "sim/runtime/device/graph_memory.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

FORETRACE_API cudaError_t cudaDeviceSynchronize() {
  return call([](State& s) {
    s.waiting.finish();
    s.clock->synchronize();
    s.place_launches();
    return s.faulted();
  });
}

FORETRACE_API cudaError_t cudaDeviceReset() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.waiting.finish();
  s.pending = s.sticky = cudaSuccess;
  last_error() = cudaSuccess;
  forget_graph_memory(s, current_device());
  s.memory.release_all();
  s.arrays.forget_all();
  return cudaSuccess;
}

FORETRACE_API cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call([&](State& s) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (limit < 0 || static_cast<std::size_t>(limit) >= s.limits.size()) return cudaErrorUnsupportedLimit;
    *value = s.limits[static_cast<std::size_t>(limit)];
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&](State& s) {
    if (limit < 0 || static_cast<std::size_t>(limit) >= s.limits.size()) return cudaErrorUnsupportedLimit;
    if (limit == cudaLimitMallocHeapSize && !s.memory.global().heap().set_limit(value))
      return cudaErrorInvalidValue;
    s.limits[static_cast<std::size_t>(limit)] = value;
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

namespace {
const char* or_unknown(const char* text) { return text == nullptr ? "unrecognized error code" : text; }
}  // namespace

FORETRACE_API const char* cudaGetErrorName(cudaError_t error) { return or_unknown(error_name(error)); }
FORETRACE_API const char* cudaGetErrorString(cudaError_t error) { return or_unknown(error_text(error)); }
