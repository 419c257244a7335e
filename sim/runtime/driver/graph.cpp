// Graphs: those of the runtime, with the driver's structures for kernels, copies and fills.
#include "sim/runtime/device/graph.h"

#include <cstddef>
#include <cstring>

#include "sim/runtime/driver/driver.h"

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

/// A function that both interfaces have in the same form.
#define FORETRACE_THROUGH(driver_name, runtime_name, parameters, ...) \
  FORETRACE_API CUresult driver_name parameters {                     \
    return in_context([&] { return runtime_name(__VA_ARGS__); });     \
  }

cudaKernelNodeParams plain(const CUDA_KERNEL_NODE_PARAMS_v2& p) {
  if (p.extra != nullptr) stop_not_provided("a graph's kernel node with `extra`");
  cudaKernelNodeParams out{};
  out.func = p.func != nullptr ? static_cast<void*>(p.func) : static_cast<void*>(p.kern);
  out.gridDim = dim3(p.gridDimX, p.gridDimY, p.gridDimZ);
  out.blockDim = dim3(p.blockDimX, p.blockDimY, p.blockDimZ);
  out.sharedMemBytes = p.sharedMemBytes;
  out.kernelParams = p.kernelParams;
  return out;
}

CUDA_KERNEL_NODE_PARAMS_v2 driver_form(const cudaKernelNodeParams& p) {
  CUDA_KERNEL_NODE_PARAMS_v2 out{};
  out.func = static_cast<CUfunction>(p.func);
  out.gridDimX = p.gridDim.x;
  out.gridDimY = p.gridDim.y;
  out.gridDimZ = p.gridDim.z;
  out.blockDimX = p.blockDim.x;
  out.blockDimY = p.blockDim.y;
  out.blockDimZ = p.blockDim.z;
  out.sharedMemBytes = p.sharedMemBytes;
  out.kernelParams = p.kernelParams;
  return out;
}

cudaPitchedPtr place_of(CUmemorytype type, const void* host, CUdeviceptr device, size_t pitch,
                        size_t height) {
  if (type == CU_MEMORYTYPE_ARRAY) stop_not_provided("a copy from or to an array");
  return {type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : pointer(device), pitch, pitch, height};
}

cudaMemcpy3DParms plain(const CUDA_MEMCPY3D& p) {
  cudaMemcpy3DParms out{};
  out.srcPos = {p.srcXInBytes, p.srcY, p.srcZ};
  out.dstPos = {p.dstXInBytes, p.dstY, p.dstZ};
  const size_t from_pitch = p.srcPitch == 0 ? p.WidthInBytes : p.srcPitch;
  const size_t to_pitch = p.dstPitch == 0 ? p.WidthInBytes : p.dstPitch;
  out.srcPtr = place_of(p.srcMemoryType, p.srcHost, p.srcDevice, from_pitch,
                        p.srcHeight == 0 ? p.Height : p.srcHeight);
  out.dstPtr =
      place_of(p.dstMemoryType, p.dstHost, p.dstDevice, to_pitch, p.dstHeight == 0 ? p.Height : p.dstHeight);
  out.extent = {p.WidthInBytes, p.Height, p.Depth};
  out.kind = cudaMemcpyDefault;
  return out;
}

cudaMemsetParams plain(const CUDA_MEMSET_NODE_PARAMS& p) {
  cudaMemsetParams out{};
  out.dst = pointer(p.dst);
  out.pitch = p.pitch;
  out.value = p.value;
  out.elementSize = p.elementSize;
  out.width = p.width;
  out.height = p.height;
  return out;
}

/// A side of a copy in the driver's words; `pitch`, `height`: those of its rows and slices.
struct CopySide {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  CUdeviceptr device = 0;
  size_t pitch = 0, height = 0;
};

CopySide side_of(const cudaPitchedPtr& p) {
  return {CU_MEMORYTYPE_UNIFIED, address(p.ptr), p.pitch, p.ysize};
}

