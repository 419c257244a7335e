// Events: points of the predicted GPU's time line.
//
// Models:  an event's time is when the work before it in its stream ends on the predicted time line; cudaEventElapsedTime is the
//          difference, so a program that times its kernels by events prints predicted times. Launches that are left out take no time
//          there. Where nothing is predicted it is the time that emulation took: programs divide by it to decide how often they repeat.
#include <algorithm>
#include <chrono>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/capture.h"
#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

constexpr unsigned kFlags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

template <class Body>
cudaError_t event_call(cudaEvent_t handle, Body&& body) {
  return call([&](State& s) {
    Event* event = event_of(handle);
    return event == nullptr ? cudaErrorInvalidResourceHandle : body(s, *event);
  });
}

cudaError_t record(State& s, Event& event, cudaStream_t handle, unsigned flags) {
  Stream* stream = s.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture && flags == cudaEventRecordExternal) return capture_node(*stream, RecordWork{&event});
  return record_event(s, event, *stream);
}

cudaError_t wait(State& s, Event& event) {
  if (event.captured) return cudaErrorCapturedEvent;
  if (event.recorded) {
    s.waiting.finish(event);
    s.clock->synchronize(event);
    s.place_launches();
  }
  return s.faulted();
}

}  // namespace

FORETRACE_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags) {
  return call([&](State&) {
    if (handle == nullptr || (flags & ~kFlags) != 0) return cudaErrorInvalidValue;
    if ((flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0)
      return cudaErrorInvalidValue;
    auto* event = new Event;
    event->flags = flags;
    registry().events.insert(event);
    *handle = handle_of<cudaEvent_t>(event);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaEventCreate(cudaEvent_t* handle) {
  return cudaEventCreateWithFlags(handle, cudaEventDefault);
}

FORETRACE_API cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return event_call(handle, [](State& s, Event& event) {
    s.waiting.forget(event);
    registry().events.erase(&event);
    delete &event;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream, unsigned flags) {
  return event_call(handle, [&](State& s, Event& event) { return record(s, event, stream, flags); });
}
FORETRACE_API cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream) {
  return cudaEventRecordWithFlags(handle, stream, cudaEventRecordDefault);
}

FORETRACE_API cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return event_call(handle, [](State& s, Event& event) {
    return !event.captured && s.waiting.before(event) ? cudaErrorNotReady : wait(s, event);
  });
}
FORETRACE_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) { return event_call(handle, wait); }

FORETRACE_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return event_call(from, [&](State& s, Event& first) {
    const Event* last = event_of(to);
    if (last == nullptr) return cudaErrorInvalidResourceHandle;
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    if (((first.flags | last->flags) & cudaEventDisableTiming) != 0) return cudaErrorInvalidResourceHandle;
    if (first.captured || last->captured) return cudaErrorCapturedEvent;
    if (!first.recorded || !last->recorded) return cudaErrorInvalidResourceHandle;
    if (s.waiting.before(first) || s.waiting.before(*last)) return cudaErrorNotReady;
    if (s.settings.functional) {
      *milliseconds = std::chrono::duration<float, std::milli>(last->host - first.host).count();
      return cudaSuccess;
    }
    host::TimeLine& line = s.clock->line();
    *milliseconds = static_cast<float>((line.begin_of(last->work) - line.begin_of(first.work)) * 1e-6);
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned flags) {
  return event_call(event_handle, [&](State& s, Event& event) {
    Stream* stream = s.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (flags == cudaEventWaitExternal && stream->capture) return capture_node(*stream, WaitWork{&event});
    if (event.captured) return join_capture(*stream, event);
    if (stream->capture) {
      stream->capture->broken = cudaErrorStreamCaptureIsolation;
      return cudaErrorStreamCaptureIsolation;
    }
    s.waiting.finish(event);
    if (event.recorded) s.clock->wait(*stream, event);
    return cudaSuccess;
  });
}
