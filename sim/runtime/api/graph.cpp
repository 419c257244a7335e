// Graphs built by hand: graphs, nodes of every kind, their parameters and edges.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/conditional.h"
#include "sim/runtime/device/graph.h"
#include "sim/runtime/device/graph_memory.h"
#include "sim/runtime/device/launch_attributes.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

/// Adds a node whose work `make` fills in; it answers with CUDA's error.
template <class Make>
cudaError_t add(cudaGraphNode_t* handle, cudaGraph_t graph_handle, const cudaGraphNode_t* needs, size_t count,
                Make&& make) {
  return call([&](State& s) {
    Graph* graph = graph_of(graph_handle);
    std::vector<GraphNode*> nodes;
    if (handle == nullptr || graph == nullptr || !read_nodes(needs, count, graph, nodes))
      return cudaErrorInvalidValue;
    Work work = EmptyWork{};
    cudaError_t result = make(s, work);
    if (result == cudaSuccess) result = place_memory(s, *graph, nodes, work);
    if (result != cudaSuccess) return result;
    *handle = handle_of<cudaGraphNode_t>(graph->add(std::move(work), std::move(nodes)));
    return cudaSuccess;
  });
}

/// What an allocation node gives out; null where it was refused.
void* address_of(cudaError_t result, const cudaGraphNode_t* node) {
  return result == cudaSuccess ? std::get<AllocateWork>(node_of(*node)->work).parameters.dptr : nullptr;
}

/// Runs the body with the node and its work, when it is of that kind.
template <class T, class Body>
cudaError_t with(cudaGraphNode_t handle, Body&& body) {
  return call([&](State& s) {
    GraphNode* node = node_of(handle);
    if (node == nullptr) return cudaErrorInvalidValue;
    T* work = std::get_if<T>(&node->work);
    return work == nullptr ? cudaErrorInvalidValue : body(s, *node, *work);
  });
}

/// The node's parameters are read into `out`.
template <class T, class Out, class Read>
cudaError_t get(cudaGraphNode_t handle, Out* out, Read&& read) {
  return with<T>(handle, [&](State&, GraphNode& node, T& work) {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = read(node, work);
    return cudaSuccess;
  });
}

/// The node gets other parameters.
template <class T, class Make>
cudaError_t set(cudaGraphNode_t handle, Make&& make) {
  return with<T>(handle, [&](State& s, GraphNode& node, T&) { return make(s, node.work); });
}

PlacedVariable variable_of(State& s, const void* symbol, size_t size, size_t offset) {
  const auto found = s.variables.find(symbol);
  if (found == s.variables.end()) return {};
  PlacedVariable placed = found->second.module->variable(found->second.name);
  if (offset > placed.size || size > placed.size - offset) placed.address = nullptr;
  return placed;
}

cudaError_t to_symbol(State& s, const void* symbol, const void* from, size_t size, size_t offset,
                      cudaMemcpyKind kind, Work& work) {
  const PlacedVariable placed = variable_of(s, symbol, size, offset);
  if (placed.address == nullptr) return cudaErrorInvalidSymbol;
  work = copy_work(static_cast<std::byte*>(placed.address) + offset, from, size, kind);
  return cudaSuccess;
}
cudaError_t from_symbol(State& s, void* to, const void* symbol, size_t size, size_t offset,
                        cudaMemcpyKind kind, Work& work) {
  const PlacedVariable placed = variable_of(s, symbol, size, offset);
  if (placed.address == nullptr) return cudaErrorInvalidSymbol;
  work = copy_work(to, static_cast<std::byte*>(placed.address) + offset, size, kind);
  return cudaSuccess;
}

cudaError_t host_work(const cudaHostNodeParams* p, Work& work) {
  if (p == nullptr || p->fn == nullptr) return cudaErrorInvalidValue;
  work = HostCall{p->fn, p->userData};
  return cudaSuccess;
}

template <class T>
cudaError_t event_work(cudaEvent_t handle, Work& work) {
  Event* event = event_of(handle);
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  work = T{event};
  return cudaSuccess;
}

