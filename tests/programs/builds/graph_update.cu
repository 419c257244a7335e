// A solver step as a graph: captured anew and put into the instance, nodes changed one by one, clones, child graphs, events, host nodes,
// a conditional loop, a picture for Graphviz.
#include <cuda_runtime.h>
#include <unistd.h>
#include "check.h"
__global__ void axpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__global__ void halve(float* y, cudaGraphConditionalHandle again) {
  y[threadIdx.x] *= 0.5f;
  if (threadIdx.x == 0) cudaGraphSetConditional(again, y[0] > 1);
}
static void CUDART_CB count(void* p) { ++*(int*)p; }
int main() {
  const int n = 256;
  float *x, *y;
  int called = 0;
  CHECK(cudaMallocManaged(&x, n * 4));
  CHECK(cudaMallocManaged(&y, n * 4));
  for (int i = 0; i < n; ++i) x[i] = i, y[i] = 0;
  cudaStream_t s, t;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamCreate(&t));
  cudaEvent_t fork, join;
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  cudaGraphExec_t exec = nullptr;
  for (int round = 0; round < 4; ++round) {
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(s, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(t, fork));
    CHECK(cudaLaunchHostFunc(t, count, &called));
    axpy<<<1, n, 0, s>>>(y, x, round, n);
    CHECK(cudaEventRecord(join, t));
    CHECK(cudaStreamWaitEvent(s, join));
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(s, &graph));
    if (exec == nullptr) {
      CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    } else {
      cudaGraphExecUpdateResultInfo info;
      CHECK(cudaGraphExecUpdate(exec, graph, &info));
      EXPECT(info.result == cudaGraphExecUpdateSuccess);
    }
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphLaunch(exec, s));
  }
  CHECK(cudaStreamSynchronize(s));
  EXPECT(called == 4);
  for (int i = 0; i < n; ++i) EXPECT(y[i] == 6 * i);
  // By hand: a kernel in a child graph, cloned, with other parameters in the instance.
  cudaGraph_t inner, outer, clone;
  CHECK(cudaGraphCreate(&inner, 0));
  float a = 1;
  int m = n;
  void* arguments[] = {&y, &x, &a, &m};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)axpy, kernel.gridDim = 1, kernel.blockDim = n, kernel.kernelParams = arguments;
  cudaGraphNode_t node, child, set;
  CHECK(cudaGraphAddKernelNode(&node, inner, nullptr, 0, &kernel));
  CHECK(cudaGraphCreate(&outer, 0));
  cudaMemsetParams zero = {};
  zero.dst = y, zero.elementSize = 4, zero.width = n, zero.height = 1;
  CHECK(cudaGraphAddMemsetNode(&set, outer, nullptr, 0, &zero));
  CHECK(cudaGraphAddChildGraphNode(&child, outer, &set, 1, inner));
  CHECK(cudaGraphClone(&clone, outer));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(clone, nullptr, &nodes));
  EXPECT(nodes == 2);
  cudaGraphNode_t found;
  CHECK(cudaGraphNodeFindInClone(&found, set, clone));
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(found, &type));
  EXPECT(type == cudaGraphNodeTypeMemset);
  cudaGraphExec_t other;
  CHECK(cudaGraphInstantiateWithFlags(&other, clone, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  CHECK(cudaGraphUpload(other, s));
  CHECK(cudaGraphLaunch(other, s));
  CHECK(cudaStreamSynchronize(s));
  for (int i = 0; i < n; ++i) EXPECT(y[i] == i);
  CHECK(cudaGraphDebugDotPrint(outer, "graph.dot", cudaGraphDebugDotFlagsVerbose));
  EXPECT(access("graph.dot", R_OK) == 0);
  // while (y[0] > 1) y /= 2
  cudaGraph_t loop;
  CHECK(cudaGraphCreate(&loop, 0));
  cudaGraphConditionalHandle again;
  CHECK(cudaGraphConditionalHandleCreate(&again, loop, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams condition = {cudaGraphNodeTypeConditional};
  condition.conditional.handle = again;
  condition.conditional.type = cudaGraphCondTypeWhile;
  condition.conditional.size = 1;
  CHECK(cudaGraphAddNode(&node, loop, nullptr, nullptr, 0, &condition));
  void* halves[] = {&y, &again};
  kernel.func = (void*)halve, kernel.kernelParams = halves;
  CHECK(cudaGraphAddKernelNode(&child, condition.conditional.phGraph_out[0], nullptr, 0, &kernel));
  for (int i = 0; i < n; ++i) y[i] = 1000;
  cudaGraphExec_t loops;
  CHECK(cudaGraphInstantiate(&loops, loop, 0));
  CHECK(cudaGraphLaunch(loops, s));
  CHECK(cudaStreamSynchronize(s));
  EXPECT(y[5] == 1000.f / 1024);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(loop));
  puts("ok");
}
