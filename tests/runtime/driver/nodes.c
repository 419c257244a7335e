#include "check.h"

/* Nodes of graphs by the functions that name a kind, by the one that takes any, and by the first forms of both. */

static int called;
static void CUDA_CB count_call(void* data) { called += *(int*)data; }

static void kernel_params(CUgraphNodeParams* p, CUfunction function, void** arguments) {
  memset(p, 0, sizeof *p);
  p->type = CU_GRAPH_NODE_TYPE_KERNEL;
  p->kernel.func = function;
  p->kernel.gridDimX = 8;
  p->kernel.blockDimX = 128;
  p->kernel.gridDimY = p->kernel.gridDimZ = p->kernel.blockDimY = p->kernel.blockDimZ = 1;
  p->kernel.kernelParams = arguments;
}

static void check_any_node(CUstream stream, CUdeviceptr p, CUfunction scale, void** arguments) {
  CUgraph graph = NULL;
  CUgraphNode fill = NULL, kernel = NULL, copy = NULL, choice = NULL, inside = NULL;
  CUgraphNodeParams any;
  CUgraphConditionalHandle handle = 0;
  CUgraphExec exec = NULL;
  CUgraphNodeType type = (CUgraphNodeType)99;
  CUcontext context = NULL;
  static unsigned result[4];
  T(cuCtxGetCurrent(&context));
  T(cuGraphCreate(&graph, 0));
  memset(&any, 0, sizeof any);
  any.type = CU_GRAPH_NODE_TYPE_MEMSET;
  any.memset.dst = p;
  any.memset.elementSize = 4;
  any.memset.value = 0x3f800000;
  any.memset.width = 1024;
  any.memset.height = 1;
  T(cuGraphAddNode(&fill, graph, NULL, 0, &any));
  any.memset.value = 0x40000000;
  T(cuGraphNodeSetParams(fill, &any));
  kernel_params(&any, scale, arguments);
  T(cuGraphAddNode_v2(&kernel, graph, &fill, NULL, 1, &any));
  T(cuGraphNodeSetParams(fill, &any));
  T(cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  memset(&any, 0, sizeof any);
  any.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  any.conditional.handle = handle;
  any.conditional.type = CU_GRAPH_COND_TYPE_IF;
  any.conditional.size = 1;
  any.conditional.ctx = context;
  T(cuGraphAddNode_v2(&choice, graph, &kernel, NULL, 1, &any));
  T(cuGraphNodeGetType(choice, &type));
  NUMBER(type == CU_GRAPH_NODE_TYPE_CONDITIONAL);
  CUgraph body = any.conditional.phGraph_out == NULL ? NULL : any.conditional.phGraph_out[0];
  kernel_params(&any, scale, arguments);
  T(cuGraphAddNode_v2(&inside, body, NULL, NULL, 0, &any));
  memset(&any, 0, sizeof any);
  any.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  any.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  any.memcpy.copyParams.srcDevice = p;
  any.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST;
  any.memcpy.copyParams.dstHost = result;
  any.memcpy.copyParams.WidthInBytes = 16;
  any.memcpy.copyParams.Height = any.memcpy.copyParams.Depth = 1;
  any.memcpy.copyCtx = context;
  T(cuGraphAddNode_v2(&copy, graph, &choice, NULL, 1, &any));
  T(cuGraphInstantiateWithFlags(&exec, graph, 0));
  T(cuGraphLaunch(exec, stream));
  T(cuStreamSynchronize(stream));
  printf("  %x\n", result[3]);
  kernel_params(&any, scale, arguments);
  any.kernel.gridDimX = 1;
  any.kernel.blockDimX = 1;
  T(cuGraphExecNodeSetParams(exec, kernel, &any));
  T(cuGraphLaunch(exec, stream));
  T(cuStreamSynchronize(stream));
  printf("  %x %x\n", result[0], result[3]);
  T(cuGraphExecDestroy(exec));
  T(cuGraphDestroy(graph));
}

static void check_first_forms(CUstream stream, CUdeviceptr p, CUfunction scale, void** arguments) {
  CUgraph graph = NULL, child = NULL;
  CUgraphNode fill = NULL, kernel = NULL, second = NULL, copy = NULL, host = NULL, record = NULL, wait = NULL,
              inside = NULL, empty = NULL, failed = NULL;
  CUDA_KERNEL_NODE_PARAMS_v1 launch;
  CUDA_MEMSET_NODE_PARAMS fill_params, fill_seen;
  CUDA_MEMCPY3D copy_params, copy_seen;
  CUDA_HOST_NODE_PARAMS host_params, host_seen;
  CUlaunchAttributeValue value;
  CUgraphExecUpdateResult updated = (CUgraphExecUpdateResult)99;
  CUgraphExec exec = NULL;
  CUevent first = NULL, other = NULL, seen = NULL;
  CUcontext context = NULL;
  int add = 3;
  T(cuCtxGetCurrent(&context));
  T(cuEventCreate(&first, 0));
  T(cuEventCreate(&other, 0));
  T(cuGraphCreate(&graph, 0));
  T(cuGraphCreate(&child, 0));
  memset(&fill_params, 0, sizeof fill_params);
  fill_params.dst = p;
  fill_params.elementSize = 4;
  fill_params.value = 0x40400000;
  fill_params.width = 1024;
  fill_params.height = 1;
  T(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_params, context));
  T(cuGraphMemsetNodeGetParams(fill, &fill_seen));
  NUMBER(fill_seen.width);
  NUMBER(fill_seen.value);
  memset(&launch, 0, sizeof launch);
  launch.func = scale;
  launch.gridDimX = 8;
  launch.blockDimX = 128;
  launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
  launch.kernelParams = arguments;
  T(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  T(cuGraphKernelNodeSetParams(kernel, &launch));
  T(cuGraphAddKernelNode(&second, graph, &kernel, 1, &launch));
  memset(&launch, 0, sizeof launch);
  T(cuGraphKernelNodeGetParams(kernel, &launch));
  NUMBER(launch.gridDimX);
  launch.kernelParams = arguments;
  launch.extra = NULL;
  memset(&value, 0, sizeof value);
  value.priority = 0;
  T(cuGraphKernelNodeSetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  T(cuGraphKernelNodeCopyAttributes(second, kernel));
  value.priority = 9;
  T(cuGraphKernelNodeGetAttribute(second, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  NUMBER(value.priority);
  memset(&copy_params, 0, sizeof copy_params);
  copy_params.srcMemoryType = copy_params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy_params.srcDevice = p;
  copy_params.dstDevice = p + 2048;
  copy_params.WidthInBytes = 16;
  copy_params.Height = copy_params.Depth = 1;
  T(cuGraphAddMemcpyNode(&copy, graph, &second, 1, &copy_params, context));
  T(cuGraphMemcpyNodeGetParams(copy, &copy_seen));
  NUMBER(copy_seen.WidthInBytes);
  NUMBER(copy_seen.dstDevice - p);
  host_params.fn = count_call;
  host_params.userData = &add;
  T(cuGraphAddHostNode(&host, graph, &copy, 1, &host_params));
  memset(&host_seen, 0, sizeof host_seen);
  T(cuGraphHostNodeGetParams(host, &host_seen));
  NUMBER(host_seen.userData == &add);
  T(cuGraphAddEventRecordNode(&record, graph, &host, 1, first));
  T(cuGraphEventRecordNodeSetEvent(record, other));
  T(cuGraphEventRecordNodeGetEvent(record, &seen));
  NUMBER(seen == other);
  T(cuGraphAddEventWaitNode(&wait, graph, &record, 1, first));
  T(cuGraphEventWaitNodeSetEvent(wait, other));
  T(cuGraphEventWaitNodeGetEvent(wait, &seen));
  NUMBER(seen == other);
  T(cuGraphAddEmptyNode(&empty, child, NULL, 0));
  T(cuGraphAddChildGraphNode(&inside, graph, &wait, 1, child));
  T(cuGraphInstantiateWithFlags(&exec, graph, 0));
  T(cuGraphExecKernelNodeSetParams(exec, kernel, &launch));
  T(cuGraphExecHostNodeSetParams(exec, host, &host_params));
  T(cuGraphExecEventRecordNodeSetEvent(exec, record, first));
  T(cuGraphExecEventWaitNodeSetEvent(exec, wait, first));
  T(cuGraphExecChildGraphNodeSetParams(exec, inside, child));
  T(cuGraphExecUpdate(exec, graph, &failed, &updated));
  NUMBER(updated);
  T(cuGraphLaunch(exec, stream));
  T(cuStreamSynchronize(stream));
  NUMBER(called);
  T(cuGraphExecDestroy(exec));
  T(cuGraphDestroy(graph));
  T(cuGraphDestroy(child));
  T(cuEventDestroy_v2(first));
  T(cuEventDestroy_v2(other));
}

static void check_allocations(CUstream stream) {
  CUgraph graph = NULL;
  CUgraphNode made = NULL, freed = NULL;
  CUgraphExec exec = NULL;
  CUDA_MEM_ALLOC_NODE_PARAMS room, seen;
  CUdeviceptr p = 0;
  memset(&room, 0, sizeof room);
  room.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  room.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  room.bytesize = 4096;
  T(cuGraphCreate(&graph, 0));
  T(cuGraphAddMemAllocNode(&made, graph, NULL, 0, &room));
  NUMBER(room.dptr != 0);
  memset(&seen, 0, sizeof seen);
  T(cuGraphMemAllocNodeGetParams(made, &seen));
  NUMBER(seen.bytesize);
  NUMBER(seen.dptr == room.dptr);
  T(cuGraphAddMemFreeNode(&freed, graph, &made, 1, room.dptr));
  T(cuGraphMemFreeNodeGetParams(freed, &p));
  NUMBER(p == room.dptr);
  T(cuGraphInstantiateWithFlags(&exec, graph, 0));
  T(cuGraphLaunch(exec, stream));
  T(cuStreamSynchronize(stream));
  T(cuGraphExecDestroy(exec));
  T(cuGraphDestroy(graph));
}

static void check_first_captures(CUstream stream, CUdeviceptr p) {
  CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
  cuuint64_t id = 0;
  CUgraph graph = NULL;
  T(cuStreamBeginCapture(stream));
  T(cuMemsetD32Async(p, 5, 16, stream));
  PTSZ(cuStreamGetCaptureInfo, stream, &status, &id);
  NUMBER(status);
  T(cuStreamUpdateCaptureDependencies(stream, NULL, 0, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  T(cuStreamUpdateCaptureDependencies_ptsz(stream, NULL, 0, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  T(cuStreamEndCapture(stream, &graph));
  T(cuGraphDestroy(graph));
  T(cuStreamBeginCapture_ptsz(stream));
  T(cuMemsetD32Async(p, 5, 16, stream));
  T(cuStreamEndCapture(stream, &graph));
  T(cuGraphDestroy(graph));
}

static void check_rows_of_arrays(CUstream stream, CUdeviceptr p) {
  CUarray row = NULL, other = NULL;
  CUDA_ARRAY_DESCRIPTOR flat = {16, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1};
  CUdeviceptr targets[1] = {p + 512}, sources[1] = {p};
  size_t sizes[1] = {64}, index = 0, failed = 9;
  CUmemcpyAttributes how;
  unsigned words[16], back[16];
  for (unsigned i = 0; i < 16; ++i) words[i] = 100 + i, back[i] = 0;
  T(cuArrayCreate_v2(&row, &flat));
  T(cuArrayCreate_v2(&other, &flat));
  PTSZ(cuMemcpyHtoAAsync_v2, row, 0, words, 64, stream);
  T(cuMemcpyHtoA_v2_ptds(row, 0, words, 64));
  T(cuStreamSynchronize(stream));
  PTDS(cuMemcpyAtoA_v2, other, 8, row, 0, 32);
  PTDS(cuMemcpyAtoD_v2, p, other, 8, 16);
  PTDS(cuMemcpyDtoA_v2, other, 48, p, 16);
  PTSZ(cuMemcpyAtoHAsync_v2, back, other, 0, 64, stream);
  T(cuStreamSynchronize(stream));
  NUMBER(back[2]);
  NUMBER(back[9]);
  NUMBER(back[15]);
  T(cuMemcpyAtoH_v2_ptds(back, row, 4, 16));
  NUMBER(back[0]);
  memset(&how, 0, sizeof how);
  how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  PTSZ(cuMemcpyBatchAsync, targets, sources, sizes, 1, &how, &index, 1, &failed, CU_STREAM_PER_THREAD);
  T(cuArrayDestroy(row));
  T(cuArrayDestroy(other));
}

static void check_other_processes(void) {
  CUipcMemHandle handle;
  CUipcEventHandle event_handle;
  CUdeviceptr p = 0;
  CUevent event = NULL;
  memset(&handle, 0, sizeof handle);
  memset(&event_handle, 0, sizeof event_handle);
  printf("device ");
  T(cuIpcOpenMemHandle(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  printf("device ");
  T(cuIpcOpenMemHandle_v2(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  printf("device ");
  T(cuIpcCloseMemHandle(16));
  printf("device ");
  T(cuIpcOpenEventHandle(&event, event_handle));
}

static void check_all_nodes(CUstream stream, CUdeviceptr p, CUfunction scale, void** arguments) {
  check_any_node(stream, p, scale, arguments);
  check_first_forms(stream, p, scale, arguments);
  check_allocations(stream);
  check_first_captures(stream, p);
  check_rows_of_arrays(stream, p);
  check_other_processes();
}

void check_graph_nodes(void) { with_scale(check_all_nodes); }

/* Graphs that allocate. Sizes are whole blocks of the driver's pools, so that footprints do not depend on those. */
enum { kBlock = 64 << 20 };

static void print_footprint(void) {
  cuuint64_t used = 0, reserved = 0;
  T(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  T(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
  NUMBER(used);
  NUMBER(reserved);
}

static CUDA_MEM_ALLOC_NODE_PARAMS wanted_block(void) {
  CUDA_MEM_ALLOC_NODE_PARAMS room;
  memset(&room, 0, sizeof room);
  room.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  room.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  room.bytesize = kBlock;
  return room;
}

/* One that nothing in the graph frees: launched, freed, launched again; freed by the next launch; by another graph. */
static void check_unfreed(CUstream stream) {
  CUgraph graph = NULL, freeing = NULL;
  CUgraphNode node = NULL;
  CUgraphExec exec = NULL, other = NULL;
  CUdeviceptr p = 0;
  unsigned words[2] = {0, 0};
  CUmemorytype type = (CUmemorytype)0;
  T(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  T(cuMemAllocAsync(&p, kBlock, stream));
  T(cuMemsetD32Async(p, 7, kBlock / 4, stream));
  T(cuStreamEndCapture(stream, &graph));
  T(cuGraphInstantiateWithFlags(&exec, graph, 0));
  print_footprint();
  T(cuGraphLaunch(exec, stream));
  T(cuStreamSynchronize(stream));
  T(cuMemcpyDtoH_v2(words, p + kBlock - 4, 4));
  NUMBER(words[0]);
  T(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
  NUMBER(type);
  T(cuGraphLaunch(exec, stream));
  T(cuMemFreeAsync(p, stream));
  T(cuMemFreeAsync(p, stream));
  T(cuGraphLaunch(exec, stream));
  T(cuStreamSynchronize(stream));
  T(cuMemFree_v2(p));
  print_footprint();
  T(cuGraphCreate(&freeing, 0));
  T(cuGraphAddMemFreeNode(&node, freeing, NULL, 0, p));
  T(cuGraphAddMemFreeNode(&node, freeing, NULL, 0, p));
  T(cuGraphAddMemFreeNode(&node, graph, NULL, 0, p));
  T(cuGraphInstantiateWithFlags(&other, freeing, 0));
  T(cuGraphLaunch(exec, stream));
  T(cuGraphLaunch(other, stream));
  T(cuStreamSynchronize(stream));
  T(cuGraphLaunch(other, stream));
  T(cuStreamSynchronize(stream));
  T(cuGraphExecDestroy(other));
  T(cuGraphExecDestroy(exec));
  T(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
  T(cuGraphLaunch(exec, stream));
  T(cuGraphLaunch(exec, stream));
  T(cuStreamSynchronize(stream));
  T(cuGraphExecDestroy(exec));
  T(cuGraphDestroy(graph));
  T(cuGraphDestroy(freeing));
  T(cuDeviceGraphMemTrim(0));
  print_footprint();
  T(cuMemcpyDtoH_v2(words, p, 4));
  NUMBER(words[0]);
  T(cuMemFree_v2(p));
  T(cuDeviceGraphMemTrim(0));
  print_footprint();
}

/* Two graphs that free what they allocate, at two addresses, over one block. */
static void check_shared_blocks(CUstream stream) {
  CUgraph graph = NULL;
  CUgraphExec execs[2] = {NULL, NULL};
  CUdeviceptr p[2] = {0, 0};
  size_t before = 0, after = 0, total = 0;
  cuuint64_t high = 0;
  T(cuMemGetInfo_v2(&before, &total));
  for (int i = 0; i < 2; ++i) {
    T(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    T(cuMemAllocAsync(&p[i], kBlock, stream));
    T(cuMemsetD32Async(p[i], 7, 16, stream));
    T(cuMemFreeAsync(p[i], stream));
    T(cuStreamEndCapture(stream, &graph));
    T(cuGraphInstantiateWithFlags(&execs[i], graph, 0));
    T(cuGraphDestroy(graph));
  }
  NUMBER(p[0] != p[1]);
  for (int i = 0; i < 2; ++i) {
    T(cuGraphLaunch(execs[i], stream));
    T(cuStreamSynchronize(stream));
    print_footprint();
  }
  T(cuMemFree_v2(p[0]));
  T(cuMemGetInfo_v2(&after, &total));
  NUMBER(before - after >= kBlock);
  T(cuGraphExecDestroy(execs[0]));
  T(cuGraphExecDestroy(execs[1]));
  T(cuDeviceGraphMemTrim(0));
  print_footprint();
  T(cuMemGetInfo_v2(&after, &total));
  NUMBER(before - after);
  T(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  NUMBER(high);
  T(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  T(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &high));
  high = 0;
  T(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  T(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &high));
  T(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &high));
  NUMBER(high);
  T(cuDeviceGetGraphMemAttribute(0, (CUgraphMem_attribute)9, &high));
}

/* What graphs that allocate may not do. */
static void check_memory_nodes_refused(CUstream stream) {
  CUgraph graph = NULL, other = NULL, child = NULL;
  CUgraphNode made = NULL, again = NULL, empty = NULL, freed = NULL, node = NULL;
  CUgraphExec exec = NULL, second = NULL;
  CUDA_MEM_ALLOC_NODE_PARAMS room = wanted_block();
  CUgraphNodeParams any;
  CUdeviceptr p = 0, plain = 0;
  T(cuGraphCreate(&graph, 0));
  T(cuGraphCreate(&other, 0));
  T(cuGraphAddMemAllocNode(&made, graph, NULL, 0, &room));
  p = room.dptr;
  T(cuGraphAddMemFreeNode(&freed, graph, &made, 1, p));
  T(cuGraphAddMemFreeNode(&node, graph, &made, 1, p));
  T(cuGraphAddMemFreeNode(&node, other, NULL, 0, p));
  T(cuGraphAddMemAllocNode(&again, graph, &freed, 1, &room));
  NUMBER(room.dptr == p);
  T(cuGraphAddMemFreeNode(&freed, graph, &again, 1, room.dptr));
  T(cuGraphAddEmptyNode(&empty, graph, &made, 1));
  T(cuGraphClone(&child, graph));
  T(cuGraphAddChildGraphNode(&node, other, NULL, 0, graph));
  T(cuGraphDestroyNode(made));
  T(cuGraphDestroyNode(empty));
  T(cuGraphRemoveDependencies_v2(graph, &made, &empty, NULL, 1));
  T(cuGraphInstantiateWithFlags(&exec, graph, 0));
  T(cuGraphInstantiateWithFlags(&second, graph, 0));
  T(cuGraphUpload(exec, stream));
  T(cuStreamSynchronize(stream));
  print_footprint();
  T(cuGraphExecDestroy(exec));
  room = wanted_block();
  room.bytesize = 0;
  T(cuGraphAddMemAllocNode(&node, other, NULL, 0, &room));
  room.bytesize = ~(size_t)0;
  T(cuGraphAddMemAllocNode(&node, other, NULL, 0, &room));
  room.bytesize = kBlock;
  room.poolProps.location.id = 99;
  T(cuGraphAddMemAllocNode(&node, other, NULL, 0, &room));
  T(cuMemAlloc_v2(&plain, 4096));
  T(cuGraphAddMemFreeNode(&node, other, NULL, 0, plain));
  T(cuMemFree_v2(plain));
  T(cuGraphAddMemFreeNode(&node, other, NULL, 0, 16));
  T(cuGraphCreate(&child, 0));
  memset(&any, 0, sizeof any);
  any.type = CU_GRAPH_NODE_TYPE_GRAPH;
  any.graph.graph = graph;
  any.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  T(cuGraphAddNode_v2(&node, child, NULL, NULL, 0, &any));
  T(cuGraphInstantiateWithFlags(&exec, child, 0));
  T(cuGraphLaunch(exec, stream));
  T(cuStreamSynchronize(stream));
  T(cuGraphExecDestroy(exec));
  T(cuGraphDestroy(child));
  T(cuGraphDestroy(other));
  T(cuDeviceGraphMemTrim(0));
  print_footprint();
}

void check_graph_memory(void) {
  CUstream stream = NULL;
  T(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  check_unfreed(stream);
  check_shared_blocks(stream);
  check_memory_nodes_refused(stream);
  T(cuStreamDestroy_v2(stream));
}
