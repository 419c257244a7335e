// Asking for functions of the CUDA driver, none of which is provided: the answer is CUDA's for a driver that lacks the function, and
// standard error has its name.
#include <cstdio>

#include "sim/runtime/api.h"
#include "sim/runtime/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

cudaError_t entry_point(const char* symbol, void** function, cudaDriverEntryPointQueryResult* status) {
  return call([&](State& s) {
    if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
    *function = nullptr;
    if (status != nullptr) *status = cudaDriverEntryPointSymbolNotFound;
    if (!s.settings.quiet)
      std::fprintf(stderr, "foretrace: the driver's function %s is not provided\n", symbol);
    return cudaSuccess;
  });
}

}  // namespace

FORETRACE_API cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long,
                                                  cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, status);
}
FORETRACE_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                                       unsigned long long,
                                                       cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, status);
}
FORETRACE_API cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                                           unsigned long long,
                                                           cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, status);
}
FORETRACE_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function, unsigned,
                                                                unsigned long long,
                                                                cudaDriverEntryPointQueryResult* status) {
  return entry_point(symbol, function, status);
}
