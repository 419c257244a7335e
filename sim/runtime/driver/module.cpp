// Modules, libraries, kernels and functions: loading code and asking about it.
//
// Models:  a module is a library, a function a kernel: the same handle serves as both.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "sim/runtime/driver/driver.h"
#include "sim/runtime/driver/jit.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

/// Loads and gives out a handle of either kind.
template <class Handle>
CUresult load_as(Handle* handle, const void* image, const char* path, JitOptions options) {
  return with_state([&](State& s) {
    if (handle == nullptr || (image == nullptr && path == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::byte> bytes;
    if (path != nullptr) {
      bytes = file_bytes(path);
      if (bytes.empty()) return CUDA_ERROR_FILE_NOT_FOUND;
    }
    Library* library = nullptr;
    const CUresult result =
        load(s, &library, image, std::move(bytes),
             path != nullptr ? path : fmt::format("module {}", s.libraries.size()), options);
    if (result == CUDA_SUCCESS) *handle = reinterpret_cast<Handle>(library);
    return result;
  });
}

template <class Body>
CUresult library_call(const void* handle, Body&& body) {
  return with_state([&](State& s) {
    Library* library = library_of(s, handle);
    return library == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(s, *library);
  });
}

template <class Body>
CUresult kernel_call(const void* handle, Body&& body) {
  return with_state([&](State& s) {
    Kernel* kernel = s.kernel(handle);
    return kernel == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(s, *kernel);
  });
}

template <class Handle>
CUresult get_kernel(Handle* out, const void* library, const char* name) {
  return library_call(library, [&](State& s, Library& held) {
    if (out == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Kernel* kernel = held.module->kernel(name);
    if (kernel == nullptr) return CUDA_ERROR_NOT_FOUND;
    *out = reinterpret_cast<Handle>(give_handle(s, kernel));
    return CUDA_SUCCESS;
  });
}

CUresult get_global(CUdeviceptr* out, size_t* size, const void* library, const char* name) {
  return library_call(library, [&](State&, Library& held) {
    if (name == nullptr || (out == nullptr && size == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    const PlacedVariable placed = held.module->variable(name);
    if (placed.address == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (out != nullptr) *out = address(placed.address);
    if (size != nullptr) *size = placed.size;
    return CUDA_SUCCESS;
  });
}

CUresult unload(const void* library) {
  return library_call(library, [](State& s, Library& held) {
    unload_library(s, held);
    return CUDA_SUCCESS;
  });
}

CUresult count_kernels(unsigned* count, const void* library) {
  return library_call(library, [&](State&, Library& held) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(held.module->kernels().size());
    return CUDA_SUCCESS;
  });
}

template <class Handle>
CUresult list_kernels(Handle* out, unsigned room, const void* library) {
  return library_call(library, [&](State& s, Library& held) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::vector<Kernel*> all = held.module->kernels();
    for (size_t i = 0; i < std::min<size_t>(room, all.size()); ++i)
      out[i] = reinterpret_cast<Handle>(give_handle(s, all[i]));
    return CUDA_SUCCESS;
  });
}

CUresult get_attribute(int* value, CUfunction_attribute attribute, const void* function) {
  return in_context([&]() -> CUresult {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaFuncAttributes all;
    const cudaError_t result = cudaFuncGetAttributes(&all, function);
    if (result != cudaSuccess) return result_of(result);
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = all.maxThreadsPerBlock; break;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(all.sharedSizeBytes); break;
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = static_cast<int>(all.constSizeBytes); break;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(all.localSizeBytes); break;
      case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = all.numRegs; break;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = all.ptxVersion; break;
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = all.binaryVersion; break;
      case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = all.cacheModeCA; break;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = all.maxDynamicSharedSizeBytes; break;
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = all.preferredShmemCarveout; break;
      case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = all.clusterDimMustBeSet; break;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = all.requiredClusterWidth; break;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = all.requiredClusterHeight; break;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = all.requiredClusterDepth; break;
      case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = all.nonPortableClusterSizeAllowed;
        break;
      case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = all.clusterSchedulingPolicyPreference;
        break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

CUresult set_attribute(const void* function, CUfunction_attribute attribute, int value) {
  return in_context(
      [&] { return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value); });
}

CUresult get_parameter(const void* function, size_t index, size_t* offset, size_t* size) {
  return in_context([&] { return cudaFuncGetParamInfo(function, index, offset, size); });
}

CUresult get_library(void** out, const void* function) {
  return kernel_call(function, [&](State& s, Kernel& kernel) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& library : s.libraries) {
      if (library->module.get() == &kernel.module()) {
        *out = library.get();
        return CUDA_SUCCESS;
      }
    }
    return CUDA_ERROR_NOT_FOUND;  // the program's own code, which the runtime has registered
  });
}

}  // namespace

FORETRACE_API CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load_as(module, nullptr, path, {0, nullptr, nullptr});
}
FORETRACE_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load_as(module, image, nullptr, {0, nullptr, nullptr});
}
FORETRACE_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                                          CUjit_option* options, void** values) {
  return load_as(module, image, nullptr, {count, options, values});
}
FORETRACE_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}
FORETRACE_API CUresult cuModuleUnload(CUmodule module) { return unload(module); }
FORETRACE_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return get_kernel(function, module, name);
}
FORETRACE_API CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return count_kernels(count, module);
}
FORETRACE_API CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned room, CUmodule module) {
  return list_kernels(functions, room, module);
}
FORETRACE_API CUresult cuModuleGetGlobal_v2(CUdeviceptr* out, size_t* size, CUmodule module,
                                            const char* name) {
  return get_global(out, size, module, name);
}
FORETRACE_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return initialised([&] {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options,
                                         void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return load_as(library, image, nullptr, {count, options, values});
}
FORETRACE_API CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                                             void** values, unsigned count, CUlibraryOption*, void**,
                                             unsigned) {
  return load_as(library, nullptr, path, {count, options, values});
}
FORETRACE_API CUresult cuLibraryUnload(CUlibrary library) { return unload(library); }
FORETRACE_API CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return get_kernel(kernel, library, name);
}
FORETRACE_API CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return count_kernels(count, library);
}
FORETRACE_API CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned room, CUlibrary library) {
  return list_kernels(kernels, room, library);
}
FORETRACE_API CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return library_call(library, [&](State&, Library& held) {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = reinterpret_cast<CUmodule>(&held);
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuLibraryGetGlobal(CUdeviceptr* out, size_t* size, CUlibrary library,
                                          const char* name) {
  return get_global(out, size, library, name);
}
FORETRACE_API CUresult cuLibraryGetManaged(CUdeviceptr* out, size_t* size, CUlibrary library,
                                           const char* name) {
  return get_global(out, size, library, name);
}
/// Functions that host and device call by one pointer: no image here has one.
FORETRACE_API CUresult cuLibraryGetUnifiedFunction(void** function, CUlibrary library, const char* name) {
  return library_call(library, [&](State&, Library&) {
    return function == nullptr || name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND;
  });
}

FORETRACE_API CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return kernel_call(kernel, [&](State&, Kernel& held) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *function = reinterpret_cast<CUfunction>(&held);
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return get_library(reinterpret_cast<void**>(library), kernel);
}
FORETRACE_API CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                                            CUdevice device) {
  return is_device(device) ? get_attribute(value, attribute, kernel) : CUDA_ERROR_INVALID_DEVICE;
}
FORETRACE_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                            CUdevice device) {
  return is_device(device) ? set_attribute(kernel, attribute, value) : CUDA_ERROR_INVALID_DEVICE;
}
FORETRACE_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache preference, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return in_context([&] { return cudaFuncSetCacheConfig(kernel, static_cast<cudaFuncCache>(preference)); });
}
FORETRACE_API CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return in_context([&] { return cudaFuncGetName(name, kernel); });
}
FORETRACE_API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  return get_parameter(kernel, index, offset, size);
}

FORETRACE_API CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return get_attribute(value, attribute, function);
}
FORETRACE_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return set_attribute(function, attribute, value);
}
FORETRACE_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache preference) {
  return in_context([&] { return cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(preference)); });
}
FORETRACE_API CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return kernel_call(function, [](State&, Kernel&) { return CUDA_SUCCESS; });
}
FORETRACE_API CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return get_library(reinterpret_cast<void**>(module), function);
}
FORETRACE_API CUresult cuFuncGetName(const char** name, CUfunction function) {
  return in_context([&] { return cudaFuncGetName(name, function); });
}
FORETRACE_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  return get_parameter(function, index, offset, size);
}
FORETRACE_API CUresult cuFuncIsLoaded(CUfunctionLoadingState* loaded, CUfunction function) {
  return kernel_call(function, [&](State&, Kernel&) {
    if (loaded == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *loaded = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuFuncLoad(CUfunction function) {
  return kernel_call(function, [](State&, Kernel&) { return CUDA_SUCCESS; });
}
