// Graphs as a whole: copies, instances and their launches, and what can be asked of nodes and edges.
#include <algorithm>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/capture.h"
#include "sim/runtime/device/graph_memory.h"
#include "sim/runtime/device/launch_attributes.h"
#include "sim/runtime/device/launcher.h"
#include "sim/runtime/device/state.h"

using namespace foretrace;
using namespace foretrace::runtime;

namespace {

template <class Body>
cudaError_t graph_call(cudaGraph_t handle, Body&& body) {
  return call([&](State& s) {
    Graph* graph = graph_of(handle);
    return graph == nullptr ? cudaErrorInvalidValue : body(s, *graph);
  });
}

/// Answers a list as CUDA does: `out` null asks for the number only; places that are left over become null.
template <class Handle, class T>
cudaError_t answer(const std::vector<T*>& found, Handle* out, size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (out == nullptr) {
    *count = found.size();
    return cudaSuccess;
  }
  const size_t room = *count;
  for (size_t i = 0; i < room; ++i) out[i] = i < found.size() ? handle_of<Handle>(found[i]) : nullptr;
  *count = std::min(room, found.size());
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* handle, cudaGraph_t graph_handle, unsigned long long flags) {
  return graph_call(graph_handle, [&](State&, Graph& graph) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    *handle = nullptr;
    if (graph.order().size() != graph.nodes.size()) return cudaErrorInvalidValue;
    constexpr unsigned long long kAlone =
        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagDeviceLaunch;  // not both
    if ((flags & kAlone) == kAlone) return cudaErrorInvalidValue;
    if (graph.moved || has_conditional_memory(graph)) return cudaErrorNotSupported;
    std::shared_ptr<int> claim;
    if (has_memory_nodes(graph) || has_updatable_nodes(graph)) {
      if (!graph.claimed.expired()) return cudaErrorNotSupported;
      graph.claimed = claim = std::make_shared<int>();
    }
    auto* instance = new GraphInstance{graph.copy(), flags, std::move(claim)};
    registry().instances.insert(instance);
    *handle = handle_of<cudaGraphExec_t>(instance);
    return cudaSuccess;
  });
}

/// The positions in their graph of what a node needs, sorted.
std::vector<size_t> needs_of(const Graph& graph, const GraphNode& node) {
  std::vector<size_t> positions;
  for (const GraphNode* need : node.needs) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].get() == need) positions.push_back(i);
    }
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

cudaError_t fail_update(cudaGraphExecUpdateResultInfo* info, cudaGraphExecUpdateResult result,
                        const GraphNode* node) {
  if (info != nullptr) {
    info->result = result;
    info->errorNode = handle_of<cudaGraphNode_t>(const_cast<GraphNode*>(node));
    info->errorFromNode = nullptr;
  }
  return cudaErrorGraphExecUpdateFailure;
}

const char* name_of(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel: return "KERNEL";
    case cudaGraphNodeTypeMemcpy: return "MEMCPY";
    case cudaGraphNodeTypeMemset: return "MEMSET";
    case cudaGraphNodeTypeHost: return "HOST";
    case cudaGraphNodeTypeGraph: return "GRAPH";
    case cudaGraphNodeTypeWaitEvent: return "EVENT WAIT";
    case cudaGraphNodeTypeEventRecord: return "EVENT RECORD";
    case cudaGraphNodeTypeMemAlloc: return "MEM ALLOC";
    case cudaGraphNodeTypeMemFree: return "MEM FREE";
    case cudaGraphNodeTypeConditional: return "CONDITIONAL";
    default: return "EMPTY";
  }
}

/// What the edges are, where the program asks for it; where it does not, all have to be ordinary. `nodes`: it asks for their ends.
template <class EdgeAt>
cudaError_t answer_edges(cudaGraphEdgeData* edges, size_t room, size_t number, bool nodes, EdgeAt&& edge_at) {
  for (size_t i = 0; i < number; ++i) {
    const cudaGraphEdgeData edge = edge_at(i);
    if (edges == nullptr && nodes && !is_ordinary(edge)) return cudaErrorLossyQuery;
    if (edges != nullptr && i < room) edges[i] = edge;
  }
  return cudaSuccess;
}