/// Where the memory is says its address; both sides are told as such.
CUDA_MEMCPY3D driver_form(const cudaMemcpy3DParms& p) {
  if (p.srcArray != nullptr || p.dstArray != nullptr)
    stop_not_provided("a graph's copy from or to an array, asked for by the driver's interface");
  const CopySide from = side_of(p.srcPtr), to = side_of(p.dstPtr);
  CUDA_MEMCPY3D out{};
  out.srcXInBytes = p.srcPos.x, out.srcY = p.srcPos.y, out.srcZ = p.srcPos.z;
  out.dstXInBytes = p.dstPos.x, out.dstY = p.dstPos.y, out.dstZ = p.dstPos.z;
  out.srcMemoryType = from.type, out.srcDevice = from.device, out.srcPitch = from.pitch;
  out.dstMemoryType = to.type, out.dstDevice = to.device, out.dstPitch = to.pitch;
  out.srcHeight = from.height, out.dstHeight = to.height;
  out.WidthInBytes = p.extent.width, out.Height = p.extent.height, out.Depth = p.extent.depth;
  return out;
}

CUDA_KERNEL_NODE_PARAMS_v2 second_form(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  CUDA_KERNEL_NODE_PARAMS_v2 out{};
  static_assert(sizeof p <= sizeof out &&
                offsetof(CUDA_KERNEL_NODE_PARAMS_v2, extra) == offsetof(CUDA_KERNEL_NODE_PARAMS_v1, extra));
  std::memcpy(&out, &p, sizeof p);
  return out;
}

/// The runtime's structure for any node. Kernels, copies and fills have their own forms; the others' bytes are the same.
cudaGraphNodeParams plain(const CUgraphNodeParams& p) {
  static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams) &&
                offsetof(cudaGraphNodeParams, kernel) == offsetof(CUgraphNodeParams, kernel));
  cudaGraphNodeParams out{};
  std::memcpy(static_cast<void*>(&out), &p, sizeof out);
  if (p.type == CU_GRAPH_NODE_TYPE_KERNEL) {
    CUDA_KERNEL_NODE_PARAMS_v2 kernel{};
    std::memcpy(&kernel, &p.kernel, sizeof kernel);
    const cudaKernelNodeParams form = plain(kernel);
    out.kernel = {form.func, form.gridDim, form.blockDim, form.sharedMemBytes, form.kernelParams, nullptr};
  } else if (p.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    out.memcpy = {};
    out.memcpy.copyParams = plain(p.memcpy.copyParams);
  } else if (p.type == CU_GRAPH_NODE_TYPE_MEMSET) {
    out.memset = {pointer(p.memset.dst), p.memset.pitch, p.memset.value,
                  p.memset.elementSize,  p.memset.width, p.memset.height};
  }
  return out;
}

