// Sharing with other processes: blocks and events by handles, pools by file descriptors.
//
// Models:  memory as in device/sharing.h. What a stream is given has been executed when the call returns, so an event of another process has
//          happened by the time that this one hears of it: it is ready, and waiting for it takes no time.
#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cstring>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/graph.h"
#include "sim/runtime/device/pool.h"
#include "sim/runtime/device/sharing.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(SharedHandle));
static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(SharedHandle));
static_assert(sizeof(cudaMemPoolPtrExportData) == sizeof(SharedHandle));

template <class Handle>
SharedHandle read(const Handle& handle) {
  return std::bit_cast<SharedHandle>(handle);
}

cudaError_t open(State& s, void** pointer, const SharedHandle& handle) {
  if (pointer == nullptr || !handle.is_of_block()) return cudaErrorInvalidValue;
  void* opened = s.shared.open(handle);
  if (opened == nullptr) return cudaErrorMapBufferObjectFailed;
  *pointer = opened;
  return cudaSuccess;
}

}  // namespace

FORETRACE_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return call([&](State& s) {
    const auto shared = handle == nullptr ? std::nullopt : s.shared.share(pointer);
    if (!shared) return cudaErrorInvalidValue;
    std::memcpy(handle, &*shared, sizeof *handle);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  return call([&](State& s) {
    if (flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
    const SharedHandle given = read(handle);
    const bool own = given.is_of_block() && given.process == getpid();
    return own ? cudaErrorDeviceUninitialized : open(s, pointer, given);  // as CUDA answers
  });
}
FORETRACE_API cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return call([&](State& s) { return s.shared.close(pointer) ? cudaSuccess : cudaErrorInvalidValue; });
}

FORETRACE_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return call([&](State&) {
    const Event* found = event_of(event);
    if (handle == nullptr) return cudaErrorInvalidValue;
    if (found == nullptr || (found->flags & cudaEventInterprocess) == 0)
      return cudaErrorInvalidResourceHandle;
    SharedHandle made;
    made.mark = SharedHandle::kMark;
    made.process = getpid();
    std::memcpy(handle, &made, sizeof *handle);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  const SharedHandle given = read(handle);
  const bool known = given.mark == SharedHandle::kMark && given.size == 0;
  if (!known) return call([](State&) { return cudaErrorMapBufferObjectFailed; });
  if (given.process == getpid()) return call([](State&) { return cudaErrorDeviceUninitialized; });
  return cudaEventCreateWithFlags(event, cudaEventDisableTiming | cudaEventInterprocess);
}

// A pool's file descriptor only says whose memory it is; the blocks come by handles of their own.
FORETRACE_API cudaError_t cudaMemPoolExportToShareableHandle(void* descriptor, cudaMemPool_t handle,
                                                             cudaMemAllocationHandleType type,
                                                             unsigned flags) {
  return call([&](State& s) {
    const Pool* pool = pool_of(handle);
    if (pool == nullptr || descriptor == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (!pool->shared || type != cudaMemHandleTypePosixFileDescriptor) return cudaErrorInvalidValue;
    const int copy = s.shared.file() < 0 ? -1 : fcntl(s.shared.file(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return cudaErrorOperatingSystem;
    *static_cast<int*>(descriptor) = copy;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* handle, void* descriptor,
                                                               cudaMemAllocationHandleType type,
                                                               unsigned flags) {
  return call([&](State&) {
    const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor));
    if (handle == nullptr || flags != 0 || type != cudaMemHandleTypePosixFileDescriptor)
      return cudaErrorInvalidValue;
    if (fcntl(file, F_GETFD) < 0) return cudaErrorInvalidValue;
    pools().made.push_back(std::make_unique<Pool>());
    pools().made.back()->imported = true;
    *handle = handle_of(pools().made.back().get());
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* pointer) {
  return call([&](State& s) {
    const auto shared = data == nullptr ? std::nullopt : s.shared.share(pointer);
    if (!shared) return cudaErrorInvalidValue;
    std::memcpy(data, &*shared, sizeof *data);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t handle,
                                                   cudaMemPoolPtrExportData* data) {
  return call([&](State& s) {
    const Pool* pool = pool_of(handle);
    if (pool == nullptr || !pool->imported || data == nullptr) return cudaErrorInvalidValue;
    return open(s, pointer, read(*data));
  });
}
