#include "sim/runtime/device/capture.h"

#include <algorithm>
#include <chrono>

#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

namespace {

using Ports = std::vector<std::pair<const GraphNode*, cudaGraphEdgeData>>;

/// The two nodes are one, or the second is the first one's in a copy of its graph.
bool stands_for(const GraphNode* named, const GraphNode* node) {
  return named == node || (node->original != nullptr && named == node->original);
}

/// A programmatic dependent launch need not wait for the end of kernels.
void add_programmatic(const std::vector<GraphNode*>& needs, Ports& ports) {
  cudaGraphEdgeData edge{};
  edge.from_port = cudaGraphKernelNodePortProgrammatic;
  edge.type = cudaGraphDependencyTypeProgrammatic;
  for (const GraphNode* need : needs) {
    const bool known =
        std::any_of(ports.begin(), ports.end(), [&](const auto& p) { return p.first == need; });
    if (!known && std::holds_alternative<KernelCall>(need->work)) ports.emplace_back(need, edge);
  }
}

}  // namespace

bool is_ordinary(const cudaGraphEdgeData& edge) {
  return edge.from_port == 0 && edge.to_port == 0 && edge.type == cudaGraphDependencyTypeDefault;
}

std::vector<cudaGraphEdgeData> edges_of(const Stream& stream) {
  std::vector<cudaGraphEdgeData> edges(stream.frontier.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (const auto& [node, edge] : stream.ports) {
      if (node == stream.frontier[i]) edges[i] = edge;
    }
  }
  return edges;
}

bool may_begin(const cudaGraphEdgeData& edge, const GraphNode& from) {
  if (is_ordinary(edge)) return true;
  // Kernels alone have ports; the programmatic one is for programmatic edges, and these begin at no ordinary one.
  const bool programmatic = edge.type == cudaGraphDependencyTypeProgrammatic;
  return std::holds_alternative<KernelCall>(from.work) && edge.to_port == 0 &&
         (edge.from_port == cudaGraphKernelNodePortLaunchCompletion ||
          (edge.from_port == cudaGraphKernelNodePortProgrammatic && programmatic)) &&
         (programmatic || edge.type == cudaGraphDependencyTypeDefault);
}

void set_edge(const GraphNode* need, GraphNode& node, const cudaGraphEdgeData& edge) {
  auto* kernel = std::get_if<KernelCall>(&node.work);
  if (kernel == nullptr) return;
  std::erase_if(kernel->ports, [&](const auto& port) { return stands_for(port.first, need); });
  if (!is_ordinary(edge)) kernel->ports.emplace_back(need, edge);
}

cudaGraphEdgeData edge_between(const GraphNode* need, const GraphNode& node) {
  if (const auto* kernel = std::get_if<KernelCall>(&node.work)) {
    for (const auto& [named, edge] : kernel->ports) {
      if (stands_for(named, need)) return edge;
    }
  }
  return {};
}

cudaError_t capture_node(Stream& stream, Work work, GraphNode** node) {
  if (stream.capture->broken != cudaSuccess) return cudaErrorStreamCaptureInvalidated;
  if (auto* kernel = std::get_if<KernelCall>(&work)) {
    kernel->ports = std::exchange(stream.ports, {});
    if (kernel->dependent) add_programmatic(stream.frontier, kernel->ports);
  }
  GraphNode* made = stream.capture->graph->add(std::move(work), stream.frontier);
  stream.frontier = {made};
  stream.ports.clear();
  if (node != nullptr) *node = made;
  return cudaSuccess;
}

cudaError_t capture_work(Stream& stream, Operation operation) {
  return std::visit([&](auto& part) { return capture_node(stream, std::move(part)); }, operation);
}

cudaError_t record_event(State& s, Event& event, Stream& stream, const cudaGraphEdgeData& edge) {
  event.edge = {};
  if (stream.capture) {
    if (stream.capture->broken != cudaSuccess) return cudaErrorStreamCaptureInvalidated;
    event.edge = edge;
    event.captured = true;
    event.capture = stream.capture;
    event.frontier = stream.frontier;
    return cudaSuccess;
  }
  if (s.streams.is_legacy(&stream) && s.streams.blocking_capture())
    return break_captures(s, cudaErrorStreamCaptureImplicit);
  event.captured = false;
  event.recorded = true;
  event.host = std::chrono::steady_clock::now();
  event.work = s.clock->record(stream, event);
  s.waiting.forget(event);
  if (s.waiting.before(stream)) s.waiting.put_behind(stream, event);
  return cudaSuccess;
}

cudaError_t join_capture(Stream& stream, const Event& event) {
  const std::shared_ptr<Capture> capture = event.capture.lock();
  if (!capture) return cudaErrorCapturedEvent;  // of a capture that has ended
  if (stream.capture && stream.capture != capture) {
    stream.capture->broken = capture->broken = cudaErrorStreamCaptureMerge;
    return cudaErrorStreamCaptureMerge;
  }
  if (!stream.capture) {
    stream.frontier.clear();
    stream.ports.clear();
  }
  stream.capture = capture;
  const bool ordinary = is_ordinary(event.edge);
  for (GraphNode* node : event.frontier) {
    // What is waited for to its end already stays so.
    if (std::find(stream.frontier.begin(), stream.frontier.end(), node) != stream.frontier.end()) {
      if (ordinary) std::erase_if(stream.ports, [&](const auto& port) { return port.first == node; });
      continue;
    }
    stream.frontier.push_back(node);
    if (!ordinary) stream.ports.emplace_back(node, event.edge);
  }
  return cudaSuccess;
}

cudaError_t break_captures(State& s, cudaError_t error) {
  for (Stream* stream : s.streams.all()) {
    if (stream->capture && (stream->flags & cudaStreamNonBlocking) == 0) stream->capture->broken = error;
  }
  return error;
}

}  // namespace foretrace::runtime