/// Calls with the runtime's structure, and hands back what the call has written into it: an address, the graphs of a condition.
template <class Body>
CUresult with_node(CUgraphNodeParams* p, Body&& body) {
  return in_context([&] {
    if (p == nullptr) return cudaErrorInvalidValue;
    cudaGraphNodeParams form = plain(*p);
    const cudaError_t result = body(&form);
    if (result == cudaSuccess && p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
      p->alloc.dptr = address(form.alloc.dptr);
    if (result == cudaSuccess && p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
      p->conditional.phGraph_out = form.conditional.phGraph_out;
    return result;
  });
}

const cudaHostNodeParams* host_form(const CUDA_HOST_NODE_PARAMS* p) {
  static_assert(sizeof(cudaHostNodeParams) <= sizeof(CUDA_HOST_NODE_PARAMS));
  return reinterpret_cast<const cudaHostNodeParams*>(p);
}

/// Calls with the runtime's structure; null is an invalid value.
template <class Params, class Body>
CUresult with_params(const Params* p, Body&& body) {
  return in_context([&] {
    if (p == nullptr) return cudaErrorInvalidValue;
    const auto form = plain(*p);
    return body(&form);
  });
}

}  // namespace

FORETRACE_THROUGH(cuGraphCreate, cudaGraphCreate, (CUgraph * graph, unsigned flags), graph, flags)
FORETRACE_THROUGH(cuGraphDestroy, cudaGraphDestroy, (CUgraph graph), graph)
FORETRACE_THROUGH(cuGraphDestroyNode, cudaGraphDestroyNode, (CUgraphNode node), node)
FORETRACE_THROUGH(cuGraphClone, cudaGraphClone, (CUgraph * clone, CUgraph graph), clone, graph)
FORETRACE_THROUGH(cuGraphNodeFindInClone, cudaGraphNodeFindInClone,
                  (CUgraphNode * node, CUgraphNode of, CUgraph clone), node, of, clone)
FORETRACE_THROUGH(cuGraphGetNodes, cudaGraphGetNodes, (CUgraph graph, CUgraphNode* nodes, size_t* count),
                  graph, nodes, count)
FORETRACE_THROUGH(cuGraphGetRootNodes, cudaGraphGetRootNodes,
                  (CUgraph graph, CUgraphNode* nodes, size_t* count), graph, nodes, count)
FORETRACE_THROUGH(cuGraphNodeGetType, cudaGraphNodeGetType, (CUgraphNode node, CUgraphNodeType* type), node,
                  reinterpret_cast<cudaGraphNodeType*>(type))
FORETRACE_THROUGH(cuGraphGetEdges_v2, cudaGraphGetEdges,
                  (CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges, size_t* count),
                  graph, from, to, reinterpret_cast<cudaGraphEdgeData*>(edges), count)
FORETRACE_THROUGH(cuGraphGetEdges, cudaGraphGetEdges,
                  (CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count), graph, from, to,
                  nullptr, count)
FORETRACE_THROUGH(cuGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies,
                  (CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges, size_t* count), node, nodes,
                  reinterpret_cast<cudaGraphEdgeData*>(edges), count)
FORETRACE_THROUGH(cuGraphNodeGetDependencies, cudaGraphNodeGetDependencies,
                  (CUgraphNode node, CUgraphNode* nodes, size_t* count), node, nodes, nullptr, count)
FORETRACE_THROUGH(cuGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes,
                  (CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges, size_t* count), node, nodes,
                  reinterpret_cast<cudaGraphEdgeData*>(edges), count)
FORETRACE_THROUGH(cuGraphNodeGetDependentNodes, cudaGraphNodeGetDependentNodes,
                  (CUgraphNode node, CUgraphNode* nodes, size_t* count), node, nodes, nullptr, count)
FORETRACE_THROUGH(cuGraphAddDependencies_v2, cudaGraphAddDependencies,
                  (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                   const CUgraphEdgeData* edges, size_t count),
                  graph, from, to, reinterpret_cast<const cudaGraphEdgeData*>(edges), count)
FORETRACE_THROUGH(cuGraphAddDependencies, cudaGraphAddDependencies,
                  (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count), graph, from,
                  to, nullptr, count)
FORETRACE_THROUGH(cuGraphRemoveDependencies_v2, cudaGraphRemoveDependencies,
                  (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                   const CUgraphEdgeData* edges, size_t count),
                  graph, from, to, reinterpret_cast<const cudaGraphEdgeData*>(edges), count)
FORETRACE_THROUGH(cuGraphRemoveDependencies, cudaGraphRemoveDependencies,
                  (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count), graph, from,
                  to, nullptr, count)

FORETRACE_API CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                         const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* p) {
  return with_node(p, [&](auto* form) {
    return cudaGraphAddNode(node, graph, needs, reinterpret_cast<const cudaGraphEdgeData*>(edges), count,
                            form);
  });
}
FORETRACE_API CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                      size_t count, CUgraphNodeParams* p) {
  return cuGraphAddNode_v2(node, graph, needs, nullptr, count, p);
}
FORETRACE_API CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  return with_node(p, [&](auto* form) { return cudaGraphNodeSetParams(node, form); });
}
FORETRACE_API CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* p) {
  return with_node(p, [&](auto* form) { return cudaGraphExecNodeSetParams(exec, node, form); });
}
FORETRACE_THROUGH(cuGraphConditionalHandleCreate, cudaGraphConditionalHandleCreate,
                  (CUgraphConditionalHandle * handle, CUgraph graph, CUcontext, unsigned value,
                   unsigned flags),
                  reinterpret_cast<cudaGraphConditionalHandle*>(handle), graph, value, flags)

