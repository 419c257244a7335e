#include "sim/runtime/device/graph.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "model/units/error.h"
#include "sim/host/graph_launch.h"
#include "sim/runtime/device/array.h"
#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/conditional.h"
#include "sim/runtime/device/copy.h"
#include "sim/runtime/device/graph_memory.h"
#include "sim/runtime/device/launch_attributes.h"
#include "sim/runtime/device/launch_call.h"
#include "sim/runtime/device/launcher.h"
#include "sim/runtime/device/side_by_side.h"
#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

GraphRegistry& registry() {
  static auto* all = new GraphRegistry;  // never deleted: the program's own destructors may still call
  return *all;
}

namespace {

/// Whether an edge to it begins where the kernel before lets it go.
bool is_dependent(const KernelCall& call) {
  return std::any_of(call.ports.begin(), call.ports.end(), [](const auto& port) {
    return port.second.type == cudaGraphDependencyTypeProgrammatic;
  });
}

template <class T, class Handle>
T* known(const std::unordered_set<const T*>& set, Handle handle) {
  T* object = reinterpret_cast<T*>(handle);
  return set.contains(object) ? object : nullptr;
}

}  // namespace

Graph* graph_of(cudaGraph_t handle) { return known(registry().graphs, handle); }
GraphNode* node_of(cudaGraphNode_t handle) { return known(registry().nodes, handle); }
GraphInstance* instance_of(cudaGraphExec_t handle) { return known(registry().instances, handle); }
Event* event_of(cudaEvent_t handle) { return known(registry().events, handle); }

namespace {

/// The node of the graph, or of a child of it, that kernels may change; `handle`: this one of them, 0: any.
GraphNode* updatable_in(const Graph& graph, std::uint64_t handle) {
  for (const auto& node : graph.nodes) {
    if (const auto* call = std::get_if<KernelCall>(&node->work)) {
      const cudaGraphDeviceNode_t own = updatable_handle(*call);
      if (own != nullptr && (handle == 0 || reinterpret_cast<std::uint64_t>(own) == handle))
        return node.get();
    } else if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      if (GraphNode* inside = updatable_in(*child->graph, handle)) return inside;
    }
  }
  return nullptr;
}

}  // namespace

GraphNode* updatable_node(std::uint64_t handle) {
  for (const GraphInstance* instance : registry().instances) {
    if (GraphNode* node = handle == 0 ? nullptr : updatable_in(*instance->graph, handle)) return node;
  }
  return nullptr;
}
bool has_updatable_nodes(const Graph& graph) { return updatable_in(graph, 0) != nullptr; }

void release(UserObject* object, unsigned count) {
  object->count -= std::min(count, object->count);
  if (object->count != 0) return;
  object->destroy(object->pointer);
  registry().objects.erase(object);
  delete object;
}

Graph::Graph() { registry().graphs.insert(this); }
Graph::~Graph() {
  registry().graphs.erase(this);
  for (const auto& node : nodes) registry().nodes.erase(node.get());
  for (const auto& [object, count] : objects) release(object, count);
}

GraphNode* Graph::add(Work work, std::vector<GraphNode*> needs) {
  auto node = std::make_unique<GraphNode>();
  node->graph = this;
  node->work = std::move(work);
  node->needs = std::move(needs);
  registry().nodes.insert(node.get());
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

std::vector<GraphNode*> Graph::order() const {
  std::map<const GraphNode*, std::size_t> missing;
  std::map<const GraphNode*, std::vector<std::size_t>> followers;
  std::set<std::size_t> ready;  // by the order of their making
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    missing[nodes[i].get()] = nodes[i]->needs.size();
    for (const GraphNode* need : nodes[i]->needs) followers[need].push_back(i);
    if (nodes[i]->needs.empty()) ready.insert(i);
  }
  std::vector<GraphNode*> sorted;
  while (!ready.empty()) {
    GraphNode* next = nodes[*ready.begin()].get();
    ready.erase(ready.begin());
    sorted.push_back(next);
    for (const std::size_t i : followers[next]) {
      if (--missing[nodes[i].get()] == 0) ready.insert(i);
    }
  }
  return sorted;
}

