// Starting the driver, and contexts.
#include <algorithm>

#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

CUcontext handle_of_context(Context* context) { return reinterpret_cast<CUcontext>(context); }

constexpr unsigned kFlags = CU_CTX_FLAGS_MASK;
constexpr unsigned kApiVersion = 3020;  // of the contexts that cuCtxCreate_v2 and later make

CUresult make(CUcontext* handle, unsigned flags, CUdevice device) {
  return started([&] {
    if (handle == nullptr || (flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    Contexts& all = contexts();
    all.made.push_back(std::make_unique<Context>(Context{++all.last_id, flags, device}));
    *handle = handle_of_context(all.made.back().get());
    return CUDA_SUCCESS;
  });
}

/// A new context becomes the thread's current one.
CUresult make_current(CUcontext* handle, unsigned flags, CUdevice device) {
  const CUresult result = make(handle, flags, device);
  if (result == CUDA_SUCCESS) context_stack().push_back(context_of(*handle));
  return result;
}

/// With the device's primary context.
template <class Body>
CUresult on_device(CUdevice device, Body&& body) {
  return started([&] {
    return is_device(device) ? body(contexts().primary[static_cast<std::size_t>(device)])
                             : CUDA_ERROR_INVALID_DEVICE;
  });
}

}  // namespace

FORETRACE_API CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  (void)state();
  contexts().initialised = true;
  return CUDA_SUCCESS;
}

FORETRACE_API CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kVersion;
  return CUDA_SUCCESS;
}