FORETRACE_API CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                               size_t count, const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return with_params(
      p, [&](const auto* form) { return cudaGraphAddKernelNode(node, graph, needs, count, form); });
}
FORETRACE_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return in_context([&] {
    cudaKernelNodeParams form{};
    const cudaError_t result =
        p == nullptr ? cudaErrorInvalidValue : cudaGraphKernelNodeGetParams(node, &form);
    if (result == cudaSuccess) *p = driver_form(form);
    return result;
  });
}
FORETRACE_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return with_params(p, [&](const auto* form) { return cudaGraphKernelNodeSetParams(node, form); });
}
FORETRACE_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                         const CUDA_KERNEL_NODE_PARAMS_v2* p) {
  return with_params(p, [&](const auto* form) { return cudaGraphExecKernelNodeSetParams(exec, node, form); });
}
FORETRACE_API CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                            size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (p == nullptr) return cuGraphAddKernelNode_v2(node, graph, needs, count, nullptr);
  const auto form = second_form(*p);
  return cuGraphAddKernelNode_v2(node, graph, needs, count, &form);
}
FORETRACE_API CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* p) {
  CUDA_KERNEL_NODE_PARAMS_v2 form{};
  const CUresult result = cuGraphKernelNodeGetParams_v2(node, p == nullptr ? nullptr : &form);
  if (result == CUDA_SUCCESS) std::memcpy(p, &form, sizeof *p);
  return result;
}
FORETRACE_API CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (p == nullptr) return cuGraphKernelNodeSetParams_v2(node, nullptr);
  const auto form = second_form(*p);
  return cuGraphKernelNodeSetParams_v2(node, &form);
}
FORETRACE_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (p == nullptr) return cuGraphExecKernelNodeSetParams_v2(exec, node, nullptr);
  const auto form = second_form(*p);
  return cuGraphExecKernelNodeSetParams_v2(exec, node, &form);
}
FORETRACE_THROUGH(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes,
                  (CUgraphNode to, CUgraphNode from), to, from)
FORETRACE_THROUGH(cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute,
                  (CUgraphNode node, CUlaunchAttributeID id, CUlaunchAttributeValue* value), node,
                  static_cast<cudaLaunchAttributeID>(id), reinterpret_cast<cudaLaunchAttributeValue*>(value))
FORETRACE_THROUGH(cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute,
                  (CUgraphNode node, CUlaunchAttributeID id, const CUlaunchAttributeValue* value), node,
                  static_cast<cudaLaunchAttributeID>(id),
                  reinterpret_cast<const cudaLaunchAttributeValue*>(value))