std::unique_ptr<Graph> Graph::copy() const {
  auto made = std::make_unique<Graph>();
  made->conditions = conditions;
  std::map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes) {
    Work work = node->work;
    if (auto* child = std::get_if<ChildWork>(&work)) child->graph = child->graph->copy();
    if (auto* conditional = std::get_if<ConditionalWork>(&work)) {
      for (std::shared_ptr<Graph>& body : conditional->bodies) body = body->copy();
    }
    GraphNode* copied = made->add(std::move(work), {});
    copied->enabled = node->enabled;
    copied->original = node.get();
    copies[node.get()] = copied;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const GraphNode* need : nodes[i]->needs) made->nodes[i]->needs.push_back(copies.at(need));
  }
  return made;
}

GraphNode* Graph::copy_of(const GraphNode* original) const {
  for (const auto& node : nodes) {
    if (node->original == original) return node.get();
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      if (GraphNode* inside = child->graph->copy_of(original)) return inside;
    }
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
      for (const auto& body : conditional->bodies) {
        if (GraphNode* inside = body->copy_of(original)) return inside;
      }
    }
  }
  return nullptr;
}

cudaGraphNodeType type_of(const GraphNode& node) {
  static constexpr cudaGraphNodeType kTypes[] = {
      cudaGraphNodeTypeKernel,      cudaGraphNodeTypeMemcpy,     cudaGraphNodeTypeMemset,
      cudaGraphNodeTypeHost,        cudaGraphNodeTypeEmpty,      cudaGraphNodeTypeGraph,
      cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent,  cudaGraphNodeTypeMemAlloc,
      cudaGraphNodeTypeMemFree,     cudaGraphNodeTypeConditional};
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[node.work.index()];
}

bool read_nodes(const cudaGraphNode_t* handles, std::size_t count, const Graph* graph,
                std::vector<GraphNode*>& nodes) {
  if (count != 0 && handles == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    GraphNode* node = node_of(handles[i]);
    if (node == nullptr || node->graph != graph) return false;
    nodes.push_back(node);
  }
  return true;
}

namespace {

/// Nodes of which each continues exactly one other are a path; the time line hands paths over one after another.
class Paths {
 public:
  explicit Paths(const Graph& graph) { add(graph); }
  /// Once: a body that is run again has been handed over.
  bool begin(const GraphNode* node) { return first_.erase(node) != 0; }
  std::size_t nodes() const { return nodes_; }
  std::size_t count() const { return std::max<std::size_t>(1, first_.size()); }

 private:
  void add(const Graph& graph) {
    std::unordered_set<const GraphNode*> continued;
    for (const auto& node : graph.nodes) {
      ++nodes_;
      const bool continues = node->needs.size() == 1 && continued.insert(node->needs.front()).second;
      if (!continues) first_.insert(node.get());
      if (const auto* child = std::get_if<ChildWork>(&node->work)) add(*child->graph);
      if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
        for (const auto& body : conditional->bodies) add(*body);
      }
    }
  }
  std::unordered_set<const GraphNode*> first_;
  std::size_t nodes_ = 0;
};

/// One launch of a graph: executes its nodes, and puts them on the time line.
class GraphRun {
 public:
  using Ids = std::vector<host::WorkId>;
  GraphRun(State& state, const Graph& graph, const Stream& stream)
      : state_(state), paths_(graph),
        launch_(state.clock->line(), state.clock->place(stream), paths_.nodes(), paths_.count()) {
    if (state_.side_by_side && paths_.count() > 1) state_.side_by_side->expect();
  }
  void end(Ids last) { launch_.end(std::move(last)); }

  /// `last`: what comes after the graph comes after these.
  cudaError_t run(const Graph& graph, const Ids& before, Ids& last) {
    std::map<const GraphNode*, Ids> ends;
    assign_conditions(graph);
    for (GraphNode* node : graph.order()) {
      Ids after;
      for (const GraphNode* need : node->needs)
        after.insert(after.end(), ends[need].begin(), ends[need].end());
      if (node->needs.empty()) after = before;
      std::sort(after.begin(), after.end());
      after.erase(std::unique(after.begin(), after.end()), after.end());
      cudaError_t result = cudaSuccess;
      ends[node] = {};
      const bool first = paths_.begin(node);
      if (node->enabled) {
        result = std::visit([&](auto& work) { return execute(work, first, after, ends[node]); }, node->work);
      }
      if (result != cudaSuccess) return result;
      if (ends[node].empty()) ends[node] = {launch_.marker(after, first)};
      last.insert(last.end(), ends[node].begin(), ends[node].end());
    }
    return cudaSuccess;
  }

