#include "check.h"

static int called;
static void CUDA_CB count_call(void* data) { called += *(int*)data; }
static void CUDA_CB destroyed(void* data) { called += 100 * *(int*)data; }

static unsigned word_of(CUdeviceptr p) {
  unsigned value = 0;
  cuCtxSynchronize();
  cuMemcpyDtoH_v2(&value, p, 4);
  return value;
}

static void check_capture(CUstream stream, CUdeviceptr p, CUfunction scale, void** arguments) {
  CUgraph graph = NULL, own = NULL;
  CUgraphExec exec = NULL;
  CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
  cuuint64_t id = 0;
  const CUgraphNode* needs = NULL;
  size_t count = 9;
  T(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  T(cuStreamIsCapturing(stream, &status));
  NUMBER(status);
  T(cuMemsetD32Async(p, 0x3f800000, 1024, stream));
  T(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  PTSZ(cuStreamGetCaptureInfo_v2, stream, &status, &id, &own, &needs, &count);
  NUMBER(count);
  T(cuStreamGetCaptureInfo_v3(stream, &status, &id, &own, &needs, NULL, &count));
  T(cuStreamUpdateCaptureDependencies_v2(stream, (CUgraphNode*)(size_t)needs, NULL, count,
                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  T(cuStreamSynchronize(stream));
  T(cuStreamEndCapture(stream, &graph));
  T(cuStreamBeginCapture_v2_ptsz(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  T(cuMemsetD32Async(p, 0x3f800000, 1024, stream));
  T(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  T(cuStreamGetCaptureInfo_v3_ptsz(stream, &status, &id, &own, &needs, NULL, &count));
  T(cuStreamUpdateCaptureDependencies_v2_ptsz(stream, NULL, NULL, 0, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  T(cuStreamEndCapture_ptsz(stream, &graph));
  T(cuGraphInstantiateWithFlags(&exec, graph, 0));
  PTSZ(cuGraphUpload, exec, stream);
  T(cuGraphLaunch(exec, stream));
  printf("  %x\n", word_of(p));
  T(cuGraphExecDestroy(exec));
  T(cuGraphDestroy(graph));
  T(cuGraphCreate(&graph, 0));
  T(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
  T(cuMemsetD8Async(p, 0, 64, stream));
  T(cuStreamEndCapture(stream, &own));
  NUMBER(own == graph);
  T(cuStreamBeginCaptureToGraph_ptsz(stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
  T(cuMemsetD8Async(p, 0, 64, stream));
  T(cuStreamEndCapture(stream, &own));
  T(cuGraphDestroy(graph));
}

static void check_questions(CUgraph graph, CUgraphNode node, CUgraphNode kernel) {
  CUgraphNode nodes[16], from[16], to[16], twin = NULL;
  CUgraphEdgeData edges[16];
  CUgraph clone = NULL;
  CUgraphNodeType type = (CUgraphNodeType)99;
  size_t count = 16;
  T(cuGraphGetNodes(graph, nodes, &count));
  NUMBER(count);
  count = 16;
  T(cuGraphGetRootNodes(graph, nodes, &count));
  NUMBER(count);
  count = 16;
  T(cuGraphGetEdges(graph, from, to, &count));
  NUMBER(count);
  count = 16;
  T(cuGraphGetEdges_v2(graph, from, to, edges, &count));
  count = 16;
  T(cuGraphNodeGetDependencies(kernel, nodes, &count));
  NUMBER(count);
  count = 16;
  T(cuGraphNodeGetDependencies_v2(kernel, nodes, edges, &count));
  count = 16;
  T(cuGraphNodeGetDependentNodes(node, nodes, &count));
  NUMBER(count);
  count = 16;
  T(cuGraphNodeGetDependentNodes_v2(node, nodes, edges, &count));
  T(cuGraphRemoveDependencies(graph, &node, &kernel, 1));
  T(cuGraphAddDependencies(graph, &node, &kernel, 1));
  T(cuGraphRemoveDependencies_v2(graph, &node, &kernel, NULL, 1));
  T(cuGraphAddDependencies_v2(graph, &node, &kernel, NULL, 1));
  T(cuGraphNodeGetType(kernel, &type));
  NUMBER(type);
  T(cuGraphClone(&clone, graph));
  T(cuGraphNodeFindInClone(&twin, kernel, clone));
  T(cuGraphDestroyNode(twin));
  T(cuGraphDestroy(clone));
  T(cuGraphDebugDotPrint(graph, "check.dot", 0));
  remove("check.dot");
}

static void check_instances(CUgraph graph, CUgraphNode kernel, CUstream stream) {
  CUgraphExec exec = NULL, other = NULL;
  CUDA_GRAPH_INSTANTIATE_PARAMS how;
  CUgraphExecUpdateResultInfo info;
  cuuint64_t flags = 9;
  unsigned on = 9;
  char log[64];
  CUgraphNode failed = NULL;
  T(cuGraphInstantiate(&exec, graph, &failed, log, sizeof log));
  T(cuGraphExecDestroy(exec));
  T(cuGraphInstantiate_v2(&exec, graph, &failed, log, sizeof log));
  memset(&how, 0, sizeof how);
  PTSZ(cuGraphInstantiateWithParams, &other, graph, &how);
  NUMBER(how.result_out);
  T(cuGraphExecGetFlags(exec, &flags));
  NUMBER(flags);
  T(cuGraphNodeSetEnabled(exec, kernel, 0));
  T(cuGraphNodeGetEnabled(exec, kernel, &on));
  NUMBER(on);
  T(cuGraphNodeSetEnabled(exec, kernel, 1));
  T(cuGraphExecUpdate_v2(exec, graph, &info));
  NUMBER(info.result);
  PTSZ(cuGraphLaunch, exec, stream);
  T(cuStreamSynchronize(stream));
  T(cuGraphExecDestroy(exec));
  T(cuGraphExecDestroy(other));
}

static void check_nodes(CUstream stream, CUdeviceptr p, CUfunction scale, void** arguments) {
  CUgraph graph = NULL, child = NULL, held = NULL;
  CUgraphNode fill = NULL, kernel = NULL, copy = NULL, host = NULL, empty = NULL, inside = NULL,
              record = NULL, wait = NULL;
  CUDA_KERNEL_NODE_PARAMS_v2 launch;
  CUDA_MEMSET_NODE_PARAMS fill_params;
  CUDA_MEMCPY3D copy_params;
  CUDA_HOST_NODE_PARAMS host_params;
  CUgraphExec exec = NULL;
  CUevent event = NULL;
  CUcontext context = NULL;
  CUuserObject object = NULL;
  static unsigned result[4];
  int add = 2;
  T(cuCtxGetCurrent(&context));
  memset(&launch, 0, sizeof launch);
  launch.func = scale;
  launch.gridDimX = 8;
  launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
  launch.blockDimX = 128;
  launch.kernelParams = arguments;
  memset(&fill_params, 0, sizeof fill_params);
  fill_params.dst = p;
  fill_params.elementSize = 4;
  fill_params.value = 0x40000000;
  fill_params.width = 1024;
  fill_params.height = 1;
  memset(&copy_params, 0, sizeof copy_params);
  copy_params.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy_params.srcDevice = p;
  copy_params.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy_params.dstHost = result;
  copy_params.WidthInBytes = 16;
  copy_params.Height = copy_params.Depth = 1;
  memset(&host_params, 0, sizeof host_params);
  host_params.fn = count_call;
  host_params.userData = &add;
  T(cuGraphCreate(&graph, 0));
  T(cuGraphCreate(&child, 0));
  T(cuEventCreate(&event, 0));
  T(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_params, context));
  T(cuGraphMemsetNodeSetParams(fill, &fill_params));
  T(cuGraphAddKernelNode_v2(&kernel, graph, &fill, 1, &launch));
  T(cuGraphKernelNodeSetParams_v2(kernel, &launch));
  memset(&launch, 0, sizeof launch);
  T(cuGraphKernelNodeGetParams_v2(kernel, &launch));
  NUMBER(launch.gridDimX);
  NUMBER(launch.blockDimX);
  launch.kernelParams = arguments;
  launch.extra = NULL;
  T(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &copy_params, context));
  T(cuGraphMemcpyNodeSetParams(copy, &copy_params));
  T(cuGraphAddHostNode(&host, graph, &copy, 1, &host_params));
  T(cuGraphHostNodeSetParams(host, &host_params));
  T(cuGraphAddEmptyNode(&empty, child, NULL, 0));
  T(cuGraphAddChildGraphNode(&inside, graph, &host, 1, child));
  T(cuGraphChildGraphNodeGetGraph(inside, &held));
  T(cuGraphAddEventRecordNode(&record, graph, &inside, 1, event));
  T(cuGraphAddEventWaitNode(&wait, graph, &record, 1, event));
  T(cuGraphInstantiateWithFlags(&exec, graph, 0));
  T(cuGraphExecKernelNodeSetParams_v2(exec, kernel, &launch));
  T(cuGraphExecMemcpyNodeSetParams(exec, copy, &copy_params, context));
  T(cuGraphExecMemsetNodeSetParams(exec, fill, &fill_params, context));
  T(cuGraphLaunch(exec, stream));
  T(cuStreamSynchronize(stream));
  printf("  %x\n", result[1]);
  NUMBER(called);
  T(cuGraphExecDestroy(exec));
  check_questions(graph, fill, kernel);
  check_instances(graph, kernel, stream);
  T(cuUserObjectCreate(&object, &add, destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  T(cuUserObjectRetain(object, 1));
  T(cuUserObjectRelease(object, 1));
  T(cuGraphRetainUserObject(graph, object, 1, 0));
  T(cuGraphReleaseUserObject(graph, object, 1));
  T(cuUserObjectRelease(object, 1));
  T(cuGraphDestroy(child));
  T(cuGraphDestroy(graph));
  T(cuEventDestroy_v2(event));
}

static void check_all(CUstream stream, CUdeviceptr p, CUfunction scale, void** arguments) {
  check_capture(stream, p, scale, arguments);
  check_nodes(stream, p, scale, arguments);
}

void check_graphs(void) { with_scale(check_all); }
