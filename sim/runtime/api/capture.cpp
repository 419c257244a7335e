// Capturing streams into graphs.
#include <algorithm>
#include <set>

#include "sim/runtime/api/api.h"
#include "sim/runtime/api/stream_call.h"
#include "sim/runtime/device/capture.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

cudaError_t begin(State& s, Stream& stream, cudaStream_t handle, std::unique_ptr<Graph> own, Graph* graph,
                  std::vector<GraphNode*> needs, cudaStreamCaptureMode mode) {
  if (s.streams.is_legacy(&stream)) return cudaErrorStreamCaptureUnsupported;
  if (stream.capture) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->id = ++s.last_capture;
  capture->origin = handle;
  capture->own = std::move(own);
  capture->graph = graph;
  capture->mode = mode;
  stream.capture = std::move(capture);
  stream.frontier = std::move(needs);
  stream.ports.clear();
  return cudaSuccess;
}

/// Whether all that `streams`, and those that are destroyed by now, were given is needed, at whatever distance, by the frontier of
/// the capture's own stream.
bool joined(const Stream& origin, const std::vector<Stream*>& streams) {
  std::set<const GraphNode*> needed;
  std::vector<const GraphNode*> open(origin.frontier.begin(), origin.frontier.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (needed.insert(node).second) open.insert(open.end(), node->needs.begin(), node->needs.end());
  }
  const auto all_needed = [&](const std::vector<GraphNode*>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](const GraphNode* node) { return needed.contains(node); });
  };
  return all_needed(origin.capture->left) &&
         std::all_of(streams.begin(), streams.end(),
                     [&](const Stream* stream) { return all_needed(stream->frontier); });
}

cudaError_t end(State& s, Stream& stream, cudaStream_t handle, cudaGraph_t* graph) {
  const std::shared_ptr<Capture> capture = stream.capture;
  // Of a capture into a graph of its own the program needs no handle.
  if (graph == nullptr && (!capture || capture->own)) return cudaErrorInvalidValue;
  if (graph != nullptr) *graph = nullptr;
  if (!capture) return cudaErrorIllegalState;
  if (s.streams.find(capture->origin) != &stream) return cudaErrorStreamCaptureUnmatched;
  (void)handle;
  const std::vector<Stream*> members = s.streams.captured_by(capture.get());
  const bool whole = joined(stream, members);
  for (Stream* member : members) {
    member->capture.reset();
    member->frontier.clear();
    member->ports.clear();
  }
  if (capture->broken != cudaSuccess) return cudaErrorStreamCaptureInvalidated;
  if (!whole) return cudaErrorStreamCaptureUnjoined;
  if (graph != nullptr) *graph = handle_of<cudaGraph_t>(capture->graph);
  capture->own.release();  // the program's from now on
  return cudaSuccess;
}

cudaStreamCaptureStatus status_of(const Stream& stream) {
  if (!stream.capture) return cudaStreamCaptureStatusNone;
  return stream.capture->broken == cudaSuccess ? cudaStreamCaptureStatusActive
                                               : cudaStreamCaptureStatusInvalidated;
}

}  // namespace

FORETRACE_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return stream_call(handle, [&](State& s, Stream& stream) {
    auto graph = std::make_unique<Graph>();
    Graph* const made = graph.get();
    return begin(s, stream, handle, std::move(graph), made, {}, mode);
  });
}

FORETRACE_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph_handle,
                                                        const cudaGraphNode_t* needs,
                                                        const cudaGraphEdgeData*, size_t count,
                                                        cudaStreamCaptureMode mode) {
  return stream_call(handle, [&](State& s, Stream& stream) {
    Graph* graph = graph_of(graph_handle);
    std::vector<GraphNode*> nodes;
    if (graph == nullptr || !read_nodes(needs, count, graph, nodes)) return cudaErrorInvalidValue;
    return begin(s, stream, handle, nullptr, graph, std::move(nodes), mode);
  });
}

FORETRACE_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return stream_call(handle, [&](State& s, Stream& stream) { return end(s, stream, handle, graph); });
}

FORETRACE_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return stream_call(handle, [&](State& s, Stream& stream) {
    if (status == nullptr) return cudaErrorInvalidValue;
    if (s.streams.is_legacy(&stream) && s.streams.blocking_capture()) return cudaErrorStreamCaptureImplicit;
    *status = status_of(stream);
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                                   unsigned long long* id, cudaGraph_t* graph,
                                                   const cudaGraphNode_t** needs,
                                                   const cudaGraphEdgeData** edges, size_t* count) {
  return stream_call(handle, [&](State& s, Stream& stream) {
    if (status == nullptr) return cudaErrorInvalidValue;
    if (s.streams.is_legacy(&stream) && s.streams.blocking_capture()) return cudaErrorStreamCaptureImplicit;
    *status = status_of(stream);
    if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
    stream.edges = edges_of(stream);
    const bool ordinary = std::all_of(stream.edges.begin(), stream.edges.end(), is_ordinary);
    if (!ordinary && needs != nullptr && edges == nullptr) return cudaErrorLossyQuery;
    if (id != nullptr) *id = stream.capture->id;
    if (graph != nullptr) *graph = handle_of<cudaGraph_t>(stream.capture->graph);
    if (needs != nullptr) *needs = reinterpret_cast<const cudaGraphNode_t*>(stream.frontier.data());
    if (edges != nullptr) *edges = stream.edges.data();
    if (count != nullptr) *count = stream.frontier.size();
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* needs,
                                                              const cudaGraphEdgeData* edges, size_t count,
                                                              unsigned flags) {
  return stream_call(handle, [&](State&, Stream& stream) {
    if (!stream.capture) return cudaErrorIllegalState;
    std::vector<GraphNode*> nodes;
    if (flags > cudaStreamSetCaptureDependencies || !read_nodes(needs, count, stream.capture->graph, nodes))
      return cudaErrorInvalidValue;
    if (flags == cudaStreamSetCaptureDependencies) {
      stream.frontier.clear();
      stream.ports.clear();
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      stream.frontier.push_back(nodes[i]);
      if (edges != nullptr && !is_ordinary(edges[i])) stream.ports.emplace_back(nodes[i], edges[i]);
    }
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&](State&) {
    if (mode == nullptr) return cudaErrorInvalidValue;
    std::swap(*mode, capture_mode());
    return cudaSuccess;
  });
}