 private:
  template <class Call>
  cudaError_t execute(Call& work, bool first, Ids& after, Ids& end) {
    if constexpr (std::is_same_v<Call, KernelCall> || std::is_same_v<Call, CopyCall> ||
                  std::is_same_v<Call, FillCall> || std::is_same_v<Call, HostCall>) {
      Executed executed;
      const cudaError_t result = state_.execute(work, executed);
      if (result != cudaSuccess) return result;
      if constexpr (std::is_same_v<Call, KernelCall>) {
        end = {launch_.kernel(after, first,
                              {executed.launch, executed.seconds * 1e9, executed.share, is_dependent(work),
                               executed.dependence})};
      } else if constexpr (std::is_same_v<Call, CopyCall>) {
        end = {launch_.copy(after, first, state_.clock->copy_of(state_, work))};
      } else if constexpr (std::is_same_v<Call, FillCall>) {
        end = {launch_.fill(after, first, bytes_of(work))};
      }
    } else if constexpr (std::is_same_v<Call, ChildWork>) {
      return run(*work.graph, after, end);
    } else if constexpr (std::is_same_v<Call, ConditionalWork>) {
      end = after;
      return run_conditional(state_, work, [&](const Graph& body) {
        const Ids before = std::exchange(end, {});
        return run(body, before, end);
      });
    } else if constexpr (std::is_same_v<Call, RecordWork>) {
      work.event->recorded = true;
      work.event->captured = false;
      work.event->host = std::chrono::steady_clock::now();
      end = {work.event->work = launch_.marker(after, first)};
    } else if constexpr (std::is_same_v<Call, WaitWork>) {
      if (work.event->recorded) after.push_back(work.event->work);
    } else if constexpr (std::is_same_v<Call, AllocateWork>) {
      allocate(work);
    } else if constexpr (std::is_same_v<Call, FreeWork>) {
      release(work);
    }
    return cudaSuccess;
  }

  State& state_;
  Paths paths_;
  host::GraphLaunch launch_;
};

}  // namespace