FORETRACE_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* p) {
  return in_context([&] {
    cudaMemcpy3DParms form{};
    const cudaError_t result =
        p == nullptr ? cudaErrorInvalidValue : cudaGraphMemcpyNodeGetParams(node, &form);
    if (result == cudaSuccess) *p = driver_form(form);
    return result;
  });
}
FORETRACE_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* p) {
  return in_context([&] {
    cudaMemsetParams form{};
    const cudaError_t result =
        p == nullptr ? cudaErrorInvalidValue : cudaGraphMemsetNodeGetParams(node, &form);
    if (result == cudaSuccess)
      *p = {address(form.dst), form.pitch, form.value, form.elementSize, form.width, form.height};
    return result;
  });
}
FORETRACE_API CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                            size_t count, const CUDA_MEMCPY3D* p, CUcontext) {
  return with_params(
      p, [&](const auto* form) { return cudaGraphAddMemcpyNode(node, graph, needs, count, form); });
}
FORETRACE_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* p) {
  return with_params(p, [&](const auto* form) { return cudaGraphMemcpyNodeSetParams(node, form); });
}
FORETRACE_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_MEMCPY3D* p, CUcontext) {
  return with_params(p, [&](const auto* form) { return cudaGraphExecMemcpyNodeSetParams(exec, node, form); });
}
FORETRACE_API CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                            size_t count, const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  return with_params(
      p, [&](const auto* form) { return cudaGraphAddMemsetNode(node, graph, needs, count, form); });
}
FORETRACE_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p) {
  return with_params(p, [&](const auto* form) { return cudaGraphMemsetNodeSetParams(node, form); });
}
FORETRACE_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  return with_params(p, [&](const auto* form) { return cudaGraphExecMemsetNodeSetParams(exec, node, form); });
}
FORETRACE_THROUGH(cuGraphAddHostNode, cudaGraphAddHostNode,
                  (CUgraphNode * node, CUgraph graph, const CUgraphNode* needs, size_t count,
                   const CUDA_HOST_NODE_PARAMS* p),
                  node, graph, needs, count, host_form(p))
FORETRACE_THROUGH(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams,
                  (CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p), node, host_form(p))
FORETRACE_API CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* p) {
  return in_context([&] {
    cudaHostNodeParams form{};
    const cudaError_t result = p == nullptr ? cudaErrorInvalidValue : cudaGraphHostNodeGetParams(node, &form);
    if (result == cudaSuccess) *p = {form.fn, form.userData};
    return result;
  });
}
FORETRACE_THROUGH(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams,
                  (CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p), exec, node,
                  host_form(p))
FORETRACE_THROUGH(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams,
                  (CUgraphExec exec, CUgraphNode node, CUgraph child), exec, node, child)
FORETRACE_THROUGH(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent,
                  (CUgraphNode node, CUevent* event), node, event)
FORETRACE_THROUGH(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent,
                  (CUgraphNode node, CUevent event), node, event)
FORETRACE_THROUGH(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent,
                  (CUgraphNode node, CUevent* event), node, event)
FORETRACE_THROUGH(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent,
                  (CUgraphNode node, CUevent event), node, event)
FORETRACE_THROUGH(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent,
                  (CUgraphExec exec, CUgraphNode node, CUevent event), exec, node, event)
FORETRACE_THROUGH(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent,
                  (CUgraphExec exec, CUgraphNode node, CUevent event), exec, node, event)
FORETRACE_API CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                              size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(cudaMemAllocNodeParams));
  return in_context([&] {
    return cudaGraphAddMemAllocNode(node, graph, needs, count, reinterpret_cast<cudaMemAllocNodeParams*>(p));
  });
}
FORETRACE_THROUGH(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams,
                  (CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* p), node,
                  reinterpret_cast<cudaMemAllocNodeParams*>(p))
FORETRACE_THROUGH(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode,
                  (CUgraphNode * node, CUgraph graph, const CUgraphNode* needs, size_t count, CUdeviceptr p),
                  node, graph, needs, count, pointer(p))
FORETRACE_THROUGH(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams,
                  (CUgraphNode node, CUdeviceptr* p), node, p)
FORETRACE_THROUGH(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode,
                  (CUgraphNode * node, CUgraph graph, const CUgraphNode* needs, size_t count, CUgraph child),
                  node, graph, needs, count, child)
FORETRACE_THROUGH(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph,
                  (CUgraphNode node, CUgraph* graph), node, graph)
FORETRACE_THROUGH(cuGraphAddEmptyNode, cudaGraphAddEmptyNode,
                  (CUgraphNode * node, CUgraph graph, const CUgraphNode* needs, size_t count), node, graph,
                  needs, count)