cudaError_t child_work(cudaGraph_t handle, Work& work) {
  const Graph* child = graph_of(handle);
  if (child == nullptr) return cudaErrorInvalidValue;
  if (has_memory_nodes(*child)) return cudaErrorNotSupported;
  work = ChildWork{child->copy()};
  return cudaSuccess;
}

/// The child graph itself becomes the node's: it may have memory nodes.
cudaError_t moved_child_work(cudaGraph_t handle, Work& work) {
  Graph* child = graph_of(handle);
  if (child == nullptr) return cudaErrorInvalidValue;
  if (child->moved || !child->claimed.expired()) return cudaErrorNotSupported;
  child->moved = true;
  work = ChildWork{std::shared_ptr<Graph>(child)};
  return cudaSuccess;
}

/// The instance's own copy of a node gets what `make` makes, as long as the kind stays.
template <class T, class Make>
cudaError_t set_instance(cudaGraphExec_t handle, cudaGraphNode_t node_handle, Make&& make) {
  return call([&](State& s) {
    GraphInstance* instance = instance_of(handle);
    if (instance == nullptr) return cudaErrorInvalidValue;
    GraphNode* node = instance->graph->copy_of(reinterpret_cast<const GraphNode*>(node_handle));
    if (node == nullptr || !std::holds_alternative<T>(node->work)) return cudaErrorInvalidValue;
    return make(s, node->work);
  });
}

cudaKernelNodeParams plain(const cudaKernelNodeParamsV2& p) {
  cudaKernelNodeParams out{};
  out.func = p.func;
  out.gridDim = p.gridDim;
  out.blockDim = p.blockDim;
  out.sharedMemBytes = p.sharedMemBytes;
  out.kernelParams = p.kernelParams;
  return out;
}

/// The work that cudaGraphAddNode's structure describes.
cudaError_t any_work(State& s, cudaGraphNodeParams& p, Work& work) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel: return work_of(s, plain(p.kernel), work);
    case cudaGraphNodeTypeMemcpy: return work_of(p.memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset:
      return work_of({p.memset.dst, p.memset.pitch, p.memset.value, p.memset.elementSize, p.memset.width,
                      p.memset.height},
                     work);
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host{p.host.fn, p.host.userData};
      return host_work(&host, work);
    }
    case cudaGraphNodeTypeGraph:
      return p.graph.ownership == cudaGraphChildGraphOwnershipMove ? moved_child_work(p.graph.graph, work)
                                                                   : child_work(p.graph.graph, work);
    case cudaGraphNodeTypeEmpty: work = EmptyWork{}; return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: return event_work<WaitWork>(p.eventWait.event, work);
    case cudaGraphNodeTypeEventRecord: return event_work<RecordWork>(p.eventRecord.event, work);
    case cudaGraphNodeTypeMemAlloc:
      work = AllocateWork{
          {p.alloc.poolProps, p.alloc.accessDescs, p.alloc.accessDescCount, p.alloc.bytesize, nullptr}, {}};
      return cudaSuccess;
    case cudaGraphNodeTypeMemFree: work = FreeWork{p.free.dptr, {}}; return cudaSuccess;
    case cudaGraphNodeTypeConditional: return work_of(s, p.conditional, work);
    default: stop_not_provided(fmt::format("a graph node of type {}", static_cast<int>(p.type)).c_str());
  }
}

/// Memory nodes stay as they were made.
bool may_change(cudaGraphNodeType type) {
  return type != cudaGraphNodeTypeMemAlloc && type != cudaGraphNodeTypeMemFree;
}

}  // namespace

