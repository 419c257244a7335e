#include "check.h"

/* Attributes of launches, streams, kernel nodes and functions: what each may be, and what becomes of it. */

/* Kernel ranks(int*): for each block its rank, its cluster's size and its cluster's number. pairs is compiled for clusters of two. */
static const char* const kClusterPtx =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
#define BODY                                                                                       \
  "  .reg .u64 %rd<6>; .reg .u32 %r<9>; ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;\n"  \
  "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank;\n"      \
  "  mov.u32 %r4, %clusterid.x; mad.lo.u32 %r5, %r3, 100, %r2; mad.lo.u32 %r6, %r4, 10000, %r5;\n" \
  "  mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r6; ret;\n}\n"
    ".visible .entry ranks(.param .u64 p) {\n" BODY
    ".visible .entry pairs(.param .u64 p) .explicitcluster .reqnctapercluster 2, 1, 1 {\n" BODY;

static CUfunction scale, ranks, pairs;
static CUstream stream, other;
static CUdeviceptr p, q;
static float factor = 2;
static unsigned count = 1024;
static void* arguments[] = {&p, &factor, &count};
static void* others_arguments[] = {&q, &factor, &count};
static CUlaunchAttribute attributes[2];

static CUresult launch(CUfunction function, CUstream where, unsigned blocks, void** given, unsigned number) {
  CUlaunchConfig config;
  memset(&config, 0, sizeof config);
  config.gridDimX = blocks;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 128;
  config.hStream = where;
  config.attrs = attributes;
  config.numAttrs = number;
  return cuLaunchKernelEx(&config, function, given, NULL);
}

static void clear(int id) {
  memset(attributes, 0, sizeof attributes);
  attributes[0].id = (CUlaunchAttributeID)id;
}

/* A launch with an attribute whose value's member has a number. */
#define LAUNCH(ID, member, number)                                                                \
  (clear(ID), attributes[0].value.member = (number), printf("launch with " #ID " " #number ": "), \
   printf("%s\n", name_of(launch(scale, stream, 8, arguments, 1))))

/* A member's number set and asked for: of the stream, of a node, of a function. */
#define STREAM(ID, member, number)                                                                           \
  (clear(ID), attributes[0].value.member = (number), printf("stream's " #ID " " #number ": "),               \
   printf("%s\n", name_of(cuStreamSetAttribute(stream, attributes[0].id, &attributes[0].value))), clear(ID), \
   printf("  %s ", name_of(cuStreamGetAttribute(stream, attributes[0].id, &attributes[0].value))),           \
   printf("%lld\n", (long long)attributes[0].value.member))
#define NODE(ID, member, number)                                                                          \
  (clear(ID), attributes[0].value.member = (number), printf("node's " #ID " " #number ": "),              \
   printf("%s\n", name_of(cuGraphKernelNodeSetAttribute(node, attributes[0].id, &attributes[0].value))),  \
   clear(ID),                                                                                             \
   printf("  %s ", name_of(cuGraphKernelNodeGetAttribute(node, attributes[0].id, &attributes[0].value))), \
   printf("%lld\n", (long long)attributes[0].value.member))
#define FUNCTION(ID, number)                                                                       \
  (printf("function's " #ID " " #number ": %s\n", name_of(cuFuncSetAttribute(scale, ID, number))), \
   value = 99, printf("  %s ", name_of(cuFuncGetAttribute(&value, ID, scale))), printf("%d\n", value))

static float value_at(CUdeviceptr where) {
  float value = 0;
  cuCtxSynchronize();
  cuMemcpyDtoH_v2(&value, where + 400, 4);
  return value;
}

static void check_numbers(void) {
  LAUNCH(200, priority, 0);
  LAUNCH(15, priority, 0);
  LAUNCH(-1, priority, 0);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_IGNORE, priority, 77);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, syncPolicy, CU_SYNC_POLICY_SPIN);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, cooperative, 1);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, cooperative, 5);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, programmaticStreamSerializationAllowed, 1);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, programmaticStreamSerializationAllowed, 5);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, sharedMemCarveout, 0);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, sharedMemCarveout, 100);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, sharedMemCarveout, 101);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, sharedMemCarveout, 500);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, sharedMemCarveout, (unsigned)-1);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PRIORITY, priority, -5);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PRIORITY, priority, -100);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PRIORITY, priority, 7);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, memSyncDomain, (CUlaunchMemSyncDomain)2);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, memSyncDomainMap.remote, 3);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, memSyncDomainMap.remote, 4);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, memSyncDomainMap.default_, 255);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, nvlinkUtilCentricScheduling, 1);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, nvlinkUtilCentricScheduling, 2);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, clusterSchedulingPolicyPreference,
         CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, clusterSchedulingPolicyPreference,
         (CUclusterSchedulingPolicy)3);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, deviceUpdatableKernelNode.deviceUpdatable, 0);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, deviceUpdatableKernelNode.deviceUpdatable, 1);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, deviceUpdatableKernelNode.deviceUpdatable, 2);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, accessPolicyWindow.num_bytes, 0);
  T(cuStreamSynchronize(stream));
}