FORETRACE_THROUGH(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode,
                  (CUgraphNode * node, CUgraph graph, const CUgraphNode* needs, size_t count, CUevent event),
                  node, graph, needs, count, event)
FORETRACE_THROUGH(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode,
                  (CUgraphNode * node, CUgraph graph, const CUgraphNode* needs, size_t count, CUevent event),
                  node, graph, needs, count, event)

FORETRACE_THROUGH(cuGraphInstantiateWithFlags, cudaGraphInstantiate,
                  (CUgraphExec * exec, CUgraph graph, unsigned long long flags), exec, graph, flags)
FORETRACE_API CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* failed, char* log,
                                             size_t room) {
  if (failed != nullptr) *failed = nullptr;
  if (log != nullptr && room != 0) *log = '\0';
  return in_context([&] { return cudaGraphInstantiate(exec, graph, 0); });
}
FORETRACE_SAME(cuGraphInstantiate, cuGraphInstantiate_v2);
FORETRACE_API CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                                    CUDA_GRAPH_INSTANTIATE_PARAMS* p) {
  static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams));
  return in_context([&] {
    return cudaGraphInstantiateWithParams(exec, graph, reinterpret_cast<cudaGraphInstantiateParams*>(p));
  });
}
FORETRACE_THROUGH(cuGraphExecDestroy, cudaGraphExecDestroy, (CUgraphExec exec), exec)
FORETRACE_API CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  return in_context([&] {
    unsigned long long value = 0;
    const cudaError_t result = flags == nullptr ? cudaErrorInvalidValue : cudaGraphExecGetFlags(exec, &value);
    if (result == cudaSuccess) *flags = value;
    return result;
  });
}
FORETRACE_THROUGH(cuGraphUpload, cudaGraphUpload, (CUgraphExec exec, CUstream stream), exec, stream)
FORETRACE_THROUGH(cuGraphLaunch, cudaGraphLaunch, (CUgraphExec exec, CUstream stream), exec, stream)
FORETRACE_API CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                            CUgraphExecUpdateResultInfo* info) {
  static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));
  return in_context([&] {
    return cudaGraphExecUpdate(exec, graph, reinterpret_cast<cudaGraphExecUpdateResultInfo*>(info));
  });
}
FORETRACE_API CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* node,
                                         CUgraphExecUpdateResult* answer) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = cuGraphExecUpdate_v2(exec, graph, &info);
  if (node != nullptr) *node = info.errorNode;
  if (answer != nullptr) *answer = info.result;
  return result;
}
FORETRACE_THROUGH(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled,
                  (CUgraphExec exec, CUgraphNode node, unsigned on), exec, node, on)
FORETRACE_THROUGH(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled,
                  (CUgraphExec exec, CUgraphNode node, unsigned* on), exec, node, on)
FORETRACE_THROUGH(cuGraphDebugDotPrint, cudaGraphDebugDotPrint,
                  (CUgraph graph, const char* path, unsigned flags), graph, path, flags)
FORETRACE_THROUGH(cuUserObjectCreate, cudaUserObjectCreate,
                  (CUuserObject * object, void* data, CUhostFn destroy, unsigned count, unsigned flags),
                  object, data, destroy, count, flags)
FORETRACE_THROUGH(cuUserObjectRetain, cudaUserObjectRetain, (CUuserObject object, unsigned count), object,
                  count)
FORETRACE_THROUGH(cuUserObjectRelease, cudaUserObjectRelease, (CUuserObject object, unsigned count), object,
                  count)
FORETRACE_THROUGH(cuGraphRetainUserObject, cudaGraphRetainUserObject,
                  (CUgraph graph, CUuserObject object, unsigned count, unsigned flags), graph, object, count,
                  flags)
FORETRACE_THROUGH(cuGraphReleaseUserObject, cudaGraphReleaseUserObject,
                  (CUgraph graph, CUuserObject object, unsigned count), graph, object, count)
