// Streams: making and asking them, waiting, functions of the host in them.
//
// Models:  work is executed when it is given to a stream, so a stream that is asked is always ready, unless a kernel waits in it.
#include <algorithm>

#include "sim/runtime/api/api.h"
#include "sim/runtime/api/stream_call.h"
#include "sim/runtime/device/capture.h"
#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/launch_attributes.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

cudaError_t create(cudaStream_t* handle, unsigned flags, int priority) {
  return call([&](State& s) {
    if (handle == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) return cudaErrorInvalidValue;
    *handle =
        reinterpret_cast<cudaStream_t>(s.streams.create(flags, std::clamp(priority, kGreatestPriority, 0)));
    return cudaSuccess;
  });
}

/// A callback with what it is to be called with.
struct Callback {
  cudaStreamCallback_t function;
  cudaStream_t stream;
  void* data;
};

/// Waiting for a stream that is captured is an error and ends the capture.
cudaError_t wait(State& s, Stream& stream) {
  if (!stream.capture) {
    s.waiting.finish(stream);
    s.clock->synchronize(stream);
    s.place_launches();
    return s.faulted();
  }
  stream.capture->broken = cudaErrorStreamCaptureUnsupported;
  return cudaErrorStreamCaptureUnsupported;
}

}  // namespace

FORETRACE_API cudaError_t cudaStreamCreate(cudaStream_t* handle) {
  return create(handle, cudaStreamDefault, 0);
}
FORETRACE_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags) {
  return create(handle, flags, 0);
}
FORETRACE_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned flags, int priority) {
  return create(handle, flags, priority);
}

FORETRACE_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call([&](State& s) {
    if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
      return cudaErrorInvalidResourceHandle;
    Stream* stream = s.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    s.waiting.finish(*stream);
    if (Capture* capture = stream->capture.get();
        capture != nullptr && s.streams.find(capture->origin) == stream) {
      capture->broken = cudaErrorStreamCaptureUnjoined;
    } else if (capture != nullptr) {  // whether others wait for its work is asked at the end
      capture->left.insert(capture->left.end(), stream->frontier.begin(), stream->frontier.end());
    }
    s.streams.destroy(handle);
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return stream_call(handle, [&](State&, Stream& stream) {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = stream.priority;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return stream_call(handle, [&](State&, Stream& stream) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = stream.flags;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return stream_call(handle, [&](State&, Stream& stream) {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = stream.id;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return stream_call(handle, [&](State&, const Stream& stream) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = stream.device;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                                 const cudaLaunchAttributeValue* value) {
  return stream_call(handle, [&](const State& s, Stream& stream) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t bad = check_attribute(*s.spec, AttributeOf::stream, id, *value); bad != cudaSuccess)
      return bad;
    keep_attribute(stream.attributes, id, *value);
    if (id == cudaLaunchAttributePriority)
      stream.priority = std::clamp(value->priority, kGreatestPriority, 0);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                                 cudaLaunchAttributeValue* value) {
  return stream_call(handle, [&](const State& s, Stream& stream) {
    if (value == nullptr || !has_attribute(AttributeOf::stream, id)) return cudaErrorInvalidValue;
    const cudaLaunchAttributeValue* kept = kept_attribute(stream.attributes, id);
    *value = kept != nullptr ? *kept : default_attribute(*s.spec, id);
    if (id == cudaLaunchAttributePriority) value->priority = stream.priority;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return stream_call(to, [&](State& s, Stream& stream) {
    const Stream* source = s.streams.find(from);
    if (source == nullptr) return cudaErrorInvalidResourceHandle;
    stream.attributes = source->attributes;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return stream_call(handle, [](State& s, Stream& stream) { return wait(s, stream); });
}
FORETRACE_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return stream_call(handle, [](State& s, Stream& stream) {
    return !stream.capture && s.waiting.before(stream) ? cudaErrorNotReady : wait(s, stream);
  });
}

FORETRACE_API cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return call([&](State& s) {
    if (function == nullptr) return cudaErrorInvalidValue;
    return s.submit(handle, HostCall{function, data});
  });
}

FORETRACE_API cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t function,
                                                void* data, unsigned flags) {
  return stream_call(handle, [&](State& s, Stream& stream) {
    if (function == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (stream.capture) return wait(s, stream);
    Callback callback{function, handle, data};
    const auto run = [](void* given) {
      const Callback& what = *static_cast<Callback*>(given);
      what.function(what.stream, cudaSuccess, what.data);
    };
    return s.submit(handle, HostCall{run, &callback});
  });
}

FORETRACE_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* pointer, size_t, unsigned) {
  return stream_call(handle, [&](State& s, Stream&) {
    const MemoryBlock* block = s.memory.find(pointer);
    return block == nullptr || (block->kind != MemoryKind::managed && block->kind != MemoryKind::variable)
               ? cudaErrorInvalidValue
               : cudaSuccess;
  });
}
