// Calls that are about a stream.
#pragma once

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

/// As call(), with the stream that the handle names.
template <class Body>
cudaError_t stream_call(cudaStream_t handle, Body&& body) {
  return call([&](State& s) {
    Stream* stream = s.streams.find(handle);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : body(s, *stream);
  });
}

}  // namespace foretrace::runtime