FORETRACE_API cudaError_t cudaGraphCreate(cudaGraph_t* handle, unsigned flags) {
  return call([&](State&) {
    if (handle == nullptr || flags != 0) return cudaErrorInvalidValue;
    *handle = handle_of<cudaGraph_t>(new Graph);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle,
                                                           cudaGraph_t graph_handle, unsigned initial,
                                                           unsigned flags) {
  return call([&](State& s) {
    Graph* graph = graph_of(graph_handle);
    if (handle == nullptr || graph == nullptr || (flags & ~unsigned{cudaGraphCondAssignDefault}) != 0)
      return cudaErrorInvalidValue;
    return make_condition(s, *graph, initial, flags != 0, *handle);
  });
}
FORETRACE_API cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return call([&](State&) {
    Graph* graph = graph_of(handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    if (graph->moved) return cudaErrorNotSupported;
    delete graph;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                           const cudaGraphNode_t* needs, const cudaGraphEdgeData*,
                                           size_t count, cudaGraphNodeParams* p) {
  const cudaError_t result = add(handle, graph, needs, count, [&](State& s, Work& work) {
    return p == nullptr ? cudaErrorInvalidValue : any_work(s, *p, work);
  });
  if (p != nullptr && p->type == cudaGraphNodeTypeMemAlloc) p->alloc.dptr = address_of(result, handle);
  return result;
}
FORETRACE_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t handle, cudaGraphNodeParams* p) {
  return call([&](State& s) {
    GraphNode* node = node_of(handle);
    if (node == nullptr || p == nullptr || type_of(*node) != p->type) return cudaErrorInvalidValue;
    if (!may_change(p->type)) return cudaErrorNotSupported;
    return any_work(s, *p, node->work);
  });
}
FORETRACE_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                                     cudaGraphNodeParams* p) {
  return call([&](State& s) {
    GraphInstance* instance = instance_of(exec);
    GraphNode* node =
        instance == nullptr ? nullptr : instance->graph->copy_of(reinterpret_cast<const GraphNode*>(handle));
    if (node == nullptr || p == nullptr || type_of(*node) != p->type) return cudaErrorInvalidValue;
    if (!may_change(p->type)) return cudaErrorNotSupported;
    return any_work(s, *p, node->work);
  });
}

FORETRACE_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                 const cudaGraphNode_t* needs, size_t count,
                                                 const cudaKernelNodeParams* p) {
  return add(handle, graph, needs, count, [&](State& s, Work& work) {
    return p == nullptr ? cudaErrorInvalidValue : work_of(s, *p, work);
  });
}
FORETRACE_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
  return get<KernelCall>(node, p, [](GraphNode& n, KernelCall&) { return kernel_parameters(n); });
}
FORETRACE_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return set<KernelCall>(node, [&](State& s, Work& work) {
    return p == nullptr ? cudaErrorInvalidValue : work_of(s, *p, work);
  });
}
FORETRACE_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                           const cudaKernelNodeParams* p) {
  return set_instance<KernelCall>(exec, node, [&](State& s, Work& work) {
    return p == nullptr ? cudaErrorInvalidValue : work_of(s, *p, work);
  });
}
FORETRACE_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                          const cudaLaunchAttributeValue* value) {
  return with<KernelCall>(node, [&](State& s, GraphNode&, KernelCall& kernel) {
    return value == nullptr ? cudaErrorInvalidValue : set_node_attribute(*s.spec, kernel, id, *value);
  });
}
FORETRACE_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                          cudaLaunchAttributeValue* value) {
  return with<KernelCall>(node, [&](State& s, GraphNode&, KernelCall& kernel) {
    return value == nullptr ? cudaErrorInvalidValue : get_node_attribute(*s.spec, kernel, id, *value);
  });
}
FORETRACE_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return with<KernelCall>(from, [&](State&, GraphNode&, KernelCall& source) {
    GraphNode* node = node_of(to);
    KernelCall* kernel = node == nullptr ? nullptr : std::get_if<KernelCall>(&node->work);
    return kernel == nullptr ? cudaErrorInvalidValue : copy_node_attributes(*kernel, source);
  });
}

