// Graphs: work that is described first and launched later, built by hand or captured from streams.
//
// Models:  nodes of all kinds but external semaphores (conditional.h); edges, child graphs, instantiation as a copy, updates of
//          an instance, switched-off nodes. A launch runs the nodes in an order that the edges allow, those ready at the same time in
//          the order of their making; on the predicted time line a node begins when all that it needs has ended.
//          What allocation nodes give out is graph_memory.h's matter.
#pragma once

#include <chrono>
#include <memory>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <cuda_runtime_api.h>

#include "sim/host/schedule.h"
#include "sim/runtime/device/operation.h"

namespace foretrace::runtime {

struct State;
struct Graph;
struct GraphNode;
struct Stream;
struct GraphAllocation;  // graph_memory.h
struct GraphSegment;     // graph_memory.h

/// One call of cudaStreamBeginCapture to its end; several streams may take part.
struct Capture {
  unsigned long long id = 0;
  cudaStream_t origin = nullptr;
  std::unique_ptr<Graph> own;  ///< empty when the program gave the graph
  Graph* graph = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  cudaError_t broken = cudaSuccess;  ///< why the capture is invalid
  std::vector<GraphNode*> left;      ///< the last work of streams that took part and were destroyed since
};

struct Event {
  unsigned flags = cudaEventDefault;
  bool recorded = false;
  host::WorkId work = host::kNoWork;  ///< its place on the time line
  std::chrono::steady_clock::time_point
      host;               ///< when it was recorded, which is when the work before it was executed
  bool captured = false;  ///< last recorded in a stream that was captured
  std::weak_ptr<Capture> capture;
  std::vector<GraphNode*> frontier;  ///< what waits for the event depends on
  cudaGraphEdgeData edge{};          ///< how edges from those begin, where a launch has recorded it
};

struct EmptyWork {};
struct ChildWork {
  std::shared_ptr<Graph> graph;
};
struct RecordWork {
  Event* event = nullptr;
};
struct WaitWork {
  Event* event = nullptr;
};
struct AllocateWork {
  cudaMemAllocNodeParams parameters;
  std::shared_ptr<GraphAllocation> allocation;
};
struct FreeWork {
  void* pointer = nullptr;
  std::weak_ptr<GraphAllocation> allocation;
};
struct ConditionalWork {
  cudaGraphConditionalHandle handle = 0;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::shared_ptr<std::vector<cudaGraph_t>> handles;  ///< of the bodies: what the program was given
};
using Work = std::variant<KernelCall, CopyCall, FillCall, HostCall, EmptyWork, ChildWork, RecordWork,
                          WaitWork, AllocateWork, FreeWork, ConditionalWork>;

struct GraphNode {
  Graph* graph = nullptr;
  Work work;
  std::vector<GraphNode*> needs;
  bool enabled = true;
  const GraphNode* original = nullptr;  ///< of a copy: what it was made of
  std::vector<void*> arguments;         ///< what cudaGraphKernelNodeGetParams points to
};

/// Counted references to something of the program's.
struct UserObject {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned count = 0;
};
void release(UserObject* object, unsigned count);

/// What a conditional handle is at each launch of its graph.
struct Condition {
  cudaGraphConditionalHandle handle = 0;
  unsigned initial = 0;
  bool assign = false;  ///< at each launch; else it stays as it was left
};

struct Graph {
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  GraphNode* add(Work work, std::vector<GraphNode*> needs);
  /// Nodes in an order that the edges allow; fewer than there are when the edges have a cycle.
  std::vector<GraphNode*> order() const;
  /// A deep copy; each copy's `original` is set.
  std::unique_ptr<Graph> copy() const;
  GraphNode* copy_of(const GraphNode* original) const;

  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::vector<std::pair<UserObject*, unsigned>> objects;
  std::vector<Condition> conditions;
  std::weak_ptr<GraphSegment> small;  ///< of its small allocations
  std::weak_ptr<int>
      claimed;  ///< by the instance, of which a graph with memory nodes, or nodes that kernels change, has one at a time
  bool moved = false;  ///< into a node of another graph, whose it is from then on
};

struct GraphInstance {
  std::unique_ptr<Graph> graph;
  unsigned long long flags = 0;
  std::shared_ptr<int> claim;  ///< of the graph that it was made of
};

cudaGraphNodeType type_of(const GraphNode& node);

/// What the program holds handles of.
struct GraphRegistry {
  std::unordered_set<const Graph*> graphs;  ///< child graphs and copies included
  std::unordered_set<const GraphNode*> nodes;
  std::unordered_set<const GraphInstance*> instances;
  std::unordered_set<const Event*> events;
  std::unordered_set<const UserObject*> objects;
};
GraphRegistry& registry();

/// Null for a handle that is none.
Graph* graph_of(cudaGraph_t handle);
GraphNode* node_of(cudaGraphNode_t handle);
GraphInstance* instance_of(cudaGraphExec_t handle);
Event* event_of(cudaEvent_t handle);
template <class Handle, class T>
Handle handle_of(T* object) {
  return reinterpret_cast<Handle>(object);
}

/// The instance's node that a handle of device code (cudaGraphDeviceNode_t) stands for; null: none.
GraphNode* updatable_node(std::uint64_t handle);
/// Whether kernels may change some of the graph's nodes.
bool has_updatable_nodes(const Graph& graph);

/// False: a handle of the list is none, or of another graph.
bool read_nodes(const cudaGraphNode_t* handles, std::size_t count, const Graph* graph,
                std::vector<GraphNode*>& nodes);

/// One launch in the stream: runs the graph's nodes, then, each as a launch of its own, the graphs that its kernels have given to its tail.
cudaError_t run_graph(State& s, const GraphInstance& instance, const Stream& stream);
/// The same of a graph that a kernel has launched beside its own; the seconds are added up.
cudaError_t run_graph_within(State& s, const GraphInstance& instance, double& seconds);

// Nodes' parameters in CUDA's structures and ours. cudaErrorInvalidValue where they make no sense.
cudaError_t work_of(State& s, const cudaKernelNodeParams& parameters, Work& work);
cudaError_t work_of(const cudaMemcpy3DParms& parameters, Work& work);
cudaError_t work_of(const cudaMemsetParams& parameters, Work& work);
Work copy_work(void* to, const void* from, std::size_t size, cudaMemcpyKind kind);
cudaKernelNodeParams kernel_parameters(GraphNode& node);
cudaMemcpy3DParms copy_parameters(const CopyCall& copy);
cudaMemsetParams fill_parameters(const FillCall& fill);

}  // namespace foretrace::runtime
