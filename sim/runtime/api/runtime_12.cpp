// libcudart.so.12: the functions whose form CUDA 13 has changed, as CUDA 12 has them.
//
// The library holds the same code as libcudart.so.13. renamed_12.txt gives its functions the names that CUDA 12 has for these forms
// (`_v2`, `_v3`), or names of their own where it has none. What stands here has CUDA 12's names and structures, and calls those.
// Source:  driver_types.h and cuda_runtime_api.h of CUDA 12.9.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sim/runtime/api/api.h"
#include "sim/runtime/device/state.h"
#include "sim/runtime/device/stop.h"

/// A function of the library under the name that it has in it (renamed_12.txt).
#define FORETRACE_13(function, name, symbol) extern "C" decltype(function) name __asm__(symbol)
/// A function that the library shows as that symbol.
#define FORETRACE_12(symbol, name, ...)                                                            \
  extern "C" __attribute__((visibility("default"))) cudaError_t name(__VA_ARGS__) __asm__(symbol); \
  cudaError_t name(__VA_ARGS__)

FORETRACE_13(cudaEventElapsedTime, elapsed_13, "cudaEventElapsedTime_v2");
FORETRACE_13(cudaGraphAddDependencies, add_dependencies_13, "cudaGraphAddDependencies_v2");
FORETRACE_13(cudaGraphAddNode, add_node_13, "cudaGraphAddNode_v2");
FORETRACE_13(cudaGraphGetEdges, edges_13, "cudaGraphGetEdges_v2");
FORETRACE_13(cudaGraphNodeGetDependencies, dependencies_13, "cudaGraphNodeGetDependencies_v2");
FORETRACE_13(cudaGraphNodeGetDependentNodes, dependents_13, "cudaGraphNodeGetDependentNodes_v2");
FORETRACE_13(cudaGraphRemoveDependencies, remove_dependencies_13, "cudaGraphRemoveDependencies_v2");
FORETRACE_13(cudaMemAdvise, advise_13, "cudaMemAdvise_v2");
FORETRACE_13(cudaMemPrefetchAsync, prefetch_13, "cudaMemPrefetchAsync_v2");
FORETRACE_13(cudaStreamGetCaptureInfo, capture_info_13, "cudaStreamGetCaptureInfo_v3");
FORETRACE_13(cudaStreamUpdateCaptureDependencies, update_capture_13,
             "cudaStreamUpdateCaptureDependencies_v2");
FORETRACE_13(cudaCreateSurfaceObject, surface_13, "foretrace_13_CreateSurfaceObject");
FORETRACE_13(cudaCreateTextureObject, texture_13, "foretrace_13_CreateTextureObject");
FORETRACE_13(cudaGetDeviceProperties, properties_13, "foretrace_13_GetDeviceProperties");
FORETRACE_13(cudaGetSurfaceObjectResourceDesc, surface_resource_13,
             "foretrace_13_GetSurfaceObjectResourceDesc");
FORETRACE_13(cudaGetTextureObjectResourceDesc, texture_resource_13,
             "foretrace_13_GetTextureObjectResourceDesc");
FORETRACE_13(cudaGetTextureObjectResourceViewDesc, texture_view_13,
             "foretrace_13_GetTextureObjectResourceViewDesc");
FORETRACE_13(cudaMemcpy3DBatchAsync, boxes_13, "foretrace_13_Memcpy3DBatchAsync");
FORETRACE_13(cudaMemcpyBatchAsync, batch_13, "foretrace_13_MemcpyBatchAsync");
FORETRACE_13(cudaPointerGetAttributes, pointer_13, "foretrace_13_PointerGetAttributes");

using foretrace::runtime::per_thread;