/* A window that is well, and one thing at a time that is not. */
static void check_window(void) {
  for (int wrong = 0; wrong < 6; ++wrong) {
    clear(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
    CUaccessPolicyWindow* window = &attributes[0].value.accessPolicyWindow;
    window->base_ptr = (void*)p;
    window->num_bytes = wrong == 1 ? (size_t)1 << 40 : 4096;
    window->hitRatio = wrong == 2 ? 1.5f : wrong == 3 ? -0.5f : 0.5f;
    window->hitProp = wrong == 4 ? (CUaccessProperty)3 : CU_ACCESS_PROPERTY_PERSISTING;
    window->missProp = wrong == 5 ? CU_ACCESS_PROPERTY_PERSISTING : CU_ACCESS_PROPERTY_STREAMING;
    printf("window %d: launch %s", wrong, name_of(launch(scale, stream, 8, arguments, 1)));
    printf(", stream %s\n", name_of(cuStreamSetAttribute(stream, attributes[0].id, &attributes[0].value)));
  }
}

static void cluster_of(int at, int id, unsigned x, unsigned y, unsigned z) {
  attributes[at].id = (CUlaunchAttributeID)id;
  attributes[at].value.clusterDim.x = x;
  attributes[at].value.clusterDim.y = y;
  attributes[at].value.clusterDim.z = z;
}

/* What the blocks say of their clusters. */
static void print_ranks(const char* before) {
  int seen[4] = {0, 0, 0, 0};
  cuCtxSynchronize();
  cuMemcpyDtoH_v2(seen, p, sizeof seen);
  printf("%s%d %d %d %d\n", before, seen[0], seen[1], seen[2], seen[3]);
}

static void with_clusters(CUfunction function, const char* name, unsigned blocks, unsigned x, unsigned y) {
  clear(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  cluster_of(0, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, x, y, 1);
  printf("%s, %u blocks in clusters of %u x %u: ", name, blocks, x, y);
  printf("%s\n", name_of(launch(function, stream, blocks, arguments, 1)));
  print_ranks("  ");
}

static void check_clusters(void) {
  T(cuMemsetD8_v2(p, 0, 4096));
  with_clusters(ranks, "ranks", 16, 1, 1);
  with_clusters(ranks, "ranks", 16, 2, 1);
  with_clusters(ranks, "ranks", 16, 8, 1);
  with_clusters(ranks, "ranks", 16, 3, 1);
  with_clusters(ranks, "ranks", 16, 0, 1);
  with_clusters(ranks, "ranks", 16, 1, 2);
  with_clusters(ranks, "ranks", 16, 16, 1);
  T(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  with_clusters(ranks, "ranks", 16, 16, 1);
  with_clusters(ranks, "ranks", 32, 32, 1);
  T(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0));
  T(cuLaunchKernel(ranks, 16, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  print_ranks("  ");
  T(cuLaunchKernel(pairs, 16, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  print_ranks("  ");
  T(cuLaunchKernel(pairs, 15, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  with_clusters(pairs, "pairs", 16, 2, 1);
  with_clusters(pairs, "pairs", 16, 4, 1);
  T(cuFuncSetAttribute(pairs, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
  T(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, -1));
  T(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
  T(cuLaunchKernel(ranks, 16, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  T(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
  T(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
  T(cuLaunchKernel(ranks, 16, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  print_ranks("  ");
  T(cuLaunchKernel(ranks, 18, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  with_clusters(ranks, "ranks that need four", 16, 2, 1);
  T(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 0));
  T(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 0));
  T(cuFuncSetAttribute(ranks, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 0));
}

static void check_preferred_clusters(void) {
  static const unsigned asked[][4] = {{0, 4, 1, 1}, {2, 4, 1, 1}, {2, 2, 1, 1}, {2, 3, 1, 1},
                                      {2, 0, 1, 1}, {2, 2, 1, 2}, {4, 2, 1, 1}, {2, 6, 1, 1}};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; ++i) {
    const unsigned* a = asked[i];
    clear(CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION);
    cluster_of(0, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, a[1], a[2], a[3]);
    cluster_of(1, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, a[0], 1, 1);
    printf("clusters of %u, preferred %u x %u x %u: ", a[0], a[1], a[2], a[3]);
    printf("%s\n", name_of(launch(ranks, stream, 16, arguments, a[0] == 0 ? 1 : 2)));
    print_ranks("device ranks ");
  }
}

static void event_of(int id, CUevent event, int flags, int at_start) {
  clear(id);
  if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
    attributes[0].value.programmaticEvent.event = event;
    attributes[0].value.programmaticEvent.flags = flags;
    attributes[0].value.programmaticEvent.triggerAtBlockStart = at_start;
  } else {
    attributes[0].value.launchCompletionEvent.event = event;
    attributes[0].value.launchCompletionEvent.flags = flags;
  }
}

static void print_edges(CUgraph graph) {
  CUgraphNode from[8], to[8];
  CUgraphEdgeData edges[8];
  size_t number = 8;
  T(cuGraphGetEdges(graph, from, to, &number));
  number = 8;
  memset(edges, 9, sizeof edges);
  T(cuGraphGetEdges_v2(graph, from, to, edges, &number));
  for (size_t i = 0; i < number; ++i)
    printf("  edge from port %d to %d of type %d\n", edges[i].from_port, edges[i].to_port, edges[i].type);
}

/* Two streams in a capture, forked by an event that a launch records. */
static void check_fork(int id, CUevent event, CUevent joined, int at_start) {
  CUgraph graph = NULL, own = NULL;
  CUgraphExec exec = NULL;
  CUstreamCaptureStatus status;
  cuuint64_t number = 0;
  const CUgraphNode* needs = NULL;
  const CUgraphEdgeData* edges = NULL;
  size_t needed = 9;
  T(cuMemsetD32_v2(p, 0x3f800000, 1024));
  T(cuMemsetD32_v2(q, 0x40400000, 1024));
  T(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  event_of(id, event, 0, at_start);
  T(launch(scale, stream, 8, arguments, 1));
  T(cuStreamWaitEvent(other, event, 0));
  T(cuStreamGetCaptureInfo_v2(other, &status, &number, &own, &needs, &needed));
  needed = 0;
  T(cuStreamGetCaptureInfo_v3(other, &status, &number, &own, &needs, &edges, &needed));
  NUMBER(needed);
  if (needed == 1 && edges != NULL) printf("  from port %d, type %d\n", edges->from_port, edges->type);
  T(launch(scale, other, 8, others_arguments, 0));
  T(cuEventRecord(joined, other));
  T(cuStreamWaitEvent(stream, joined, 0));
  T(cuStreamEndCapture(stream, &graph));
  if (graph == NULL) return;
  print_edges(graph);
  T(cuGraphInstantiateWithFlags(&exec, graph, 0));
  T(cuGraphLaunch(exec, stream));
  T(cuStreamSynchronize(stream));
  printf("  %g %g\n", value_at(p), value_at(q));
  T(cuGraphExecDestroy(exec));
  T(cuGraphDestroy(graph));
}

static void check_launch_events(void) {
  CUevent plain = NULL, timed = NULL, shared = NULL, joined = NULL;
  CUgraph graph = NULL;
  T(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
  T(cuEventCreate(&timed, CU_EVENT_DEFAULT));
  T(cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  T(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
  for (int i = 0; i < 2; ++i) {
    const int id =
        i == 0 ? CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT : CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    event_of(id, NULL, 0, 0);
    T(launch(scale, stream, 8, arguments, 1));
    event_of(id, timed, 0, 0);
    T(launch(scale, stream, 8, arguments, 1));
    event_of(id, shared, 0, 0);
    T(launch(scale, stream, 8, arguments, 1));
    event_of(id, plain, CU_EVENT_RECORD_EXTERNAL, 0);
    T(launch(scale, stream, 8, arguments, 1));
    event_of(id, plain, 0, 0);
    T(launch(scale, stream, 8, arguments, 1));
    T(cuStreamWaitEvent(other, plain, 0));
    T(cuStreamSynchronize(other));
    T(cuEventSynchronize(plain));
    T(cuEventQuery(plain));
    check_fork(id, plain, joined, 0);
  }
  check_fork(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, plain, joined, 1);
  T(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  T(launch(scale, stream, 8, arguments, 0));
  LAUNCH(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, programmaticStreamSerializationAllowed, 1);
  T(cuStreamEndCapture(stream, &graph));
  print_edges(graph);
  T(cuGraphDestroy(graph));
  T(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  LAUNCH(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, deviceUpdatableKernelNode.deviceUpdatable, 0);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, deviceUpdatableKernelNode.deviceUpdatable, 2);
  LAUNCH(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, deviceUpdatableKernelNode.deviceUpdatable, 1);
  T(cuStreamEndCapture(stream, &graph));
  T(cuEventDestroy_v2(plain));
  T(cuEventDestroy_v2(timed));
  T(cuEventDestroy_v2(shared));
  T(cuEventDestroy_v2(joined));
}

static void check_streams_attributes(void) {
  STREAM(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, syncPolicy, CU_SYNC_POLICY_BLOCKING_SYNC);
  STREAM(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, syncPolicy, (CUsynchronizationPolicy)5);
  STREAM(CU_LAUNCH_ATTRIBUTE_PRIORITY, priority, -3);
  STREAM(CU_LAUNCH_ATTRIBUTE_PRIORITY, priority, -9);
  STREAM(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, memSyncDomainMap.remote, 2);
  STREAM(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, memSyncDomainMap.remote, 77);
  STREAM(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
  STREAM(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, memSyncDomain, (CUlaunchMemSyncDomain)2);
  STREAM(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, nvlinkUtilCentricScheduling, 1);
  STREAM(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, nvlinkUtilCentricScheduling, 2);
  STREAM(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, accessPolicyWindow.num_bytes, 0);
  STREAM(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, cooperative, 1);
  STREAM(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, sharedMemCarveout, 50);
  STREAM(200, priority, 1);
  clear(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
  T(cuStreamGetAttribute(other, attributes[0].id, &attributes[0].value));
  NUMBER(attributes[0].value.memSyncDomainMap.default_);
  NUMBER(attributes[0].value.memSyncDomainMap.remote);
  clear(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
  T(cuStreamGetAttribute(other, attributes[0].id, &attributes[0].value));
  NUMBER(attributes[0].value.syncPolicy);
}

static void check_nodes_attributes(void) {
  CUgraph graph = NULL;
  CUgraphNode node = NULL;
  CUDA_KERNEL_NODE_PARAMS_v2 given;
  memset(&given, 0, sizeof given);
  given.func = scale;
  given.gridDimX = 8;
  given.blockDimX = 128;
  given.gridDimY = given.gridDimZ = given.blockDimY = given.blockDimZ = 1;
  given.kernelParams = arguments;
  T(cuGraphCreate(&graph, 0));
  T(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &given));
  NODE(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, cooperative, 1);
  NODE(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, cooperative, 0);
  NODE(CU_LAUNCH_ATTRIBUTE_PRIORITY, priority, -2);
  NODE(CU_LAUNCH_ATTRIBUTE_PRIORITY, priority, -9);
  NODE(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, memSyncDomainMap.remote, 2);
  NODE(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, memSyncDomainMap.remote, 77);
  NODE(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
  NODE(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, memSyncDomain, (CUlaunchMemSyncDomain)2);
  NODE(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, clusterSchedulingPolicyPreference,
       CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
  NODE(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, clusterSchedulingPolicyPreference,
       (CUclusterSchedulingPolicy)3);
  NODE(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, sharedMemCarveout, 50);
  NODE(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, sharedMemCarveout, 500);
  NODE(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, nvlinkUtilCentricScheduling, 1);
  NODE(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, nvlinkUtilCentricScheduling, 2);
  NODE(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, accessPolicyWindow.num_bytes, 0);
  NODE(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, syncPolicy, CU_SYNC_POLICY_SPIN);
  NODE(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, programmaticStreamSerializationAllowed, 1);
  NODE(200, priority, 1);
  clear(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  cluster_of(0, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 3, 1, 1);
  T(cuGraphKernelNodeSetAttribute(node, attributes[0].id, &attributes[0].value));
  cluster_of(0, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 2, 1, 1);
  T(cuGraphKernelNodeSetAttribute(node, attributes[0].id, &attributes[0].value));
  clear(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  T(cuGraphKernelNodeGetAttribute(node, attributes[0].id, &attributes[0].value));
  NUMBER(attributes[0].value.clusterDim.x);
  T(cuGraphDestroy(graph));
}

static void check_functions_attributes(void) {
  int value = 0;
  FUNCTION(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50);
  FUNCTION(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101);
  FUNCTION(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -1);
  FUNCTION(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -2);
  FUNCTION(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 1);
  FUNCTION(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 0);
  FUNCTION(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  FUNCTION(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0);
  FUNCTION(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 2);
  FUNCTION(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 2);
  FUNCTION(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 3);
  T(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 40, (CUkernel)NULL, 0));
}

void check_launch_attributes(void) {
  CUmodule module = NULL, clusters = NULL;
  T(cuModuleLoadData(&module, kPtx));
  T(cuModuleGetFunction(&scale, module, "scale"));
  T(cuModuleLoadData(&clusters, kClusterPtx));
  if (clusters != NULL) {
    T(cuModuleGetFunction(&ranks, clusters, "ranks"));
    T(cuModuleGetFunction(&pairs, clusters, "pairs"));
  }
  T(cuMemAlloc_v2(&p, 4096));
  T(cuMemAlloc_v2(&q, 4096));
  T(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  T(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  check_numbers();
  check_window();
  if (clusters != NULL) check_clusters();
  if (clusters != NULL) check_preferred_clusters();
  check_launch_events();
  check_streams_attributes();
  check_nodes_attributes();
  check_functions_attributes();
  T(cuStreamDestroy_v2(stream));
  T(cuStreamDestroy_v2(other));
  T(cuMemFree_v2(p));
  T(cuMemFree_v2(q));
  if (clusters != NULL) T(cuModuleUnload(clusters));
  T(cuModuleUnload(module));
}