namespace {

/// Runs the instance by `run`, then those of its tail, of which each has its own tail before the rest.
template <class Run>
cudaError_t run_with_tail(State& s, const GraphInstance& instance, Run&& run) {
  const GraphInstance* const around = std::exchange(s.running_graph, nullptr);
  std::vector<const GraphInstance*> kept = std::exchange(s.graph_tail, {});
  std::vector<const GraphInstance*> open = {&instance};  // the next one is the last
  cudaError_t result = cudaSuccess;
  while (!open.empty() && result == cudaSuccess && s.pending == cudaSuccess) {
    s.running_graph = open.back();
    open.pop_back();
    result = run(*s.running_graph->graph);
    open.insert(open.end(), s.graph_tail.rbegin(), s.graph_tail.rend());
    s.graph_tail.clear();
  }
  s.running_graph = around;
  s.graph_tail = std::move(kept);
  return result;
}

cudaError_t run_nodes(State& s, const Graph& graph, double& seconds) {
  for (GraphNode* node : graph.order()) {
    if (!node->enabled) continue;
    Executed executed;
    cudaError_t result = cudaErrorNotSupported;  // what a graph that device code launches may not hold
    if (const auto* kernel = std::get_if<KernelCall>(&node->work)) result = s.execute(*kernel, executed);
    if (const auto* copy = std::get_if<CopyCall>(&node->work)) result = s.execute(*copy, executed);
    if (const auto* fill = std::get_if<FillCall>(&node->work)) result = s.execute(*fill, executed);
    if (const auto* child = std::get_if<ChildWork>(&node->work))
      result = run_nodes(s, *child->graph, seconds);
    if (std::holds_alternative<EmptyWork>(node->work)) result = cudaSuccess;
    if (result != cudaSuccess) return result;
    seconds += executed.seconds;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t run_graph(State& s, const GraphInstance& instance, const Stream& stream) {
  return run_with_tail(s, instance, [&](const Graph& graph) {
    GraphRun run(s, graph, stream);
    GraphRun::Ids last;
    const cudaError_t result = run.run(graph, {}, last);
    run.end(std::move(last));
    return result;
  });
}

cudaError_t run_graph_within(State& s, const GraphInstance& instance, double& seconds) {
  return run_with_tail(s, instance, [&](const Graph& graph) { return run_nodes(s, graph, seconds); });
}

cudaError_t work_of(State& s, const cudaKernelNodeParams& p, Work& work) {
  KernelCall call;
  const cudaError_t refused =
      make_kernel_call(s, p.func, p.gridDim, p.blockDim, p.kernelParams, p.sharedMemBytes, call);
  if (refused == cudaSuccess) work = std::move(call);
  return refused;
}

cudaError_t work_of(const cudaMemcpy3DParms& p, Work& work) {
  CopyCall copy;
  const cudaError_t refused = copy_of(p, copy);
  if (refused == cudaSuccess) work = copy;
  return refused;
}

cudaError_t work_of(const cudaMemsetParams& p, Work& work) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return cudaErrorInvalidValue;
  const std::size_t pitch = p.height <= 1 ? p.width * p.elementSize : p.pitch;
  work = FillCall{static_cast<std::byte*>(p.dst), p.value, p.elementSize, p.width, p.height, 1, pitch, 0};
  return cudaSuccess;
}

Work copy_work(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  return CopyCall{
      static_cast<std::byte*>(to), static_cast<const std::byte*>(from), size, 1, 1, size, size, 0, 0, kind};
}

cudaKernelNodeParams kernel_parameters(GraphNode& node) {
  auto& call = std::get<KernelCall>(node.work);
  node.arguments.clear();
  for (const isa::Parameter& parameter : call.kernel->image().program.parameters) {
    node.arguments.push_back(call.parameters.data() + parameter.offset);
  }
  cudaKernelNodeParams p{};
  p.func = call.kernel;
  p.gridDim = dim3(call.grid.x, call.grid.y, call.grid.z);
  p.blockDim = dim3(call.block.x, call.block.y, call.block.z);
  p.sharedMemBytes = static_cast<unsigned>(call.dynamic_shared);
  p.kernelParams = node.arguments.data();
  return p;
}

cudaMemcpy3DParms copy_parameters(const CopyCall& copy) {
  cudaMemcpy3DParms p{};
  const auto rows = [&](std::size_t slice, std::size_t pitch) {
    return slice != 0 && pitch != 0 ? slice / pitch : copy.height;
  };
  p.srcPtr = {const_cast<std::byte*>(copy.from), copy.from_pitch, copy.width,
              rows(copy.from_slice, copy.from_pitch)};
  p.dstPtr = {copy.to, copy.to_pitch, copy.width, rows(copy.to_slice, copy.to_pitch)};
  p.extent = {copy.width, copy.height, copy.depth};
  p.kind = copy.kind;
  const Array* any = copy.to_array != nullptr ? copy.to_array : copy.from_array;
  if (any == nullptr) return p;
  const std::size_t unit = any->image.texel_bytes();
  p.extent.width /= unit;
  if (copy.from_array != nullptr) {
    p.srcArray = reinterpret_cast<cudaArray_t>(const_cast<Array*>(copy.from_array));
    p.srcPos = {copy.from_at.byte / unit, copy.from_at.row, copy.from_at.slice};
    p.srcPtr = {};
  }
  if (copy.to_array != nullptr) {
    p.dstArray = reinterpret_cast<cudaArray_t>(const_cast<Array*>(copy.to_array));
    p.dstPos = {copy.to_at.byte / unit, copy.to_at.row, copy.to_at.slice};
    p.dstPtr = {};
  }
  return p;
}

cudaMemsetParams fill_parameters(const FillCall& fill) {
  cudaMemsetParams p{};
  p.dst = fill.to;
  p.pitch = fill.pitch;
  p.value = fill.value;
  p.elementSize = static_cast<unsigned>(fill.element);
  p.width = fill.width;
  p.height = fill.height;
  return p;
}

}  // namespace foretrace::runtime
