// Asking for functions of the CUDA driver: what libcuda.so.1 beside this library says.
#include <dlfcn.h>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

constexpr unsigned kVersion = 13000;  // of this runtime, which cudaGetDriverEntryPoint asks for

/// cuGetProcAddress_v2, without cuda.h; null: there is no driver's library.
using Lookup = int (*)(const char*, void**, int, unsigned long long, int*);
Lookup lookup() {
  static const Lookup found = [] {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    return library == nullptr ? nullptr : reinterpret_cast<Lookup>(dlsym(library, "cuGetProcAddress_v2"));
  }();
  return found;
}

/// The status has the same values in both interfaces: found, no such symbol, version not sufficient.
cudaError_t entry_point(const char* symbol, void** function, unsigned version, unsigned long long flags,
                        cudaDriverEntryPointQueryResult* status) {
  return call([&](State&) {
    if (symbol == nullptr || function == nullptr || *symbol == '\0') return cudaErrorInvalidValue;
    *function = nullptr;
    int result = cudaDriverEntryPointSymbolNotFound;
    if (lookup() != nullptr) {
      const int refused = lookup()(symbol, function, static_cast<int>(version), flags, &result);
      if (refused != 0) return static_cast<cudaError_t>(refused);
    }
    if (status != nullptr) {
      *status = static_cast<cudaDriverEntryPointQueryResult>(result);
      return cudaSuccess;
    }
    return *function == nullptr ? cudaErrorSymbolNotFound : cudaSuccess;
  });
}

unsigned long long per_thread_flags(unsigned long long flags) {
  return flags == cudaEnableDefault ? std::uint64_t{cudaEnablePerThreadDefaultStream} : flags;
}

}  // namespace

FORETRACE_API cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function,
                                                  unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, kVersion, flags, status);
}
FORETRACE_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                                       unsigned long long flags,
                                                       cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, kVersion, per_thread_flags(flags), status);
}
FORETRACE_API cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                           unsigned version, unsigned long long flags,
                                                           cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, version, flags, status);
}
FORETRACE_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function,
                                                                unsigned version, unsigned long long flags,
                                                                cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, version, per_thread_flags(flags), status);
}
