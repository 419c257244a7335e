// Device code that a program loads itself: fat binaries and cubins, from memory or a file.
#include <cstdio>

#include <fmt/format.h>

#include "sim/frontend/cubin.h"
#include "sim/runtime/api/api.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

template <class Body>
cudaError_t library_call(cudaLibrary_t handle, Body&& body) {
  return call([&](State& s) {
    Library* library = library_of(s, handle);
    return library == nullptr ? cudaErrorInvalidResourceHandle : body(s, *library);
  });
}

cudaError_t load(State& s, cudaLibrary_t* handle, const void* image, std::vector<std::byte> bytes,
                 std::string where) {
  try {
    *handle = reinterpret_cast<cudaLibrary_t>(&load_library(s, image, std::move(bytes), std::move(where)));
  } catch (const LoadFailure& failure) {
    if (!s.settings.quiet)
      std::fprintf(stderr, "foretrace: %s\n%s", failure.what(), failure.output().c_str());
    return failure.code();
  }
  return cudaSuccess;
}

cudaKernel_t give(State& s, Kernel* kernel) { return reinterpret_cast<cudaKernel_t>(give_handle(s, kernel)); }

}  // namespace

FORETRACE_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* handle, const void* image, cudaJitOption*,
                                              void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&](State& s) {
    if (handle == nullptr || image == nullptr) return cudaErrorInvalidValue;
    return load(s, handle, image, {}, fmt::format("library {}", s.libraries.size()));
  });
}
FORETRACE_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* handle, const char* path, cudaJitOption*,
                                                  void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&](State& s) {
    if (handle == nullptr || path == nullptr) return cudaErrorInvalidValue;
    std::vector<std::byte> bytes;
    try {
      bytes = frontend::read_file(path);
    } catch (const InputError&) { return cudaErrorFileNotFound; }
    bytes.push_back(std::byte{0});  // PTX ends with it
    return bytes.size() == 1 ? cudaErrorInvalidKernelImage : load(s, handle, nullptr, std::move(bytes), path);
  });
}
FORETRACE_API cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  return library_call(handle, [&](State& s, Library& library) {
    unload_library(s, library);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle, const char* name) {
  return library_call(handle, [&](State& s, Library& library) {
    if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
    Kernel* found = library.module->kernel(name);
    if (found == nullptr) return cudaErrorSymbolNotFound;
    *kernel = give(s, found);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaLibraryGetGlobal(void** address, size_t* size, cudaLibrary_t handle,
                                               const char* name) {
  return library_call(handle, [&](State&, Library& library) {
    if (name == nullptr) return cudaErrorInvalidValue;
    const PlacedVariable placed = library.module->variable(name);
    if (placed.address == nullptr) return cudaErrorSymbolNotFound;
    if (address != nullptr) *address = placed.address;
    if (size != nullptr) *size = placed.size;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaLibraryGetManaged(void** address, size_t* size, cudaLibrary_t handle,
                                                const char* name) {
  return cudaLibraryGetGlobal(address, size, handle, name);
}
FORETRACE_API cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t handle) {
  return library_call(handle, [&](State&, Library& library) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = static_cast<unsigned>(library.module->kernels().size());
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                                      cudaLibrary_t handle) {
  return library_call(handle, [&](State& s, Library& library) {
    if (kernels == nullptr) return cudaErrorInvalidValue;
    const std::vector<Kernel*> all = library.module->kernels();
    for (size_t i = 0; i < std::min<size_t>(count, all.size()); ++i) kernels[i] = give(s, all[i]);
    return cudaSuccess;
  });
}
/// Functions that host and device call by one pointer: no library of device code that is loaded here holds any.
FORETRACE_API cudaError_t cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t handle,
                                                        const char* name) {
  return library_call(handle, [&](State&, Library&) {
    return function == nullptr || name == nullptr ? cudaErrorInvalidValue : cudaErrorSymbolNotFound;
  });
}
