// Streams under capture: what they are given becomes nodes of a graph.
#pragma once

#include <cuda_runtime_api.h>

#include "sim/runtime/device/graph.h"
#include "sim/runtime/device/stream.h"

namespace foretrace::runtime {

/// Adds the operation as a node that depends on the stream's last ones.
cudaError_t capture_work(Stream& stream, Operation operation);
/// The same for work of a graph's kinds only; `node` may be null.
cudaError_t capture_node(Stream& stream, Work work, GraphNode** node = nullptr);
/// The event stands for what the stream was given so far: in a capture for its last nodes, else for a place on the time line.
/// `edge`: how edges from those begin, where a launch has recorded it.
cudaError_t record_event(State& s, Event& event, Stream& stream, const cudaGraphEdgeData& edge = {});
/// The stream's next captured work also depends on what the event stands for.
cudaError_t join_capture(Stream& stream, const Event& event);
/// Ordinary ones are all zeros.
bool is_ordinary(const cudaGraphEdgeData& edge);
/// How edges from the stream's last nodes begin, one for each.
std::vector<cudaGraphEdgeData> edges_of(const Stream& stream);
/// Whether an edge from the node may be like that.
bool may_begin(const cudaGraphEdgeData& edge, const GraphNode& from);
/// Of an edge that is there, or, an ordinary one, that is there no more.
void set_edge(const GraphNode* need, GraphNode& node, const cudaGraphEdgeData& edge);
/// What the edge from `need` to `node` is. A port is known of edges to kernels only.
cudaGraphEdgeData edge_between(const GraphNode* need, const GraphNode& node);
/// Something that no capture allows has been asked for: captures of blocking streams are invalid from now on; returns `error`.
cudaError_t break_captures(State& s, cudaError_t error);

}  // namespace foretrace::runtime