FORETRACE_API CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice device) {
  return on_device(device, [&](PrimaryContext& primary) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    ++primary.retained;
    *handle = handle_of_context(&primary.context);
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return on_device(device, [](PrimaryContext& primary) {
    if (primary.retained == 0)
      return primary.greens != 0 ? CUDA_ERROR_NOT_PERMITTED : CUDA_ERROR_INVALID_CONTEXT;
    --primary.retained;
    return CUDA_SUCCESS;
  });
}
/// The first form has no objection to a context that nobody holds.
FORETRACE_API CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  const CUresult result = cuDevicePrimaryCtxRelease_v2(device);
  return result == CUDA_ERROR_INVALID_CONTEXT ? CUDA_SUCCESS : result;
}
FORETRACE_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return on_device(device, [](PrimaryContext& primary) {
    primary.retained = 0;
    primary.runtime = false;
    context_stack().push_back(&primary.context);
    const CUresult result = result_of(cudaDeviceReset());
    context_stack().pop_back();
    return result;
  });
}
FORETRACE_SAME(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);
FORETRACE_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return on_device(device, [&](PrimaryContext& primary) {
    if ((flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
    primary.context.flags = flags;
    return CUDA_SUCCESS;
  });
}
FORETRACE_SAME(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);
FORETRACE_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  return on_device(device, [&](PrimaryContext& primary) {
    if (flags == nullptr || is_active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = primary.context.flags;
    *is_active = primary.retained + primary.greens != 0 ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuCtxCreate_v2(CUcontext* handle, unsigned flags, CUdevice device) {
  return make_current(handle, flags, device);
}
FORETRACE_SAME(cuCtxCreate, cuCtxCreate_v2);
FORETRACE_API CUresult cuCtxCreate_v3(CUcontext* handle, CUexecAffinityParam* affinities, int count,
                                      unsigned flags, CUdevice device) {
  if (affinities != nullptr && count != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return make_current(handle, flags, device);
}
FORETRACE_API CUresult cuCtxCreate_v4(CUcontext* handle, CUctxCreateParams* parameters, unsigned flags,
                                      CUdevice device) {
  if (parameters != nullptr && parameters->numExecAffinityParams != 0)
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return make_current(handle, flags, device);
}

FORETRACE_API CUresult cuCtxDestroy_v2(CUcontext handle) {
  return started([&] {
    Context* context = context_of(handle);
    if (context == nullptr || context->green() || context == primary_of(context->device))
      return CUDA_ERROR_INVALID_CONTEXT;
    drop_context(context);
    return CUDA_SUCCESS;
  });
}
FORETRACE_SAME(cuCtxDestroy, cuCtxDestroy_v2);

FORETRACE_API CUresult cuCtxAttach(CUcontext* handle, unsigned flags) {
  return started([&] {
    if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    Context* context = current_context();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    ++context->uses;
    *handle = handle_of_context(context);
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuCtxDetach(CUcontext handle) {
  return started([&] {
    Context* context = context_of(handle);
    if (context == nullptr || context != current_context()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context->uses > 1) {
      --context->uses;
      return CUDA_SUCCESS;
    }
    return cuCtxDestroy_v2(handle);
  });
}

FORETRACE_API CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return started([&] {
    Context* context = context_of(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    context_stack().push_back(context);
    return CUDA_SUCCESS;
  });
}
/// The first form takes a context that is in no thread's stack: CUDA 3.2's "floating" ones.
FORETRACE_API CUresult cuCtxPushCurrent(CUcontext handle) {
  return started([&] {
    const std::vector<Context*>& stack = context_stack();
    const bool attached = std::find(stack.begin(), stack.end(), context_of(handle)) != stack.end();
    return attached ? CUDA_ERROR_INVALID_CONTEXT : cuCtxPushCurrent_v2(handle);
  });
}
FORETRACE_API CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
  return started([&] {
    if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (handle != nullptr) *handle = handle_of_context(current_context());
    context_stack().pop_back();
    return CUDA_SUCCESS;
  });
}
FORETRACE_SAME(cuCtxPopCurrent, cuCtxPopCurrent_v2);
FORETRACE_API CUresult cuCtxSetCurrent(CUcontext handle) {
  return started([&] {
    Context* context = handle == nullptr ? nullptr : context_of(handle);
    if (handle != nullptr && context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    std::vector<Context*>& stack = context_stack();
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context);
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuCtxGetCurrent(CUcontext* handle) {
  return started([&] {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *handle = handle_of_context(current_context());
    return CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuCtxGetDevice(CUdevice* device) {
  return in_context([&] {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = current_device();
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  return started([&] {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (handle == nullptr ? current_context() == nullptr : context_of(handle) == nullptr)
      return CUDA_ERROR_INVALID_CONTEXT;
    *device = handle == nullptr ? current_device() : context_of(handle)->device;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuCtxGetFlags(unsigned* flags) {
  return in_context([&] {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Context* context = current_context();
    *flags = context->flags;
    // Host memory may always be mapped (cuda.h, CU_CTX_MAP_HOST); an H100's driver says so of its primary context.
    if (context->green() || context == primary_of(context->device)) *flags |= CU_CTX_MAP_HOST;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuCtxSetFlags(unsigned flags) {
  return in_context([&] {
    if ((flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
    current_context()->flags = flags;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return started([&] {
    const Context* context = handle == nullptr ? current_context() : context_of(handle);
    if (context == nullptr)
      return handle == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = context->id;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return started([&] {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (handle == nullptr ? current_context() == nullptr : context_of(handle) == nullptr)
      return CUDA_ERROR_INVALID_CONTEXT;
    *version = kApiVersion;
    return CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuCtxSynchronize() { return in_context(cudaDeviceSynchronize); }
FORETRACE_API CUresult cuCtxSynchronize_v2(CUcontext handle) {
  if (handle == nullptr) return cuCtxSynchronize();
  return initialised(
      [&] { return context_of(handle) == nullptr ? cudaErrorDeviceUninitialized : cudaDeviceSynchronize(); });
}
FORETRACE_API CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return in_context([&] {
    return limit >= CU_LIMIT_MAX ? cudaErrorInvalidValue
                                 : cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value);
  });
}
FORETRACE_API CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return in_context([&] {
    return limit >= CU_LIMIT_MAX ? cudaErrorInvalidValue
                                 : cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit));
  });
}
FORETRACE_API CUresult cuCtxGetCacheConfig(CUfunc_cache* preference) {
  return in_context([&] { return cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(preference)); });
}
FORETRACE_API CUresult cuCtxSetCacheConfig(CUfunc_cache preference) {
  return in_context([&] { return cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(preference)); });
}
FORETRACE_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return in_context([&] {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return in_context([&] {
    return config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ||
                   config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
  });
}
FORETRACE_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}
FORETRACE_API CUresult cuCtxResetPersistingL2Cache() { return in_context(cudaCtxResetPersistingL2Cache); }
FORETRACE_API CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
  return in_context([&] {
    const Context* peer = context_of(handle);
    if (peer == nullptr) return cudaErrorInvalidValue;
    return peer->device == current_device() ? cudaErrorPeerAccessUnsupported
                                            : cudaDeviceEnablePeerAccess(peer->device, flags);
  });
}
FORETRACE_API CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  return in_context([&] {
    const Context* peer = context_of(handle);
    return peer == nullptr ? cudaErrorInvalidValue : cudaDeviceDisablePeerAccess(peer->device);
  });
}
FORETRACE_API CUresult cuCtxGetExecAffinity(CUexecAffinityParam* affinity, CUexecAffinityType type) {
  return in_context([&] {
    if (affinity == nullptr || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return CUDA_ERROR_INVALID_VALUE;
    affinity->type = type;
    affinity->param.smCount.val = state().spec->sm.count;  // a context has the whole device
    return CUDA_SUCCESS;
  });
}

FORETRACE_API CUresult cuProfilerStart() {
  return in_context([] { return CUDA_SUCCESS; });
}
FORETRACE_API CUresult cuProfilerStop() {
  return in_context([] { return CUDA_SUCCESS; });
}

extern "C" __attribute__((visibility("default"))) CUresult cuProfilerInitialize(const char*, const char*,
                                                                                int);
FORETRACE_API CUresult cuProfilerInitialize(const char*, const char*, int) {
  return started([] { return CUDA_ERROR_NOT_SUPPORTED; });
}
