// Streams, events, and stream memory operations.
//
// Models:  work is executed when it is given, so a wait for a value in memory must find it there: one that does not would wait for a
//          later call of the host, and ends the program with a line that says so.
#include <cstring>

#include <fmt/format.h>

#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue));

/// Whether the wait's condition holds for what stands in memory.
template <class Word>
bool holds(Word now, Word value, unsigned flags) {
  using Signed = std::make_signed_t<Word>;
  switch (flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: return static_cast<Signed>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == value;
    case CU_STREAM_WAIT_VALUE_AND: return (now & value) != 0;
    default: return static_cast<Word>(~(now | value)) != 0;
  }
}

/// The stream and the word in memory that an operation needs.
template <class Word, class Body>
CUresult word_call(CUstream handle, CUdeviceptr where, Body&& body) {
  return with_state([&](State& s) {
    Stream* stream = s.streams.find(handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (where % sizeof(Word) != 0 || !s.memory.holds(pointer(where), sizeof(Word)))
      return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture) stop_not_provided("a stream memory operation in a captured stream");
    return body(s);
  });
}

template <class Word>
CUresult write(CUstream stream, CUdeviceptr where, Word value) {
  return word_call<Word>(stream, where, [&](State& s) {
    std::memcpy(pointer(where), &value, sizeof value);
    s.memory.mark_written(pointer(where), sizeof value);
    return CUDA_SUCCESS;
  });
}

template <class Word>
CUresult wait(CUstream stream, CUdeviceptr where, Word value, unsigned flags) {
  return word_call<Word>(stream, where, [&](State&) {
    Word now{};
    std::memcpy(&now, pointer(where), sizeof now);
    if (!holds(now, value, flags)) {
      stop(fmt::format(
          "cuStreamWaitValue{} at 0x{:x}: {} stands there, and nothing that was given to a stream before "
          "changes it; waits for later calls of the host are not provided",
          8 * sizeof(Word), where, now));
    }
    return CUDA_SUCCESS;
  });
}

CUresult operate(CUstream stream, const CUstreamBatchMemOpParams& p) {
  switch (p.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait<cuuint32_t>(stream, p.waitValue.address, p.waitValue.value, p.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait<cuuint64_t>(stream, p.waitValue.address, p.waitValue.value64, p.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write<cuuint32_t>(stream, p.writeValue.address, p.writeValue.value);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write<cuuint64_t>(stream, p.writeValue.address, p.writeValue.value64);
    case CU_STREAM_MEM_OP_BARRIER: return CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

const cudaLaunchAttributeValue* value_of(const CUstreamAttrValue* value) {
  return reinterpret_cast<const cudaLaunchAttributeValue*>(value);
}

}  // namespace

FORETRACE_API CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return in_context([&] { return cudaStreamCreateWithFlags(stream, flags); });
}
FORETRACE_API CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return in_context([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
FORETRACE_API CUresult cuStreamDestroy_v2(CUstream stream) {
  return in_context([&] { return cudaStreamDestroy(stream); });
}
FORETRACE_SAME(cuStreamDestroy, cuStreamDestroy_v2);
FORETRACE_API CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return in_context([&] { return cudaStreamGetPriority(stream, priority); });
}
FORETRACE_API CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return in_context([&] { return cudaStreamGetFlags(stream, flags); });
}
FORETRACE_API CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return in_context([&] { return cudaStreamGetId(stream, id); });
}
FORETRACE_API CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return in_context([&] { return cudaStreamGetDevice(stream, device); });
}
FORETRACE_API CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return with_state([&](State& s) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Stream* stream = s.streams.find(handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const Context* of = current_context();
    if (!s.streams.is_default(*stream) && (stream->green != nullptr || of->green()))
      of = stream->green != nullptr ? stream->green : primary_of(stream->device);
    *context = reinterpret_cast<CUcontext>(const_cast<Context*>(of));
    return CUDA_SUCCESS;
  });
}
/// A green context's stream has its device's primary one as context.
FORETRACE_API CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* context, CUgreenCtx* green) {
  CUgreenCtx found = nullptr;
  CUresult result = cuStreamGetCtx(handle, context);
  if (result == CUDA_SUCCESS) result = cuStreamGetGreenCtx(handle, &found);
  if (found != nullptr) *context = reinterpret_cast<CUcontext>(primary_of(context_of(found)->device));
  if (green != nullptr) *green = found;
  return result;
}
FORETRACE_API CUresult cuStreamSynchronize(CUstream stream) {
  return in_context([&] { return cudaStreamSynchronize(stream); });
}
FORETRACE_API CUresult cuStreamQuery(CUstream stream) {
  return in_context([&] { return cudaStreamQuery(stream); });
}
FORETRACE_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return in_context([&] { return cudaStreamWaitEvent(stream, event, flags); });
}
FORETRACE_API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                                           unsigned flags) {
  return in_context([&] {
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data, flags);
  });
}
FORETRACE_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return in_context([&] { return cudaLaunchHostFunc(stream, function, data); });
}
FORETRACE_API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr where, size_t size,
                                              unsigned flags) {
  return in_context([&] { return cudaStreamAttachMemAsync(stream, pointer(where), size, flags); });
}
FORETRACE_API CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return in_context([&] { return cudaStreamCopyAttributes(to, from); });
}
FORETRACE_API CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID id,
                                            const CUstreamAttrValue* value) {
  return in_context([&] {
    return cudaStreamSetAttribute(stream, static_cast<cudaLaunchAttributeID>(id), value_of(value));
  });
}
FORETRACE_API CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID id, CUstreamAttrValue* value) {
  return in_context([&] {
    return cudaStreamGetAttribute(stream, static_cast<cudaLaunchAttributeID>(id),
                                  const_cast<cudaLaunchAttributeValue*>(value_of(value)));
  });
}

