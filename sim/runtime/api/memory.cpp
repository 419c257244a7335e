// Allocating and freeing memory, and asking what a pointer is.
#include <algorithm>
#include <climits>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/capture.h"
#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/graph_memory.h"
#include "sim/runtime/device/pool.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

constexpr std::size_t kPitchAlignment =
    512;  // bytes: cudaDeviceProp::texturePitchAlignment rounded up to what cudaMallocPitch returns

cudaError_t allocate(State& s, void** pointer, std::size_t size, MemoryKind kind, unsigned flags = 0) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return kind == MemoryKind::managed ? cudaErrorInvalidValue : cudaSuccess;
  *pointer = s.memory.allocate(size, kind, flags);
  return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t release(State& s, void* pointer, MemoryKind kind) {
  if (pointer == nullptr) return cudaSuccess;
  if (kind == MemoryKind::device) {
    if (const std::optional<cudaError_t> freed = free_graph_memory(pointer)) return *freed;
  }
  const MemoryBlock* block = s.memory.find(pointer);
  const std::uint64_t size = block == nullptr ? 0 : block->size;
  if (kind == MemoryKind::device) {
    if (const Pool* owner = owner_of(pointer)) kind = owner->kind;
  }
  if (!s.memory.release(pointer, kind))
    return s.shared.close(pointer) ? cudaSuccess
                                   : cudaErrorInvalidValue;  // what a pool of another process gave
  s.shared.forget(reinterpret_cast<std::uint64_t>(pointer), size);
  take_back(pointer);
  return cudaSuccess;
}

cudaError_t allocate_pitched(State& s, void** pointer, std::size_t* pitch, std::size_t width,
                             std::size_t rows) {
  if (pitch == nullptr || width > SIZE_MAX - kPitchAlignment) return cudaErrorInvalidValue;
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  if (rows != 0 && *pitch > SIZE_MAX / rows) return cudaErrorMemoryAllocation;
  return allocate(s, pointer, *pitch * rows, MemoryKind::device);
}

/// An allocation node, which has its address at once.
cudaError_t capture_allocation(State& s, Stream& stream, void** pointer, std::size_t size) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (stream.capture->broken != cudaSuccess) return cudaErrorStreamCaptureInvalidated;
  if (size == 0) return cudaSuccess;
  AllocateWork wanted;
  wanted.parameters = {};
  wanted.parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.parameters.poolProps.location = {cudaMemLocationTypeDevice, stream.device};
  wanted.parameters.bytesize = size;
  Work work = std::move(wanted);
  const cudaError_t refused = place_memory(s, *stream.capture->graph, stream.frontier, work);
  if (refused != cudaSuccess) return refused;
  *pointer = std::get<AllocateWork>(work).parameters.dptr;
  return capture_node(stream, std::move(work));
}

/// A free node, which only memory of graphs can have.
cudaError_t capture_release(State& s, Stream& stream, void* pointer) {
  if (stream.capture->broken != cudaSuccess) return cudaErrorStreamCaptureInvalidated;
  if (pointer == nullptr) return cudaSuccess;
  Work work = FreeWork{pointer, {}};
  const cudaError_t refused = place_memory(s, *stream.capture->graph, stream.frontier, work);
  return refused != cudaSuccess ? refused : capture_node(stream, std::move(work));
}

cudaError_t allocate_in_stream(State& s, void** pointer, std::size_t size, cudaStream_t handle, Pool& pool) {
  Stream* stream = s.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture) return capture_allocation(s, *stream, pointer, size);
  if (pointer != nullptr && size != 0 && !pool.has_room(size)) {
    *pointer = nullptr;
    return cudaErrorMemoryAllocation;
  }
  const MemoryKind kind = size == 0 ? MemoryKind::device : pool.kind;
  const cudaError_t refused =
      allocate(s, pointer, size, kind, kind == MemoryKind::managed ? cudaMemAttachGlobal : 0);
  if (refused != cudaSuccess) return refused;
  if (*pointer != nullptr) pool.hand_out(*pointer, size);
  s.clock->allocate_in_stream();
  return cudaSuccess;
}

}  // namespace