/// Adds or removes edges; `edges`: what those that are added are, may be null.
template <class Change>
cudaError_t change_edges(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                         const cudaGraphEdgeData* edges, size_t count, Change&& change) {
  return graph_call(handle, [&](State&, Graph& graph) {
    std::vector<GraphNode*> sources, targets;
    if (!read_nodes(from, count, &graph, sources) || !read_nodes(to, count, &graph, targets))
      return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      const cudaGraphEdgeData edge = edges == nullptr ? cudaGraphEdgeData{} : edges[i];
      if (!may_begin(edge, *sources[i])) return cudaErrorInvalidValue;
      const cudaError_t refused = change(targets[i]->needs, sources[i]);
      if (refused != cudaSuccess) return refused;
      set_edge(sources[i], *targets[i], edge);
    }
    return cudaSuccess;
  });
}

}  // namespace

FORETRACE_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* handle, cudaGraph_t graph,
                                               unsigned long long flags) {
  return instantiate(handle, graph, flags);
}
FORETRACE_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* handle, cudaGraph_t graph,
                                                        unsigned long long flags) {
  return instantiate(handle, graph, flags);
}
FORETRACE_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* handle, cudaGraph_t graph,
                                                         cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return call([](State&) { return cudaErrorInvalidValue; });
  const cudaError_t result = instantiate(handle, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out =
      result == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateInvalidStructure;
  return result;
}
FORETRACE_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  return call([&](State&) {
    const GraphInstance* instance = instance_of(handle);
    if (instance == nullptr || flags == nullptr) return cudaErrorInvalidValue;
    *flags = instance->flags;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return call([&](State&) {
    GraphInstance* instance = instance_of(handle);
    if (instance == nullptr) return cudaErrorInvalidValue;
    registry().instances.erase(instance);
    delete instance;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return call([&](State& s) {
    const GraphInstance* instance = instance_of(handle);
    Stream* stream = s.streams.find(stream_handle);
    if (instance == nullptr) return cudaErrorInvalidValue;
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->capture) {
      if (has_memory_nodes(*instance->graph)) return cudaErrorNotSupported;
      return capture_node(*stream, ChildWork{instance->graph->copy()});
    }
    if (s.streams.is_legacy(stream) && s.streams.blocking_capture())
      return break_captures(s, cudaErrorStreamCaptureImplicit);
    const cudaError_t refused =
        begin_memory(*instance->graph, (instance->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0);
    if (refused != cudaSuccess) return refused;
    s.launcher->place(stream->id - 1);
    return run_graph(s, *instance, *stream);
  });
}
FORETRACE_API cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream) {
  return call([&](State& s) {
    const GraphInstance* instance = instance_of(handle);
    if (instance == nullptr) return cudaErrorInvalidValue;
    if (s.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return map_memory(*instance->graph);
  });
}

FORETRACE_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle,
                                              cudaGraphExecUpdateResultInfo* info) {
  return graph_call(graph_handle, [&](State&, Graph& graph) {
    GraphInstance* instance = instance_of(handle);
    if (instance == nullptr || graph.moved) return cudaErrorInvalidValue;
    Graph& own = *instance->graph;
    const std::shared_ptr<int> claim = graph.claimed.lock();
    if (claim != nullptr && claim != instance->claim)
      return fail_update(info, cudaGraphExecUpdateErrorNotSupported, nullptr);
    if (has_updatable_nodes(graph) || has_updatable_nodes(own))
      return fail_update(info, cudaGraphExecUpdateErrorNotSupported, nullptr);
    if (own.nodes.size() != graph.nodes.size())
      return fail_update(info, cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    for (size_t i = 0; i < own.nodes.size(); ++i) {
      const GraphNode& now = *graph.nodes[i];
      if (type_of(*own.nodes[i]) != type_of(now))
        return fail_update(info, cudaGraphExecUpdateErrorNodeTypeChanged, &now);
      if (needs_of(own, *own.nodes[i]) != needs_of(graph, now))
        return fail_update(info, cudaGraphExecUpdateErrorTopologyChanged, &now);
    }
    const std::unique_ptr<Graph> fresh = graph.copy();
    for (size_t i = 0; i < own.nodes.size(); ++i) own.nodes[i]->work = std::move(fresh->nodes[i]->work);
    if (has_memory_nodes(graph)) {
      if (instance->claim == nullptr) instance->claim = std::make_shared<int>();
      graph.claimed = instance->claim;
    }
    if (info != nullptr) *info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node_handle,
                                                  unsigned enabled) {
  return call([&](State&) {
    GraphInstance* instance = instance_of(handle);
    GraphNode* node = instance == nullptr
                          ? nullptr
                          : instance->graph->copy_of(reinterpret_cast<const GraphNode*>(node_handle));
    if (node == nullptr) return cudaErrorInvalidValue;
    const cudaGraphNodeType type = type_of(*node);
    if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemcpy && type != cudaGraphNodeTypeMemset)
      return cudaErrorInvalidValue;
    node->enabled = enabled != 0;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node_handle,
                                                  unsigned* enabled) {
  return call([&](State&) {
    GraphInstance* instance = instance_of(handle);
    const GraphNode* node = instance == nullptr
                                ? nullptr
                                : instance->graph->copy_of(reinterpret_cast<const GraphNode*>(node_handle));
    if (node == nullptr || enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = node->enabled ? 1 : 0;
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t handle) {
  return graph_call(handle, [&](State&, Graph& graph) {
    if (clone == nullptr) return cudaErrorInvalidValue;
    if (has_memory_nodes(graph)) return cudaErrorNotSupported;
    *clone = handle_of<cudaGraph_t>(graph.copy().release());
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                                   cudaGraph_t clone) {
  return graph_call(clone, [&](State&, Graph& graph) {
    if (node == nullptr) return cudaErrorInvalidValue;
    GraphNode* found = graph.copy_of(reinterpret_cast<const GraphNode*>(original));
    *node = handle_of<cudaGraphNode_t>(found);
    return found == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return call([&](State&) {
    const GraphNode* node = node_of(handle);
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = type_of(*node);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return graph_call(handle, [&](State&, Graph& graph) {
    std::vector<GraphNode*> all;
    for (const auto& node : graph.nodes) all.push_back(node.get());
    return answer(all, nodes, count);
  });
}
FORETRACE_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return graph_call(handle, [&](State&, Graph& graph) {
    std::vector<GraphNode*> roots;
    for (const auto& node : graph.nodes) {
      if (node->needs.empty()) roots.push_back(node.get());
    }
    return answer(roots, nodes, count);
  });
}
FORETRACE_API cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                            cudaGraphEdgeData* edges, size_t* count) {
  return graph_call(handle, [&](State&, Graph& graph) {
    std::vector<GraphNode*> sources, targets;
    for (const auto& node : graph.nodes) {
      for (GraphNode* need : node->needs) {
        sources.push_back(need);
        targets.push_back(node.get());
      }
    }
    if (count == nullptr || (from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
    size_t room = *count;
    const cudaError_t lossy = answer_edges(edges, room, sources.size(), from != nullptr,
                                           [&](size_t i) { return edge_between(sources[i], *targets[i]); });
    if (lossy != cudaSuccess) return lossy;
    const cudaError_t result = answer(sources, from, &room);
    return result != cudaSuccess ? result : answer(targets, to, count);
  });
}
FORETRACE_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                                       cudaGraphEdgeData* edges, size_t* count) {
  return call([&](State&) {
    const GraphNode* node = node_of(handle);
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    const cudaError_t lossy = answer_edges(edges, *count, node->needs.size(), nodes != nullptr,
                                           [&](size_t i) { return edge_between(node->needs[i], *node); });
    return lossy != cudaSuccess ? lossy : answer(node->needs, nodes, count);
  });
}
FORETRACE_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                                         cudaGraphEdgeData* edges, size_t* count) {
  return call([&](State&) {
    const GraphNode* node = node_of(handle);
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    std::vector<GraphNode*> followers;
    for (const auto& other : node->graph->nodes) {
      if (std::find(other->needs.begin(), other->needs.end(), node) != other->needs.end())
        followers.push_back(other.get());
    }
    const cudaError_t lossy = answer_edges(edges, *count, followers.size(), nodes != nullptr,
                                           [&](size_t i) { return edge_between(node, *followers[i]); });
    return lossy != cudaSuccess ? lossy : answer(followers, nodes, count);
  });
}

FORETRACE_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                                   size_t count) {
  return change_edges(graph, from, to, edges, count, [](std::vector<GraphNode*>& needs, GraphNode* source) {
    if (std::find(needs.begin(), needs.end(), source) != needs.end()) return cudaErrorInvalidValue;
    needs.push_back(source);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                                      size_t count) {
  return change_edges(graph, from, to, nullptr, count, [](std::vector<GraphNode*>& needs, GraphNode* source) {
    if (has_memory_nodes(*source->graph)) return cudaErrorNotSupported;
    return std::erase(needs, source) == 0 ? cudaErrorInvalidValue : cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return call([&](State&) {
    GraphNode* node = node_of(handle);
    if (node == nullptr) return cudaErrorInvalidValue;
    Graph& graph = *node->graph;
    const auto* kernel = std::get_if<KernelCall>(&node->work);
    if (has_memory_nodes(graph) || (kernel != nullptr && updatable_handle(*kernel) != nullptr))
      return cudaErrorNotSupported;
    for (const auto& other : graph.nodes) std::erase(other->needs, node);
    registry().nodes.erase(node);
    std::erase_if(graph.nodes, [&](const auto& held) { return held.get() == node; });
    return cudaSuccess;
  });
}

FORETRACE_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned) {
  return graph_call(handle, [&](State&, Graph& graph) {
    if (path == nullptr) return cudaErrorInvalidValue;
    std::ofstream out(path);
    out << "digraph dot {\n";
    std::map<const GraphNode*, size_t> number;
    for (const auto& node : graph.nodes) {
      const size_t id = number.size();
      number[node.get()] = id;
      const auto* kernel = std::get_if<KernelCall>(&node->work);
      out << fmt::format("  node_{} [label=\"{}{}\"];\n", id, name_of(type_of(*node)),
                         kernel == nullptr ? "" : "\\n" + kernel->kernel->name());
    }
    for (const auto& node : graph.nodes) {
      for (const GraphNode* need : node->needs)
        out << fmt::format("  node_{} -> node_{};\n", number[need], number[node.get()]);
    }
    out << "}\n";
    return out.flush() ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

FORETRACE_API cudaError_t cudaUserObjectCreate(cudaUserObject_t* handle, void* pointer, cudaHostFn_t destroy,
                                               unsigned count, unsigned flags) {
  return call([&](State&) {
    if (handle == nullptr || destroy == nullptr || count == 0 || flags != cudaUserObjectNoDestructorSync)
      return cudaErrorInvalidValue;
    auto* object = new UserObject{pointer, destroy, count};
    registry().objects.insert(object);
    *handle = handle_of<cudaUserObject_t>(object);
    return cudaSuccess;
  });
}

namespace {

template <class Body>
cudaError_t object_call(cudaUserObject_t handle, unsigned count, Body&& body) {
  return call([&](State&) {
    auto* object = reinterpret_cast<UserObject*>(handle);
    if (!registry().objects.contains(object) || count == 0) return cudaErrorInvalidValue;
    return body(object);
  });
}

}  // namespace

FORETRACE_API cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
  return object_call(handle, count, [&](UserObject* object) {
    object->count += count;
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
  return object_call(handle, count, [&](UserObject* object) {
    release(object, count);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph_handle, cudaUserObject_t handle,
                                                    unsigned count, unsigned flags) {
  return object_call(handle, count, [&](UserObject* object) {
    Graph* graph = graph_of(graph_handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    if ((flags & cudaGraphUserObjectMove) == 0) object->count += count;
    graph->objects.emplace_back(object, count);
    return cudaSuccess;
  });
}
FORETRACE_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph_handle, cudaUserObject_t handle,
                                                     unsigned count) {
  return object_call(handle, count, [&](UserObject* object) {
    Graph* graph = graph_of(graph_handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    for (auto& [held, references] : graph->objects) {
      if (held != object || references < count) continue;
      references -= count;
      release(object, count);
      std::erase_if(graph->objects, [](const auto& pair) { return pair.second == 0; });
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}
