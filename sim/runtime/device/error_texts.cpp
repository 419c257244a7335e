// Names and texts of CUDA's error codes.
//
// Source: the enumeration cudaError of driver_types.h for the names; the texts are what the CUDA 13.0 runtime answers for each.
#include <algorithm>
#include <iterator>

#include <cuda_runtime_api.h>

#include "sim/runtime/device/error_texts.h"

namespace foretrace::runtime {
namespace {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};

#define FORETRACE_ERROR(name, text) \
  { name, #name, text }
constexpr ErrorText kErrors[] = {
    // ascending codes
    FORETRACE_ERROR(cudaSuccess, "no error"),
    FORETRACE_ERROR(cudaErrorInvalidValue, "invalid argument"),
    FORETRACE_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    FORETRACE_ERROR(cudaErrorInitializationError, "initialization error"),
    FORETRACE_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    FORETRACE_ERROR(cudaErrorProfilerDisabled, "profiler disabled while using external profiling tool"),
    FORETRACE_ERROR(cudaErrorProfilerNotInitialized,
                    "profiler not initialized: call cudaProfilerInitialize()"),
    FORETRACE_ERROR(cudaErrorProfilerAlreadyStarted, "profiler already started"),
    FORETRACE_ERROR(cudaErrorProfilerAlreadyStopped, "profiler already stopped"),
    FORETRACE_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    FORETRACE_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    FORETRACE_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    FORETRACE_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    FORETRACE_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    FORETRACE_ERROR(cudaErrorInvalidTexture, "invalid texture reference"),
    FORETRACE_ERROR(cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"),
    FORETRACE_ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    FORETRACE_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    FORETRACE_ERROR(cudaErrorAddressOfConstant, "invalid address of constant"),
    FORETRACE_ERROR(cudaErrorTextureFetchFailed, "fetch from texture failed"),
    FORETRACE_ERROR(cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound"),
    FORETRACE_ERROR(cudaErrorSynchronizationError, "incorrect use of __syncthreads()"),
    FORETRACE_ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"),
    FORETRACE_ERROR(cudaErrorInvalidNormSetting, "read as normalized float not supported for data type"),
    FORETRACE_ERROR(cudaErrorMixedDeviceExecution,
                    "device emulation mode and device execution mode cannot be mixed"),
    FORETRACE_ERROR(cudaErrorNotYetImplemented, "feature not yet implemented"),
    FORETRACE_ERROR(cudaErrorMemoryValueTooLarge, "memory size or pointer value too large to fit in 32 bit"),
    FORETRACE_ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    FORETRACE_ERROR(cudaErrorInsufficientDriver,
                    "CUDA driver version is insufficient for CUDA runtime version"),
    FORETRACE_ERROR(cudaErrorCallRequiresNewerDriver,
                    "API call is not supported in the installed CUDA driver"),
    FORETRACE_ERROR(cudaErrorInvalidSurface, "invalid surface reference"),
    FORETRACE_ERROR(cudaErrorDuplicateVariableName, "duplicate global variable looked up by string name"),
    FORETRACE_ERROR(cudaErrorDuplicateTextureName, "duplicate texture looked up by string name"),
    FORETRACE_ERROR(cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name"),
    FORETRACE_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    FORETRACE_ERROR(cudaErrorIncompatibleDriverContext, "incompatible driver context"),
    FORETRACE_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    FORETRACE_ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    FORETRACE_ERROR(cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches"),
    FORETRACE_ERROR(cudaErrorLaunchFileScopedTex,
                    "launch failed because kernel uses unsupported, file-scoped textures (texture objects "
                    "are supported)"),
    FORETRACE_ERROR(cudaErrorLaunchFileScopedSurf,
                    "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects "
                    "are supported)"),
    FORETRACE_ERROR(
        cudaErrorSyncDepthExceeded,
        "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth"),
    FORETRACE_ERROR(cudaErrorLaunchPendingCountExceeded,
                    "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    FORETRACE_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    FORETRACE_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    FORETRACE_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    FORETRACE_ERROR(cudaErrorDeviceNotLicensed, "device doesn't have valid Grid license"),
    FORETRACE_ERROR(cudaErrorSoftwareValidityNotEstablished, "integrity checks failed"),
    FORETRACE_ERROR(cudaErrorStartupFailure, "startup failure in cuda runtime"),
    FORETRACE_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    FORETRACE_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    FORETRACE_ERROR(cudaErrorMapBufferObjectFailed, "mapping of buffer object failed"),
    FORETRACE_ERROR(cudaErrorUnmapBufferObjectFailed, "unmapping of buffer object failed"),
    FORETRACE_ERROR(cudaErrorArrayIsMapped, "array is mapped"),
    FORETRACE_ERROR(cudaErrorAlreadyMapped, "resource already mapped"),
    FORETRACE_ERROR(cudaErrorNoKernelImageForDevice,
                    "no kernel image is available for execution on the device"),
    FORETRACE_ERROR(cudaErrorAlreadyAcquired, "resource already acquired"),
    FORETRACE_ERROR(cudaErrorNotMapped, "resource not mapped"),
    FORETRACE_ERROR(cudaErrorNotMappedAsArray, "resource not mapped as array"),
    FORETRACE_ERROR(cudaErrorNotMappedAsPointer, "resource not mapped as pointer"),
    FORETRACE_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    FORETRACE_ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    FORETRACE_ERROR(cudaErrorDeviceAlreadyInUse,
                    "exclusive-thread device already in use by a different thread"),
    FORETRACE_ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    FORETRACE_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    FORETRACE_ERROR(cudaErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    FORETRACE_ERROR(cudaErrorNvlinkUncorrectable, "uncorrectable NVLink error detected during the execution"),
    FORETRACE_ERROR(cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found"),
    FORETRACE_ERROR(cudaErrorUnsupportedPtxVersion,
                    "the provided PTX was compiled with an unsupported toolchain."),
    FORETRACE_ERROR(cudaErrorJitCompilationDisabled, "PTX JIT compilation was disabled"),
    FORETRACE_ERROR(cudaErrorUnsupportedExecAffinity, "the provided execution affinity is not supported"),
    FORETRACE_ERROR(cudaErrorUnsupportedDevSideSync,
                    "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    FORETRACE_ERROR(cudaErrorContained, "Invalid access of peer GPU memory over nvlink or a hardware error"),
    FORETRACE_ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
    FORETRACE_ERROR(cudaErrorFileNotFound, "file not found"),
    FORETRACE_ERROR(cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    FORETRACE_ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
    FORETRACE_ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    FORETRACE_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    FORETRACE_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    FORETRACE_ERROR(cudaErrorLossyQuery, "attempted introspection would be semantically lossy"),
    FORETRACE_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    FORETRACE_ERROR(cudaErrorNotReady, "device not ready"),
    FORETRACE_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    FORETRACE_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    FORETRACE_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    FORETRACE_ERROR(cudaErrorLaunchIncompatibleTexturing, "launch uses incompatible texturing mode"),
    FORETRACE_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    FORETRACE_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    FORETRACE_ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    FORETRACE_ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    FORETRACE_ERROR(cudaErrorAssert, "device-side assert triggered"),
    FORETRACE_ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
    FORETRACE_ERROR(cudaErrorHostMemoryAlreadyRegistered,
                    "part or all of the requested memory range is already mapped"),
    FORETRACE_ERROR(cudaErrorHostMemoryNotRegistered,
                    "pointer does not correspond to a registered memory region"),
    FORETRACE_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    FORETRACE_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    FORETRACE_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    FORETRACE_ERROR(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"),
    FORETRACE_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    FORETRACE_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    FORETRACE_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    FORETRACE_ERROR(cudaErrorTensorMemoryLeak, "tensor memory not completely freed"),
    FORETRACE_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    FORETRACE_ERROR(cudaErrorNotSupported, "operation not supported"),
    FORETRACE_ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    FORETRACE_ERROR(cudaErrorSystemDriverMismatch,
                    "system has unsupported display driver / cuda driver combination"),
    FORETRACE_ERROR(cudaErrorCompatNotSupportedOnDevice,
                    "forward compatibility was attempted on non supported HW"),
    FORETRACE_ERROR(cudaErrorMpsConnectionFailed,
                    "MPS client failed to connect to the MPS control daemon or the MPS server"),
    FORETRACE_ERROR(cudaErrorMpsRpcFailure,
                    "the remote procedural call between the MPS server and the MPS client failed"),
    FORETRACE_ERROR(cudaErrorMpsServerNotReady, "MPS server is not ready to accept new MPS client requests"),
    FORETRACE_ERROR(cudaErrorMpsMaxClientsReached,
                    "the hardware resources required to create MPS client have been exhausted"),
    FORETRACE_ERROR(cudaErrorMpsMaxConnectionsReached,
                    "the hardware resources required to support device connections have been exhausted"),
    FORETRACE_ERROR(cudaErrorMpsClientTerminated, "the MPS client has been terminated by the server"),
    FORETRACE_ERROR(
        cudaErrorCdpNotSupported,
        "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it"),
    FORETRACE_ERROR(cudaErrorCdpVersionMismatch,
                    "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    FORETRACE_ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    FORETRACE_ERROR(cudaErrorStreamCaptureInvalidated,
                    "operation failed due to a previous error during capture"),
    FORETRACE_ERROR(cudaErrorStreamCaptureMerge,
                    "operation would result in a merge of separate capture sequences"),
    FORETRACE_ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    FORETRACE_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    FORETRACE_ERROR(cudaErrorStreamCaptureIsolation,
                    "dependency created on uncaptured work in another stream"),
    FORETRACE_ERROR(cudaErrorStreamCaptureImplicit,
                    "operation would make the legacy stream depend on a capturing blocking stream"),
    FORETRACE_ERROR(cudaErrorCapturedEvent,
                    "operation not permitted on an event last recorded in a capturing stream"),
    FORETRACE_ERROR(cudaErrorStreamCaptureWrongThread,
                    "attempt to terminate a thread-local capture sequence from another thread"),
    FORETRACE_ERROR(cudaErrorTimeout, "wait operation timed out"),
    FORETRACE_ERROR(cudaErrorGraphExecUpdateFailure,
                    "the graph update was not performed because it included changes which violated "
                    "constraints specific to instantiated graph update"),
    FORETRACE_ERROR(cudaErrorExternalDevice, "an async error has occured in external entity outside of CUDA"),
    FORETRACE_ERROR(cudaErrorInvalidClusterSize,
                    "a kernel launch error has occurred due to cluster misconfiguration"),
    FORETRACE_ERROR(cudaErrorFunctionNotLoaded,
                    "the function handle is not loaded when calling an API that requires a loaded function"),
    FORETRACE_ERROR(cudaErrorInvalidResourceType,
                    "one or more resources passed in are not valid resource types for the operation"),
    FORETRACE_ERROR(cudaErrorInvalidResourceConfiguration,
                    "one or more resources are insufficient or non-applicable for the operation"),
    FORETRACE_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef FORETRACE_ERROR

const ErrorText* find(cudaError_t code) {
  const auto* found =
      std::lower_bound(std::begin(kErrors), std::end(kErrors), code,
                       [](const ErrorText& row, cudaError_t wanted) { return row.code < wanted; });
  return found != std::end(kErrors) && found->code == code ? found : nullptr;
}

}  // namespace

const char* error_name(cudaError_t error) {
  const ErrorText* row = find(error);
  return row == nullptr ? nullptr : row->name;
}

const char* error_text(cudaError_t error) {
  const ErrorText* row = find(error);
  return row == nullptr ? nullptr : row->text;
}

}  // namespace foretrace::runtime