FORETRACE_API cudaError_t cudaMalloc(void** pointer, size_t size) {
  return call([&](State& s) {
    const cudaError_t result = allocate(s, pointer, size, MemoryKind::device);
    if (result == cudaSuccess) s.clock->allocate(size);
    return result;
  });
}
FORETRACE_API cudaError_t cudaFree(void* pointer) {
  return call([&](State& s) {
    s.waiting.finish();
    const MemoryBlock* block = s.memory.find(pointer);
    const std::uint64_t size = block == nullptr ? 0 : block->size;
    const cudaError_t result = release(s, pointer, MemoryKind::device);
    if (result == cudaSuccess && size != 0) s.clock->release(size);
    return result;
  });
}
FORETRACE_API cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  return call([&](State& s) { return allocate(s, pointer, size, MemoryKind::managed, flags); });
}
FORETRACE_API cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return call([&](State& s) { return allocate(s, pointer, size, MemoryKind::host); });
}
FORETRACE_API cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned flags) {
  return call([&](State& s) { return allocate(s, pointer, size, MemoryKind::host, flags); });
}
FORETRACE_API cudaError_t cudaFreeHost(void* pointer) {
  return call([&](State& s) { return release(s, pointer, MemoryKind::host); });
}

FORETRACE_API cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned flags) {
  return call([&](State& s) {
    if (pointer == nullptr || size == 0) return cudaErrorInvalidValue;
    return s.memory.register_host(pointer, size, flags) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
  });
}
FORETRACE_API cudaError_t cudaHostUnregister(void* pointer) {
  return call([&](State& s) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    return s.memory.release(pointer, MemoryKind::registered) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}
FORETRACE_API cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return call([&](State& s) {
    const MemoryBlock* block = s.memory.find(host);
    if (device == nullptr || block == nullptr) return cudaErrorInvalidValue;
    if (block->kind != MemoryKind::host && block->kind != MemoryKind::registered &&
        block->kind != MemoryKind::managed) {
      return cudaErrorInvalidValue;
    }
    *device = host;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&](State& s) {
    const MemoryBlock* block = s.memory.find(host);
    if (flags == nullptr || block == nullptr || block->kind != MemoryKind::host) return cudaErrorInvalidValue;
    *flags = block->flags | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return call([&](State& s) { return allocate_pitched(s, pointer, pitch, width, height); });
}
FORETRACE_API cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  return call([&](State& s) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth) return cudaErrorMemoryAllocation;
    *pointer = {nullptr, 0, extent.width, extent.height};
    return allocate_pitched(s, &pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
  });
}

FORETRACE_API cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return call(
      [&](State& s) { return allocate_in_stream(s, pointer, size, stream, *pools().device.current); });
}
FORETRACE_API cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t handle,
                                                  cudaStream_t stream) {
  return call([&](State& s) {
    Pool* pool = pool_of(handle);
    return pool == nullptr ? cudaErrorInvalidValue : allocate_in_stream(s, pointer, size, stream, *pool);
  });
}
FORETRACE_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call([&](State& s) {
    Stream* in = s.streams.find(stream);
    if (in == nullptr) return cudaErrorInvalidResourceHandle;
    if (in->capture) return capture_release(s, *in, pointer);
    return release(s, pointer, MemoryKind::device);
  });
}

FORETRACE_API cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  return call([&](State& s) {
    if (available == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *total = s.memory.capacity();
    *available = s.memory.capacity() - s.memory.used();
    return cudaSuccess;
  });
}

namespace {

/// Whether the address lies in a __managed__ variable.
bool is_managed_variable(const State& s, const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return std::any_of(s.managed.begin(), s.managed.end(), [&](const State::ManagedVariable& managed) {
    const auto start = reinterpret_cast<std::uintptr_t>(*managed.pointer);
    return start != 0 && address >= start && address - start < managed.module->variable(managed.name).size;
  });
}

}  // namespace

FORETRACE_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call([&](State& s) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    void* const address = const_cast<void*>(pointer);
    const MemoryBlock* block = s.memory.find(pointer);  // a graph's: from its launch on
    if (block == nullptr) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = address;
      return cudaSuccess;
    }
    attributes->device = block->device;
    attributes->devicePointer = address;
    switch (block->kind) {
      case MemoryKind::managed: attributes->type = cudaMemoryTypeManaged; break;
      case MemoryKind::host:
      case MemoryKind::registered: attributes->type = cudaMemoryTypeHost; break;
      case MemoryKind::variable:
        attributes->type = is_managed_variable(s, pointer) ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
        break;
      default: attributes->type = cudaMemoryTypeDevice; break;
    }
    if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = address;
    return cudaSuccess;
  });
}
