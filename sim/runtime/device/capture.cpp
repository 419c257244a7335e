#include "sim/runtime/device/capture.h"

#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

cudaError_t capture_node(Stream& stream, Work work, GraphNode** node) {
  if (stream.capture->broken != cudaSuccess) return cudaErrorStreamCaptureInvalidated;
  GraphNode* made = stream.capture->graph->add(std::move(work), stream.frontier);
  stream.frontier = {made};
  if (node != nullptr) *node = made;
  return cudaSuccess;
}

cudaError_t capture_work(Stream& stream, Operation operation) {
  return std::visit([&](auto& part) { return capture_node(stream, std::move(part)); }, operation);
}

cudaError_t break_captures(State& s, cudaError_t error) {
  for (Stream* stream : s.streams.all()) {
    if (stream->capture && (stream->flags & cudaStreamNonBlocking) == 0) stream->capture->broken = error;
  }
  return error;
}

}  // namespace foretrace::runtime
