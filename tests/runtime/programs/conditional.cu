// Conditional nodes of a graph: WHILE, IF with ELSE, SWITCH, one inside another, launched twice.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "../../programs/expect.h"

__global__ void count_down(int* left, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, --*left > 0);
}
__global__ void set(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, *value);
}
__global__ void add(int* sum, int value) { atomicAdd(sum, value); }

/// A conditional node behind `after`; its bodies' handles are in the parameters.
cudaGraphNode_t conditional(cudaGraph_t graph, cudaGraphNode_t after, cudaGraphConditionalHandle handle,
                            cudaGraphConditionalNodeType type, unsigned size, cudaGraphNodeParams& p) {
  p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  cudaGraphNode_t node;
  OK(cudaGraphAddNode(&node, graph, after == nullptr ? nullptr : &after, nullptr, after == nullptr ? 0 : 1,
                      &p));
  return node;
}

template <class... Values>
cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, const void* function, int blocks,
                       Values... values) {
  void* arguments[] = {&values...};
  cudaKernelNodeParams p = {};
  p.func = const_cast<void*>(function);
  p.gridDim = blocks;
  p.blockDim = 1;
  p.kernelParams = arguments;
  cudaGraphNode_t node;
  OK(cudaGraphAddKernelNode(&node, graph, after == nullptr ? nullptr : &after, after == nullptr ? 0 : 1, &p));
  return node;
}

/// A switch behind a captured kernel, as cuda.core adds one: what the stream depends on is asked for with its edges' data, which are
/// there for ordinary edges, too.
void check_captured(const int* choice, int* sum) {
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  cudaStreamCaptureStatus status;
  cudaGraph_t graph;
  const cudaGraphNode_t* needs = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 0;
  OK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr));
  cudaGraphConditionalHandle handle;
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
  set<<<1, 1, 0, stream>>>(handle, choice);
  OK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &needs, &edges, &count));
  EXPECT(count == 1 && needs != nullptr && edges != nullptr);
  EXPECT(edges[0].from_port == 0 && edges[0].to_port == 0 && edges[0].type == cudaGraphDependencyTypeDefault);
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeSwitch;
  p.conditional.size = 2;
  cudaGraphNode_t node;
  OK(cudaGraphAddNode(&node, graph, needs, edges, count, &p));
  for (int i = 0; i < 2; ++i) kernel(p.conditional.phGraph_out[i], nullptr, (const void*)add, 1, sum, i + 1);
  OK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t instance;
  OK(cudaGraphInstantiate(&instance, graph, 0));
  OK(cudaGraphLaunch(instance, stream));
  OK(cudaStreamSynchronize(stream));
}

int main() {
  int *left, *sum, *choice;
  OK(cudaMallocManaged(&left, 4));
  OK(cudaMallocManaged(&sum, 4));
  OK(cudaMallocManaged(&choice, 4));
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle loop, branch, which;
  OK(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
  OK(cudaGraphConditionalHandleCreate(&branch, graph, 0, 0));
  OK(cudaGraphConditionalHandleCreate(&which, graph, 0, 0));
  cudaGraphNodeParams p = {};
  // While there is something left: 4, and 100 or 1,000.
  const cudaGraphNode_t loop_node = conditional(graph, nullptr, loop, cudaGraphCondTypeWhile, 1, p);
  EXPECT(p.conditional.phGraph_out != nullptr);
  const cudaGraph_t body = p.conditional.phGraph_out[0];
  cudaGraphNode_t last = kernel(body, nullptr, (const void*)add, 4, sum, 1);
  last = kernel(body, last, (const void*)set, 1, branch, (const int*)choice);
  last = conditional(body, last, branch, cudaGraphCondTypeIf, 2, p);
  kernel(p.conditional.phGraph_out[0], nullptr, (const void*)add, 1, sum, 100);
  kernel(p.conditional.phGraph_out[1], nullptr, (const void*)add, 1, sum, 1000);
  kernel(body, last, (const void*)count_down, 1, left, loop);
  // Then one of three.
  last = kernel(graph, loop_node, (const void*)set, 1, which, (const int*)choice);
  last = conditional(graph, last, which, cudaGraphCondTypeSwitch, 3, p);
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  for (int i = 0; i < 3; ++i) {
    OK(cudaStreamBeginCaptureToGraph(stream, p.conditional.phGraph_out[i], nullptr, nullptr, 0,
                                     cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(sum, 10000 * (i + 1));
    OK(cudaStreamEndCapture(stream, nullptr));
  }
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(last, &type));
  EXPECT(type == cudaGraphNodeTypeConditional);
  cudaGraphExec_t instance;
  OK(cudaGraphInstantiate(&instance, graph, 0));
  for (const int value : {2, 0, 7}) {
    *left = 5;
    *sum = 0;
    *choice = value;
    OK(cudaGraphLaunch(instance, nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT(*left == 0);
    const int switched = value < 3 ? 10000 * (value + 1) : 0;
    EXPECT(*sum == 5 * (4 + (value != 0 ? 100 : 1000)) + switched);
  }
  OK(cudaGraphExecDestroy(instance));
  OK(cudaGraphDestroy(graph));
  *choice = 1;
  *sum = 0;
  check_captured(choice, sum);
  EXPECT(*sum == 2);
  std::puts("conditional: all right");
}