namespace {

#define FORETRACE_KEPT(type, name, extent) type name extent;
#define FORETRACE_GONE(name, attribute) int name;
struct Properties12 {
#include "sim/runtime/api/properties_12.def"
  int reserved[63];
};
#undef FORETRACE_KEPT
#undef FORETRACE_GONE
static_assert(sizeof(Properties12) == 1032);

/// CUDA 13's has room at its end that CUDA 12's has not.
struct PointerAttributes12 {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};

/// CUDA 13's union has room for more, and flags behind it.
struct Resource12 {
  cudaResourceType type;
  alignas(8) std::byte place[56];
};
static_assert(sizeof(Resource12) == 64);

struct View12 {
  cudaResourceViewFormat format;
  std::size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
};

cudaResourceDesc form_13(const Resource12& resource) {
  cudaResourceDesc out{};
  out.resType = resource.type;
  std::memcpy(&out.res, resource.place, sizeof resource.place);
  return out;
}
Resource12 form_12(const cudaResourceDesc& resource) {
  Resource12 out{};
  out.type = resource.resType;
  std::memcpy(out.place, &resource.res, sizeof out.place);
  return out;
}

/// What CUDA 13's question about a texture or a surface says, in CUDA 12's form.
template <class Object>
cudaError_t resource_12(cudaError_t (*ask)(cudaResourceDesc*, Object), Resource12* out, Object object) {
  cudaResourceDesc now{};
  const cudaError_t result = ask(out == nullptr ? nullptr : &now, object);
  if (result == cudaSuccess && out != nullptr) *out = form_12(now);
  return result;
}

/// Its property is 0: a launch on several devices at once is not provided.
constexpr cudaDeviceAttr kNoAttribute{};

cudaMemLocation place_of(int device) {
  if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, {0}};
  return {cudaMemLocationTypeDevice, {device}};
}

}  // namespace