FORETRACE_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                 const cudaGraphNode_t* needs, size_t count,
                                                 const cudaMemcpy3DParms* p) {
  return add(handle, graph, needs, count,
             [&](State&, Work& work) { return p == nullptr ? cudaErrorInvalidValue : work_of(*p, work); });
}
FORETRACE_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                   const cudaGraphNode_t* needs, size_t count, void* to,
                                                   const void* from, size_t size, cudaMemcpyKind kind) {
  return add(handle, graph, needs, count, [&](State&, Work& work) {
    work = copy_work(to, from, size, kind);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                         const cudaGraphNode_t* needs, size_t count,
                                                         const void* symbol, const void* from, size_t size,
                                                         size_t offset, cudaMemcpyKind kind) {
  return add(handle, graph, needs, count,
             [&](State& s, Work& work) { return to_symbol(s, symbol, from, size, offset, kind, work); });
}
FORETRACE_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                           const cudaGraphNode_t* needs, size_t count,
                                                           void* to, const void* symbol, size_t size,
                                                           size_t offset, cudaMemcpyKind kind) {
  return add(handle, graph, needs, count,
             [&](State& s, Work& work) { return from_symbol(s, to, symbol, size, offset, kind, work); });
}
FORETRACE_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  return get<CopyCall>(node, p, [](GraphNode&, CopyCall& copy) { return copy_parameters(copy); });
}
FORETRACE_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return set<CopyCall>(
      node, [&](State&, Work& work) { return p == nullptr ? cudaErrorInvalidValue : work_of(*p, work); });
}
FORETRACE_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                                         size_t size, cudaMemcpyKind kind) {
  return set<CopyCall>(node, [&](State&, Work& work) {
    work = copy_work(to, from, size, kind);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                               const void* from, size_t size, size_t offset,
                                                               cudaMemcpyKind kind) {
  return set<CopyCall>(
      node, [&](State& s, Work& work) { return to_symbol(s, symbol, from, size, offset, kind, work); });
}
FORETRACE_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                                 const void* symbol, size_t size,
                                                                 size_t offset, cudaMemcpyKind kind) {
  return set<CopyCall>(
      node, [&](State& s, Work& work) { return from_symbol(s, to, symbol, size, offset, kind, work); });
}
FORETRACE_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                           const cudaMemcpy3DParms* p) {
  return set_instance<CopyCall>(exec, node, [&](State&, Work& work) {
    return p == nullptr ? cudaErrorInvalidValue : work_of(*p, work);
  });
}
FORETRACE_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                             void* to, const void* from, size_t size,
                                                             cudaMemcpyKind kind) {
  return set_instance<CopyCall>(exec, node, [&](State&, Work& work) {
    work = copy_work(to, from, size, kind);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                                   const void* symbol, const void* from,
                                                                   size_t size, size_t offset,
                                                                   cudaMemcpyKind kind) {
  return set_instance<CopyCall>(
      exec, node, [&](State& s, Work& work) { return to_symbol(s, symbol, from, size, offset, kind, work); });
}
FORETRACE_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                                     cudaGraphNode_t node, void* to,
                                                                     const void* symbol, size_t size,
                                                                     size_t offset, cudaMemcpyKind kind) {
  return set_instance<CopyCall>(
      exec, node, [&](State& s, Work& work) { return from_symbol(s, to, symbol, size, offset, kind, work); });
}

FORETRACE_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                 const cudaGraphNode_t* needs, size_t count,
                                                 const cudaMemsetParams* p) {
  return add(handle, graph, needs, count,
             [&](State&, Work& work) { return p == nullptr ? cudaErrorInvalidValue : work_of(*p, work); });
}
FORETRACE_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
  return get<FillCall>(node, p, [](GraphNode&, FillCall& fill) { return fill_parameters(fill); });
}
FORETRACE_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return set<FillCall>(
      node, [&](State&, Work& work) { return p == nullptr ? cudaErrorInvalidValue : work_of(*p, work); });
}
FORETRACE_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                           const cudaMemsetParams* p) {
  return set_instance<FillCall>(exec, node, [&](State&, Work& work) {
    return p == nullptr ? cudaErrorInvalidValue : work_of(*p, work);
  });
}