FORETRACE_API CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return in_context([&] { return cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)); });
}
FORETRACE_API CUresult cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
FORETRACE_API CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* needs,
                                                   const CUgraphEdgeData* edges, size_t count,
                                                   CUstreamCaptureMode mode) {
  return in_context([&] {
    return cudaStreamBeginCaptureToGraph(stream, graph, needs,
                                         reinterpret_cast<const cudaGraphEdgeData*>(edges), count,
                                         static_cast<cudaStreamCaptureMode>(mode));
  });
}
FORETRACE_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return in_context([&] { return cudaStreamEndCapture(stream, graph); });
}
FORETRACE_API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return in_context(
      [&] { return cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status)); });
}
FORETRACE_API CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status,
                                                 cuuint64_t* id, CUgraph* graph, const CUgraphNode** needs,
                                                 const CUgraphEdgeData** edges, size_t* count) {
  return in_context([&] {
    unsigned long long number = 0;
    const cudaError_t result =
        cudaStreamGetCaptureInfo(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status), &number, graph,
                                 needs, reinterpret_cast<const cudaGraphEdgeData**>(edges), count);
    if (id != nullptr) *id = number;
    return result;
  });
}
FORETRACE_API CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status,
                                                 cuuint64_t* id, CUgraph* graph, const CUgraphNode** needs,
                                                 size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, needs, nullptr, count);
}
FORETRACE_API CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status,
                                              cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
FORETRACE_API CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* needs,
                                                            const CUgraphEdgeData* edges, size_t count,
                                                            unsigned flags) {
  return in_context([&] {
    return cudaStreamUpdateCaptureDependencies(
        stream, needs, reinterpret_cast<const cudaGraphEdgeData*>(edges), count, flags);
  });
}
FORETRACE_API CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* needs, size_t count,
                                                         unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, needs, nullptr, count, flags);
}
FORETRACE_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return initialised(
      [&] { return cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode)); });
}

FORETRACE_API CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr where, cuuint32_t value,
                                               unsigned) {
  return write<cuuint32_t>(stream, where, value);
}
FORETRACE_API CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr where, cuuint64_t value,
                                               unsigned) {
  return write<cuuint64_t>(stream, where, value);
}
FORETRACE_API CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr where, cuuint32_t value,
                                              unsigned flags) {
  return wait<cuuint32_t>(stream, where, value, flags);
}
FORETRACE_API CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr where, cuuint64_t value,
                                              unsigned flags) {
  return wait<cuuint64_t>(stream, where, value, flags);
}
FORETRACE_API CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams* list,
                                             unsigned flags) {
  if (flags != 0 || (count != 0 && list == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    if (const CUresult result = operate(stream, list[i]); result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
// The first forms, which drivers since 12.0 have only where the kernel module is told to (CAN_USE_STREAM_MEM_OPS_V1 is 0).
FORETRACE_API CUresult cuStreamWriteValue32(CUstream, CUdeviceptr, cuuint32_t, unsigned) {
  return in_context([] { return CUDA_ERROR_NOT_SUPPORTED; });
}
FORETRACE_API CUresult cuStreamWriteValue64(CUstream, CUdeviceptr, cuuint64_t, unsigned) {
  return in_context([] { return CUDA_ERROR_NOT_SUPPORTED; });
}
FORETRACE_SAME(cuStreamWaitValue32, cuStreamWriteValue32);
FORETRACE_SAME(cuStreamWaitValue64, cuStreamWriteValue64);
FORETRACE_API CUresult cuStreamBatchMemOp(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned) {
  return in_context([] { return CUDA_ERROR_NOT_SUPPORTED; });
}

FORETRACE_API CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return in_context([&] { return cudaEventCreateWithFlags(event, flags); });
}
FORETRACE_API CUresult cuEventDestroy_v2(CUevent event) {
  return in_context([&] { return cudaEventDestroy(event); });
}
FORETRACE_SAME(cuEventDestroy, cuEventDestroy_v2);
FORETRACE_API CUresult cuEventRecord(CUevent event, CUstream stream) {
  return in_context([&] { return cudaEventRecord(event, stream); });
}
FORETRACE_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return in_context([&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
FORETRACE_API CUresult cuEventQuery(CUevent event) {
  return in_context([&] { return cudaEventQuery(event); });
}
FORETRACE_API CUresult cuEventSynchronize(CUevent event) {
  return in_context([&] { return cudaEventSynchronize(event); });
}
FORETRACE_API CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  return in_context([&] { return cudaEventElapsedTime(milliseconds, from, to); });
}
FORETRACE_SAME(cuEventElapsedTime_v2, cuEventElapsedTime);
