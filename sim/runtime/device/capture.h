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
/// Something that no capture allows has been asked for: captures of blocking streams are invalid from now on; returns `error`.
cudaError_t break_captures(State& s, cudaError_t error);

}  // namespace foretrace::runtime
