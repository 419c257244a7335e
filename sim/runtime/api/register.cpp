// What nvcc puts into a program to make its device code known: fat binaries, kernels, variables.
//
// Source: crt/host_runtime.h of the CUDA Toolkit for the functions' forms.
#include <cstdio>

#include <fmt/format.h>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

/// Handles of fat binaries are pointers to where the module's pointer stands.
Module* module_of(void** handle) { return handle == nullptr ? nullptr : static_cast<Module*>(*handle); }

/// Gives the host's pointers to the managed variables of a module their addresses.
void place_managed(State& s, Module* module) {
  for (const State::ManagedVariable& managed : s.managed) {
    if (managed.module != module || *managed.pointer != nullptr) continue;
    const PlacedVariable placed = module->variable(managed.name);
    if (placed.address == nullptr)
      throw InputError(fmt::format("the program registers a managed variable {} that its device code lacks",
                                   managed.name));
    *managed.pointer = placed.address;
  }
}

}  // namespace

FORETRACE_API void** __cudaRegisterFatBinary(void* image) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.modules.push_back(
      std::make_unique<Module>(s.module_context(), image, fmt::format("fat binary {}", s.modules.size())));
  return reinterpret_cast<void**>(new Module*(s.modules.back().get()));
}

FORETRACE_API void __cudaRegisterFatBinaryEnd(void**) {}

FORETRACE_API void __cudaUnregisterFatBinary(void**) {
  // Comes at exit; the program's destructors may still use what stands in the module.
}

FORETRACE_API char __cudaInitModule(void** handle) {
  (void)call([&](State& s) {
    if (Module* module = module_of(handle)) place_managed(s, module);
    return cudaSuccess;
  });
  return 1;
}

FORETRACE_API void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int,
                                          uint3*, uint3*, dim3*, dim3*, int*) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.functions[host] = {module_of(handle), name};
  s.resolved.erase(host);  // a library may stand where one stood that was closed
}

FORETRACE_API void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t, int,
                                     int) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.variables[host] = {module_of(handle), name};
}

FORETRACE_API void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t,
                                            int, int) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  module_of(handle)->share(name);
  s.managed.push_back({host, module_of(handle), name});
  s.variables[host] = {module_of(handle), name};
}

FORETRACE_API cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* function) {
  return call([&](State& s) {
    Kernel* kernel = s.kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    *handle = reinterpret_cast<cudaKernel_t>(kernel);
    return cudaSuccess;
  });
}