FORETRACE_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                               const cudaGraphNode_t* needs, size_t count,
                                               const cudaHostNodeParams* p) {
  return add(handle, graph, needs, count, [&](State&, Work& work) { return host_work(p, work); });
}
FORETRACE_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
  return get<HostCall>(node, p, [](GraphNode&, HostCall& host) {
    return cudaHostNodeParams{host.function, host.data};
  });
}
FORETRACE_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return set<HostCall>(node, [&](State&, Work& work) { return host_work(p, work); });
}
FORETRACE_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         const cudaHostNodeParams* p) {
  return set_instance<HostCall>(exec, node, [&](State&, Work& work) { return host_work(p, work); });
}

FORETRACE_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                     const cudaGraphNode_t* needs, size_t count,
                                                     cudaGraph_t child) {
  return add(handle, graph, needs, count, [&](State&, Work& work) { return child_work(child, work); });
}
FORETRACE_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return get<ChildWork>(
      node, graph, [](GraphNode&, ChildWork& child) { return handle_of<cudaGraph_t>(child.graph.get()); });
}
FORETRACE_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                               cudaGraph_t child) {
  return set_instance<ChildWork>(exec, node, [&](State&, Work& work) { return child_work(child, work); });
}

FORETRACE_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                const cudaGraphNode_t* needs, size_t count) {
  return add(handle, graph, needs, count, [](State&, Work&) { return cudaSuccess; });
}

FORETRACE_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                      const cudaGraphNode_t* needs, size_t count,
                                                      cudaEvent_t event) {
  return add(handle, graph, needs, count,
             [&](State&, Work& work) { return event_work<RecordWork>(event, work); });
}
FORETRACE_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get<RecordWork>(node, event,
                         [](GraphNode&, RecordWork& work) { return handle_of<cudaEvent_t>(work.event); });
}
FORETRACE_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set<RecordWork>(node, [&](State&, Work& work) { return event_work<RecordWork>(event, work); });
}
FORETRACE_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                               cudaEvent_t event) {
  return set_instance<RecordWork>(exec, node,
                                  [&](State&, Work& work) { return event_work<RecordWork>(event, work); });
}
FORETRACE_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                    const cudaGraphNode_t* needs, size_t count,
                                                    cudaEvent_t event) {
  return add(handle, graph, needs, count,
             [&](State&, Work& work) { return event_work<WaitWork>(event, work); });
}
FORETRACE_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get<WaitWork>(node, event,
                       [](GraphNode&, WaitWork& work) { return handle_of<cudaEvent_t>(work.event); });
}
FORETRACE_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set<WaitWork>(node, [&](State&, Work& work) { return event_work<WaitWork>(event, work); });
}
FORETRACE_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                             cudaEvent_t event) {
  return set_instance<WaitWork>(exec, node,
                                [&](State&, Work& work) { return event_work<WaitWork>(event, work); });
}

FORETRACE_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                   const cudaGraphNode_t* needs, size_t count,
                                                   cudaMemAllocNodeParams* p) {
  const cudaError_t result = add(handle, graph, needs, count, [&](State&, Work& work) {
    if (p == nullptr) return cudaErrorInvalidValue;
    work = AllocateWork{*p, {}};
    return cudaSuccess;
  });
  if (p != nullptr) p->dptr = address_of(result, handle);
  return result;
}
FORETRACE_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* p) {
  return get<AllocateWork>(node, p, [](GraphNode&, AllocateWork& work) { return work.parameters; });
}
FORETRACE_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* handle, cudaGraph_t graph,
                                                  const cudaGraphNode_t* needs, size_t count, void* pointer) {
  return add(handle, graph, needs, count, [&](State&, Work& work) {
    work = FreeWork{pointer, {}};
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return get<FreeWork>(node, static_cast<void**>(pointer),
                       [](GraphNode&, FreeWork& work) { return work.pointer; });
}