FORETRACE_12("cudaRuntimeGetVersion", runtime_version_12, int* version) {
  return foretrace::runtime::call([&](foretrace::runtime::State&) {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = 12090;
    return cudaSuccess;
  });
}
FORETRACE_12("cudaGetDeviceProperties_v2", properties_12, Properties12* out, int device) {
  cudaDeviceProp now{};
  const cudaError_t result = properties_13(out == nullptr ? nullptr : &now, device);
  if (result != cudaSuccess) return result;
  std::memset(out, 0, sizeof *out);
#define FORETRACE_KEPT(type, name, extent) std::memcpy(&out->name, &now.name, sizeof out->name);
#define FORETRACE_GONE(name, attribute) \
  if (attribute != kNoAttribute) (void)cudaDeviceGetAttribute(&out->name, attribute, device);
#include "sim/runtime/api/properties_12.def"
#undef FORETRACE_KEPT
#undef FORETRACE_GONE
  return cudaSuccess;
}
/// All devices are of one chip.
FORETRACE_12("cudaChooseDevice", choose_device_12, int* device, const Properties12* wanted) {
  return foretrace::runtime::call([&](foretrace::runtime::State&) {
    if (device == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}
FORETRACE_12("cudaPointerGetAttributes", pointer_12, PointerAttributes12* out, const void* pointer) {
  cudaPointerAttributes now{};
  const cudaError_t result = pointer_13(out == nullptr ? nullptr : &now, pointer);
  if (result == cudaSuccess) *out = {now.type, now.device, now.devicePointer, now.hostPointer};
  return result;
}
FORETRACE_12("cudaCreateTextureObject", texture_12, cudaTextureObject_t* texture, const Resource12* resource,
             const cudaTextureDesc* how, const View12* view) {
  if (resource == nullptr) return texture_13(texture, nullptr, how, nullptr);
  const cudaResourceDesc now = form_13(*resource);
  cudaResourceViewDesc view_now{};
  if (view != nullptr) std::memcpy(&view_now, view, sizeof *view);
  return texture_13(texture, &now, how, view == nullptr ? nullptr : &view_now);
}
FORETRACE_12("cudaCreateSurfaceObject", surface_12, cudaSurfaceObject_t* surface,
             const Resource12* resource) {
  if (resource == nullptr) return surface_13(surface, nullptr);
  const cudaResourceDesc now = form_13(*resource);
  return surface_13(surface, &now);
}
FORETRACE_12("cudaGetTextureObjectResourceDesc", texture_resource_12, Resource12* out,
             cudaTextureObject_t texture) {
  return resource_12(texture_resource_13, out, texture);
}
FORETRACE_12("cudaGetSurfaceObjectResourceDesc", surface_resource_12, Resource12* out,
             cudaSurfaceObject_t surface) {
  return resource_12(surface_resource_13, out, surface);
}
FORETRACE_12("cudaGetTextureObjectResourceViewDesc", texture_view_12, View12* out,
             cudaTextureObject_t texture) {
  cudaResourceViewDesc now{};
  const cudaError_t result = texture_view_13(out == nullptr ? nullptr : &now, texture);
  if (result == cudaSuccess) std::memcpy(out, &now, sizeof *out);
  return result;
}

FORETRACE_12("cudaEventElapsedTime", elapsed_12, float* ms, cudaEvent_t begin, cudaEvent_t end) {
  return elapsed_13(ms, begin, end);
}
FORETRACE_12("cudaMemAdvise", advise_12, const void* pointer, std::size_t size, cudaMemoryAdvise advice,
             int device) {
  return advise_13(pointer, size, advice, place_of(device));
}
FORETRACE_12("cudaMemPrefetchAsync", prefetch_12, const void* pointer, std::size_t size, int device,
             cudaStream_t stream) {
  return prefetch_13(pointer, size, place_of(device), 0, stream);
}
FORETRACE_12("cudaMemPrefetchAsync_ptsz", prefetch_12_ptsz, const void* pointer, std::size_t size, int device,
             cudaStream_t stream) {
  return prefetch_12(pointer, size, device, per_thread(stream));
}
FORETRACE_12("cudaMemcpyBatchAsync", batch_12, void** to, void** from, std::size_t* sizes, std::size_t count,
             cudaMemcpyAttributes* attributes, std::size_t* indices, std::size_t kinds, std::size_t* failed,
             cudaStream_t stream) {
  if (failed != nullptr) *failed = SIZE_MAX;  // none
  return batch_13(to, const_cast<const void* const*>(from), sizes, count, attributes, indices, kinds, stream);
}
FORETRACE_12("cudaMemcpyBatchAsync_ptsz", batch_12_ptsz, void** to, void** from, std::size_t* sizes,
             std::size_t count, cudaMemcpyAttributes* attributes, std::size_t* indices, std::size_t kinds,
             std::size_t* failed, cudaStream_t stream) {
  return batch_12(to, from, sizes, count, attributes, indices, kinds, failed, per_thread(stream));
}

FORETRACE_12("cudaMemcpy3DBatchAsync", boxes_12, std::size_t count, cudaMemcpy3DBatchOp* operations,
             std::size_t* failed, unsigned long long flags, cudaStream_t stream) {
  if (failed != nullptr) *failed = SIZE_MAX;  // none
  return boxes_13(count, operations, flags, stream);
}
FORETRACE_12("cudaMemcpy3DBatchAsync_ptsz", boxes_12_ptsz, std::size_t count, cudaMemcpy3DBatchOp* operations,
             std::size_t* failed, unsigned long long flags, cudaStream_t stream) {
  return boxes_12(count, operations, failed, flags, per_thread(stream));
}

FORETRACE_12("cudaStreamGetCaptureInfo_v2", capture_info_12, cudaStream_t stream,
             cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
             const cudaGraphNode_t** needs, std::size_t* count) {
  return capture_info_13(stream, status, id, graph, needs, nullptr, count);
}
FORETRACE_12("cudaStreamGetCaptureInfo_v2_ptsz", capture_info_12_ptsz, cudaStream_t stream,
             cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
             const cudaGraphNode_t** needs, std::size_t* count) {
  return capture_info_12(per_thread(stream), status, id, graph, needs, count);
}
FORETRACE_12("cudaStreamUpdateCaptureDependencies", update_capture_12, cudaStream_t stream,
             cudaGraphNode_t* needs, std::size_t count, unsigned flags) {
  return update_capture_13(stream, needs, nullptr, count, flags);
}
FORETRACE_12("cudaStreamUpdateCaptureDependencies_ptsz", update_capture_12_ptsz, cudaStream_t stream,
             cudaGraphNode_t* needs, std::size_t count, unsigned flags) {
  return update_capture_12(per_thread(stream), needs, count, flags);
}
FORETRACE_12("cudaGraphAddDependencies", add_dependencies_12, cudaGraph_t graph, const cudaGraphNode_t* from,
             const cudaGraphNode_t* to, std::size_t count) {
  return add_dependencies_13(graph, from, to, nullptr, count);
}
FORETRACE_12("cudaGraphRemoveDependencies", remove_dependencies_12, cudaGraph_t graph,
             const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t count) {
  return remove_dependencies_13(graph, from, to, nullptr, count);
}
FORETRACE_12("cudaGraphAddNode", add_node_12, cudaGraphNode_t* node, cudaGraph_t graph,
             const cudaGraphNode_t* needs, std::size_t count, cudaGraphNodeParams* p) {
  return add_node_13(node, graph, needs, nullptr, count, p);
}
FORETRACE_12("cudaGraphGetEdges", edges_12, cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
             std::size_t* count) {
  return edges_13(graph, from, to, nullptr, count);
}
FORETRACE_12("cudaGraphNodeGetDependencies", dependencies_12, cudaGraphNode_t node, cudaGraphNode_t* nodes,
             std::size_t* count) {
  return dependencies_13(node, nodes, nullptr, count);
}
FORETRACE_12("cudaGraphNodeGetDependentNodes", dependents_12, cudaGraphNode_t node, cudaGraphNode_t* nodes,
             std::size_t* count) {
  return dependents_13(node, nodes, nullptr, count);
}

FORETRACE_12("cudaThreadSynchronize", thread_synchronize_12) { return cudaDeviceSynchronize(); }
FORETRACE_12("cudaThreadExit", thread_exit_12) { return cudaDeviceReset(); }
FORETRACE_12("cudaThreadGetLimit", thread_limit_12, std::size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
FORETRACE_12("cudaThreadSetLimit", thread_set_limit_12, cudaLimit limit, std::size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
FORETRACE_12("cudaThreadGetCacheConfig", thread_cache_12, cudaFuncCache* cache) {
  return cudaDeviceGetCacheConfig(cache);
}
FORETRACE_12("cudaThreadSetCacheConfig", thread_set_cache_12, cudaFuncCache cache) {
  return cudaDeviceSetCacheConfig(cache);
}
/// The devices that took no doubles are gone.
FORETRACE_12("cudaSetDoubleForDevice", double_for_device_12, double*) { return cudaSuccess; }
FORETRACE_12("cudaSetDoubleForHost", double_for_host_12, double*) { return cudaSuccess; }
FORETRACE_12("cudaLaunchCooperativeKernelMultiDevice", multi_device_12, void*, unsigned, unsigned) {
  foretrace::runtime::stop_not_provided("cudaLaunchCooperativeKernelMultiDevice");
}

#define FORETRACE_STOP_12(symbol) \
  FORETRACE_12(#symbol, stop_##symbol) { foretrace::runtime::stop_not_provided(#symbol); }
FORETRACE_STOP_12(cudaSignalExternalSemaphoresAsync_v2)
FORETRACE_STOP_12(cudaSignalExternalSemaphoresAsync_v2_ptsz)
FORETRACE_STOP_12(cudaWaitExternalSemaphoresAsync_v2)
FORETRACE_STOP_12(cudaWaitExternalSemaphoresAsync_v2_ptsz)
